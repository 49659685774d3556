// The parameters of a sampler message and the operation that it requests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "eu/message_fields.h"
#include "gen/message_rules.h"

namespace halogen::message {

struct SamplerForm {
  static constexpr uint8_t kNone = 0xff;
  enum class Action : uint8_t { sample, gather, load, load_mcs, size, levels, samples };
  enum class Level : uint8_t { of_quad, of_quad_and_bias, given, zero, of_gradients };

  Action action = Action::sample;
  Level from = Level::zero;
  // Indices of parameters.
  std::array<uint8_t, 4> at{0, 1, 2, 3};  // u, v, r, layer of cubes
  uint8_t level = kNone;                  // or the bias
  uint8_t reference = kNone;
  uint8_t sample = kNone;
  std::array<uint8_t, 3> dx{kNone, kNone, kNone};
  std::array<uint8_t, 3> dy{kNone, kNone, kNone};
  std::array<uint8_t, 2> offset{kNone, kNone};  // for gather4_po
};

// Returns the form of a message. `length` is the length of the whole message, by which Gen4 distinguishes forms.
// No value: the message does not exist.
std::optional<SamplerForm> sampler_form(const MessageRules& rules, const eu::MessageControl& control, size_t length);

}  // namespace halogen::message
