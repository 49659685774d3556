// Interfaces between the parts of the shared functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "eu/message_fields.h"
#include "message/memory_target.h"
#include "message/payload.h"
#include "message/shared_functions.h"
#include "message/thread_payload.h"

namespace halogen::message {

// A message that is being executed.
struct Call {
  Call(Context& shared, eu::Thread& sender, const eu::Message& sent);

  Context& context;
  eu::Thread& thread;
  const eu::Message& message;
  const eu::MessageControl& control;
  MessageCount& count;
  Payload payload;
  Response response;
  Touched* touched;  // null: not counted
  size_t data;       // first register after the header

  uint32_t lanes(unsigned width) const { return message.channels & static_cast<uint32_t>(low_mask(width)); }
  bool has_header() const { return (message.descriptor & eu::DescriptorBits::kHeaderPresent) != 0; }
  Binding binding(uint8_t index) const { return binding_of(*context.rules, index); }
  // Returns the first registers as a header, whether or not the descriptor says that there is one.
  template <class Header>
  Header header() const {
    return read_header<Header>(context.generation->id(), payload);
  }
  // Returns the same, or a header of zeros for a message without one.
  template <class Header>
  Header optional_header() const {
    return has_header() ? header<Header>() : Header{};
  }

  // Counts bytes of memory that the message accesses without a MemoryTarget.
  void touch(uint64_t address, uint64_t bytes) const {
    if (touched != nullptr && bytes != 0) {
      touched->lines.add(address, bytes);
    }
  }
  void count_atomic() const {
    if (touched != nullptr) {
      touched->atomic = true;
    }
  }

  void approximate(std::string_view reason);
  // Reports the message as not implemented and clears the response.
  eu::SendOutcome unsupported(std::string_view reason);
};

// The use of dword 5 of a stateless message's header, an offset from the general base.
enum class HeaderBase : uint8_t { ignored, added };
// Return the memory that a message addresses by bytes: without a binding table index, and with one. No value: stopped
// by a fault.
MemoryTarget stateless_memory(const Call& call, HeaderBase header);
std::optional<MemoryTarget> target_of(Call& call, uint8_t index, HeaderBase header);

// Returns the number of lanes according to the descriptor.
inline unsigned width_of(const Call& call) {
  return call.control.simd == eu::MessageControl::Simd::simd16 ? 16 : 8;
}

using memory::Direction;

eu::SendOutcome data_port(Call& call);
eu::SendOutcome scratch_block(Call& call, Direction direction);
eu::SendOutcome oword_block(Call& call, Direction direction, bool unaligned);
eu::SendOutcome a64_block(Call& call, Direction direction);
eu::SendOutcome untyped_pair(Call& call, Direction direction);
eu::SendOutcome untyped_atomic_pair(Call& call);
eu::SendOutcome typed_access(Call& call, Direction direction);
eu::SendOutcome typed_atomic(Call& call);
eu::SendOutcome sampler(Call& call);
eu::SendOutcome urb_port(Call& call);
eu::SendOutcome dual_block(Call& call, Direction direction);
eu::SendOutcome media_block(Call& call, Direction direction);
eu::SendOutcome gateway(Call& call);
eu::SendOutcome spawner(Call& call);
bool exchanges(const Context& context, const eu::MessageControl& control, bool end_of_thread);

}  // namespace halogen::message
