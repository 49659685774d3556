// Conversion of payloads and message headers between their structs (hw/thread_payloads.h, hw/message_headers.h) and
// registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "eu/thread.h"
#include "spec/generation_ids.h"

namespace halogen::message {

inline constexpr size_t kGrfDwords = eu::kGrfBytes / sizeof(uint32_t);

// Writes a payload to its registers. `grf` is given for payloads that can be in several registers. Always inlined: the
// fields stay in registers of the host, because packing halfwords that were just stored to memory stalls.
template <class Payload>
[[gnu::always_inline]] inline void put_payload(eu::Thread& thread, spec::GenId gen, const Payload& payload,
                                               size_t grf = Payload::kGrf) {
  std::array<uint32_t, Payload::kDwords> words;
  payload.write(gen, words.data());
  std::byte* const to = thread.grf.data() + grf * eu::kGrfBytes + Payload::kDword * sizeof(uint32_t);
  for (size_t i = 0; i < words.size(); ++i) {  // by dwords, because a wide copy would stall on the preceding stores
    std::memcpy(to + i * sizeof(uint32_t), &words[i], sizeof(uint32_t));
  }
}

// Writes a payload that has the same layout on all generations.
template <class Payload>
requires(Payload::kOneLayout) void put_payload(eu::Thread& thread, const Payload& payload) {
  put_payload(thread, spec::GenId{}, payload);
}

// Returns the header of a message. `Registers` is Payload or PayloadView.
template <class Header, class Registers>
Header read_header(spec::GenId gen, const Registers& registers) {
  std::array<uint32_t, Header::kDwords> words;
  for (size_t i = 0; i < words.size(); i += kGrfDwords) {
    registers.copy(i / kGrfDwords, words.data() + i, std::min(kGrfDwords, words.size() - i));
  }
  return Header::read(gen, words.data());
}

}  // namespace halogen::message
