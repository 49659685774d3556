// A decoded render target message: its lanes, and the registers of its payload.
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
  uint8_t index = 0;    // binding table index
  uint8_t blend = 0;    // index of the blend state entry
  bool null = false;    // no colours are written
  bool header = false;  // occupies the first two registers
  uint32_t lanes = 0;   // enabled by the header and the channels
  unsigned first_lane = 0;
  // First register of each part. Zero: absent.
  size_t colour = 0;
  size_t second = 0;
  bool has_source_alpha = false;  // source alpha and mask may be in register 0, so each has a flag
  size_t source_alpha = 0;
  bool has_mask = false;
  size_t mask = 0;
  size_t depth = 0;
  size_t stencil = 0;
  const message::PayloadView* payload = nullptr;
  const GroupColours* colours = nullptr;  // the same as in the payload, if already known

  TargetMessageForm form = TargetMessageForm::component_by_component;

  bool replicated() const { return kind == Kind::simd16_replicated; }
  unsigned width() const { return kind == Kind::simd16 || replicated() ? 16 : 8; }
  unsigned wide() const { return kind == Kind::simd16 ? 2 : 1; }  // registers per component
  size_t register_of(size_t first, unsigned component, unsigned lane) const {
    return first + (form == TargetMessageForm::half_by_half ? component + lane / 8 * 4 : component * wide() + lane / 8);
  }
  // Returns the byte of the payload at which a component of a lane begins.
  size_t place_of(size_t first, unsigned component, unsigned lane) const {
    return replicated() ? first * eu::kGrfBytes + component * 4
                        : register_of(first, component, lane) * eu::kGrfBytes + lane % 8 * 4;
  }
  uint32_t component(size_t first, unsigned component, unsigned lane) const {
    return payload->value<uint32_t>(place_of(first, component, lane));
  }
  size_t place_of_mask(unsigned lane) const { return mask * eu::kGrfBytes + lane * 2u; }
  size_t place_of_stencil(unsigned lane) const { return stencil * eu::kGrfBytes + lane; }
  // Returns the byte of the payload at which a lane's value of a one-component part begins.
  static size_t place_of_value(size_t first, unsigned lane) {
    return (first + lane / 8) * eu::kGrfBytes + lane % 8 * 4;
  }
};

// Decodes a render target message. `smooth`: the thread draws a smooth primitive. The message keeps a pointer to the
// payload.
TargetMessage read_target_message(const PipelineState& state, spec::GenId gen, bool smooth, const eu::Message& sent,
                                  const eu::MessageControl& control, const message::PayloadView& payload);

}  // namespace halogen::pipe3d
