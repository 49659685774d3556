#include "pipe3d/output/target_message.h"

#include "base/bits.h"
#include "eu/isa/messages.h"

namespace halogen::pipe3d {
namespace {

constexpr unsigned kHeaderGrfs = 2;

}  // namespace

TargetMessage read_target_message(const PipelineState& state, bool smooth, const eu::Message& sent,
                                  const eu::MessageControl& control, const message::PayloadView& payload) {
  using Kind = TargetMessage::Kind;
  TargetMessage message;
  message.payload = &payload;
  message.kind = control.subtype;
  message.index = control.surface;
  message.lanes = sent.channels;
  message.first_lane = sent.first_channel;
  message.header = (sent.descriptor & eu::DescriptorBits::kHeaderPresent) != 0;
  message.halves = state.setup_shader.enabled;
  size_t next = 0;
  bool has_stencil = state.pixel.computes_stencil;
  if (message.header && message.halves) {
    // Gen4: one target's state, and the mask stands in the first register.
    message.lanes &= (payload.dword(0, 0) & 0xffff) >> (message.first_lane & 8);
    // A register of coverage and stencil values may come first, as the thread got it; all others of 16 channels are
    // two.
    const bool odd = message.kind == Kind::simd16 && (sent.first.size() + sent.second.size()) / eu::kGrfBytes % 2 != 0;
    next = kHeaderGrfs + (odd || smooth ? 1 : 0);
  } else if (message.header) {
    message.blend = static_cast<uint8_t>(payload.dword(0, 2) & 7);
    message.has_source_alpha = bit(payload.dword(0, 0), 11);
    has_stencil = bit(payload.dword(0, 0), 14);
    const unsigned half = message.first_lane & 8;  // the mask is one of 16 channels
    message.lanes &= (payload.dword(1, 7) & 0xffff) >> half;
    next = kHeaderGrfs;
  } else {
    message.blend = static_cast<uint8_t>(sent.extended >> 12 & 7);
    message.has_source_alpha = bit(sent.extended, 15);
    message.null = bit(sent.extended, 20);
  }
  const unsigned wide = message.width() / 8;
  if (message.has_source_alpha) {
    message.source_alpha = next;
    next += wide;
  }
  if (state.pixel.sample_mask) {
    message.has_mask = true;
    message.mask = next++;
  }
  message.colour = next;
  next += message.replicated() ? 1 : 4 * wide;
  if (message.kind == Kind::simd8_dual_low || message.kind == Kind::simd8_dual_high) {
    message.second = next;
    next += 4;
  }
  if (state.pixel.computes_depth) {
    message.depth = next;
    next += wide;
  }
  if (has_stencil) {
    message.stencil = next++;
  }
  return message;
}

}  // namespace halogen::pipe3d
