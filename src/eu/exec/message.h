// What an EU thread and the shared functions say to each other: a SEND becomes a Message, a MessageTarget answers it.
// The shared functions live in src/message; the EU knows only this page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halogen::eu {

struct Thread;

// One message. Payload and response lie in the thread's own registers: a target reads the payload before it writes any
// of the response, for the two may overlap.
struct Message {
  uint8_t function = 0;               // shared function id
  uint32_t descriptor = 0;            // lengths in 28:20, header present in 19, function control in 18:0
  uint32_t extended = 0;              // extended descriptor without function and end of thread
  std::span<const std::byte> first;   // message registers, or the registers of src0
  std::span<const std::byte> second;  // of a split send: the message goes on here
  std::span<std::byte> response;      // response length registers; empty when none is asked for
  uint32_t channels = 0;              // bit i: lane i of the message is enabled (masks and predicate are worked in)
  uint8_t first_channel = 0;          // channel of the thread that lane 0 is
  uint8_t exec_size = 0;
  bool end_of_thread = false;
};

enum class SendOutcome : uint8_t {
  done,     // the response, if any, is there
  blocked,  // not now: run other threads, then send the same message again
  fault     // memory refused; the thread stops and its engine hears of it
};

class MessageTarget {
 public:
  virtual ~MessageTarget() = default;
  virtual SendOutcome send(Thread& thread, const Message& message) = 0;
};

}  // namespace halogen::eu
