// The interface between an EU thread and the shared functions: a SEND becomes a Message, and a MessageTarget handles
// it. The shared functions are in src/message; the EU depends on this interface only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halogen::eu {

struct Thread;

// One message. Payload and response are in the thread's registers and may overlap, so a target reads the whole payload
// before it writes any of the response.
struct Message {
  uint8_t function = 0;               // shared function id
  uint32_t descriptor = 0;            // lengths in 28:20, header present in 19, function control in 18:0
  uint32_t extended = 0;              // extended descriptor without function and end of thread
  std::span<const std::byte> first;   // message registers, or the registers of src0
  std::span<const std::byte> second;  // split send: the second part of the message
  std::span<std::byte> response;      // response length registers; empty: the message has no response
  uint32_t channels = 0;              // bit i: lane i of the message is enabled (by masks and predicate)
  uint8_t first_channel = 0;          // channel of lane 0
  uint8_t exec_size = 0;
  bool end_of_thread = false;
};

enum class SendOutcome : uint8_t {
  done,     // complete; the response, if any, is written
  blocked,  // not possible now: run other threads, then send the same message again
  fault     // memory refused the access; the thread stops and its engine is notified
};

class MessageTarget {
 public:
  virtual ~MessageTarget() = default;
  virtual SendOutcome send(Thread& thread, const Message& message) = 0;
};

}  // namespace halogen::eu
