// What the model has at an offset of the register part, as a class: for the lists of registers that drivers touch
// (tests/golden/i915-registers). The class is the descriptions' word, `storage` in spec/registers, and that of the
// tables of wake ports, steering and fuses; nothing is read or written to find it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mmio/mmio_space.h"

namespace halogen::mmio {

enum class AnswerClass : uint8_t {  // the better the larger
  unclaimed,                        // reads zero, writes are lost, both raise an Event
  storage,                          // keeps what is written, by the access kinds of its bits, and nothing comes of it
  semantics,                        // a unit of the model acts on it or fills it
};

std::string_view name_of(AnswerClass answer);
std::optional<AnswerClass> answer_class_named(std::string_view name);

struct RegisterAnswer {
  AnswerClass answer = AnswerClass::unclaimed;
  std::string name;  // the manual's, with engine, index and half: "RING_TAIL:bcs0", "FENCE[3]+4"; empty: unclaimed
};

// `offset` is of a dword.
RegisterAnswer answer_at(MmioSpace& space, uint32_t offset);

}  // namespace halogen::mmio
