// A message to a render target, taken apart: which lanes, and in which registers of its payload their parts lie.
#pragma once

#include <cstdint>

#include "eu/exec/message.h"
#include "eu/message_fields.h"
#include "message/payload.h"
#include "pipe3d/output/target_group.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

struct TargetMessage {
  using Kind = eu::MessageControl::Subtype;

  Kind kind{};
  uint8_t index = 0;    // of the binding table
  uint8_t blend = 0;    // entry of the blend state
  bool null = false;    // no colours are written
  bool header = false;  // the first two registers
  uint32_t lanes = 0;   // that its header and channels let through
  unsigned first_lane = 0;
  // Registers of each part, zero: not there.
  size_t colour = 0;
  size_t second = 0;
  bool has_source_alpha = false;  // the next two may begin with register 0
  size_t source_alpha = 0;
  bool has_mask = false;
  size_t mask = 0;
  size_t depth = 0;
  size_t stencil = 0;
  const message::PayloadView* payload = nullptr;
  const GroupColours* colours = nullptr;  // the same as in the payload, if they are known already

  TargetMessageForm form = TargetMessageForm::component_by_component;

  bool replicated() const { return kind == Kind::simd16_replicated; }
  unsigned width() const { return kind == Kind::simd16 || replicated() ? 16 : 8; }
  unsigned wide() const { return kind == Kind::simd16 ? 2 : 1; }  // registers a component
  size_t register_of(size_t first, unsigned component, unsigned lane) const {
    return first + (form == TargetMessageForm::half_by_half ? component + lane / 8 * 4 : component * wide() + lane / 8);
  }
  // Byte of the payload where a component of a lane begins.
  size_t place_of(size_t first, unsigned component, unsigned lane) const {
    return replicated() ? first * eu::kGrfBytes + component * 4
                        : register_of(first, component, lane) * eu::kGrfBytes + lane % 8 * 4;
  }
  uint32_t component(size_t first, unsigned component, unsigned lane) const {
    return payload->value<uint32_t>(place_of(first, component, lane));
  }
  size_t place_of_mask(unsigned lane) const { return mask * eu::kGrfBytes + lane * 2u; }
  size_t place_of_stencil(unsigned lane) const { return stencil * eu::kGrfBytes + lane; }
  // Byte of the payload where a lane's value of a one-component part begins.
  static size_t place_of_value(size_t first, unsigned lane) {
    return (first + lane / 8) * eu::kGrfBytes + lane % 8 * 4;
  }
};

// Reads a message to a render target. `smooth`: the primitive that the thread draws is smooth. The message keeps a
// pointer to the payload.
TargetMessage read_target_message(const PipelineState& state, spec::GenId gen, bool smooth, const eu::Message& sent,
                                  const eu::MessageControl& control, const message::PayloadView& payload);

}  // namespace halogen::pipe3d
