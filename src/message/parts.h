// The parts of the shared functions among themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/message.h"
#include "message/memory_target.h"
#include "message/payload.h"
#include "message/shared_functions.h"

namespace halogen::message {

// One message at work.
struct Call {
  Call(Context& shared, eu::Thread& sender, const eu::Message& sent, uint8_t kind);

  Context& context;
  eu::Thread& thread;
  const eu::Message& message;
  MessageCount& count;
  hw::MESSAGE_DESCRIPTOR descriptor;
  Payload payload;
  Response response;
  uint8_t type;
  size_t data;  // first register behind the header

  template <class T>
  T as() const {
    return T::unpack(context.gen(), std::span(&message.descriptor, 1));
  }
  uint32_t lanes(unsigned width) const { return message.channels & static_cast<uint32_t>(low_mask(width)); }
  bool has_header() const { return descriptor.header_present; }
  uint32_t header(size_t dword) const { return payload.dword(0, dword); }

  void approximate(std::string_view reason);
  // Nothing is done; the response is zero.
  eu::SendOutcome unsupported(std::string_view reason);
};

// Memory behind a binding table index, for messages that address bytes. Nothing: memory refused.
enum class HeaderBase : uint8_t { ignored, added };  // stateless: header dword 5 is an offset from the general base
std::optional<MemoryTarget> target_of(Call& call, uint8_t index, HeaderBase header);

eu::SendOutcome data_port_0(Call& call);
eu::SendOutcome data_port_1(Call& call);
eu::SendOutcome constant_cache(Call& call);
eu::SendOutcome scratch_block(Call& call);
eu::SendOutcome oword_block(Call& call, bool write, bool unaligned);
eu::SendOutcome a64_block(Call& call, bool write);
eu::SendOutcome typed_access(Call& call, bool write);
eu::SendOutcome typed_atomic(Call& call);
eu::SendOutcome sampler(Call& call);
eu::SendOutcome gateway(Call& call);

}  // namespace halogen::message
