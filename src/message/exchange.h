// Interface between the message gateway, the thread spawner and the dispatch whose threads use them. Threads are named
// by bits 15:0 of their sr0.0. Only turns that run one after the other exchange messages, never speculative ones.
#pragma once

#include <cstdint>
#include <string_view>

#include "eu/exec/message.h"
#include "eu/thread.h"

namespace halogen::message {

// Registers that a thread has opened for other threads.
struct Gateway {
  bool open = false;
  uint16_t key = 0;
  uint16_t first_B = 0;  // of the register file
  uint16_t size_B = 0;

  bool operator==(const Gateway&) const = default;
};

// A child thread that another thread asks for.
struct ChildRequest {
  uint64_t descriptor = 0;  // from the general state base
  uint32_t first_row = 0;   // of the URB, 32 bytes each
  uint32_t rows = 0;
};

// Mistakes of threads that exchange messages. Each is reported once in a dispatch.
enum class ExchangeMistake : uint8_t {
  opened_twice,
  not_open,
  registers_missing,
  no_thread,
  gateway_closed,
  wrong_key,
  wrong_length,
  unequal_bytes,
  beyond_gateway,
  rows_missing,
  wrong_requester,
  not_ended,
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  struct Party {
    eu::Thread* thread = nullptr;  // null: no such thread is running
    Gateway* gateway = nullptr;
  };
  virtual Party find(uint16_t thread) = 0;
  // Starts a child thread later. `blocked`: no slot is free now.
  virtual eu::SendOutcome spawn(const ChildRequest& request) = 0;
  virtual bool is_child(uint16_t thread) = 0;
  // Counts a message that changed another thread or the sender's gateway.
  virtual void exchanged() = 0;
  virtual void report(ExchangeMistake mistake, const eu::Thread& thread, uint32_t value) = 0;
};

inline uint16_t name_of(const eu::Thread& thread) {
  return static_cast<uint16_t>(thread.state[0]);
}

}  // namespace halogen::message
