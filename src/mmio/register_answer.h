// The class of the model's answer at an offset of the register part, for the lists of registers that drivers touch
// (tests/golden/i915-registers). It comes from `storage` in spec/registers, which a test proves, and from the tables of
// wake ports, steering and fuses. Finding it reads and writes no register.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mmio/mmio_space.h"

namespace halogen::mmio {

enum class AnswerClass : uint8_t {  // a larger value is a better answer
  unclaimed,                        // reads zero, writes are lost, both raise an Event
  storage,                          // keeps what is written, by the access kinds of its bits; no unit acts on it
  semantics,                        // a unit is attached to it, reads it or fills it
};

std::string_view name_of(AnswerClass answer);
std::optional<AnswerClass> answer_class_named(std::string_view name);

struct RegisterAnswer {
  AnswerClass answer = AnswerClass::unclaimed;
  std::string name;  // the manual's, with engine, index and half: "RING_TAIL:bcs0", "FENCE[3]+4"; empty: unclaimed
};

// Returns the answer at `offset`, a multiple of four.
RegisterAnswer answer_at(MmioSpace& space, uint32_t offset);

}  // namespace halogen::mmio
