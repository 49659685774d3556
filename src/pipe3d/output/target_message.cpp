#include "pipe3d/output/target_message.h"

#include "base/bits.h"
#include "eu/isa/messages.h"
#include "hw/message_headers.h"
#include "message/thread_payload.h"

namespace halogen::pipe3d {
namespace {

constexpr size_t kHeaderGrfs = hw::RENDER_TARGET_HEADER::kDwords / message::kGrfDwords;

}  // namespace

TargetMessage read_target_message(const PipelineState& state, spec::GenId gen, bool smooth, const eu::Message& sent,
                                  const eu::MessageControl& control, const message::PayloadView& payload) {
  using Kind = TargetMessage::Kind;
  TargetMessage message;
  message.payload = &payload;
  message.kind = control.subtype;
  message.index = control.surface;
  message.lanes = sent.channels;
  message.first_lane = sent.first_channel;
  message.header = (sent.descriptor & eu::DescriptorBits::kHeaderPresent) != 0;
  message.form = state.target_message;
  size_t next = 0;
  bool has_stencil = state.pixel.computes_stencil;
  if (message.header) {
    const auto header = message::read_header<hw::RENDER_TARGET_HEADER>(gen, payload);
    message.blend = header.target;
    message.has_source_alpha = header.source_alpha;
    has_stencil = header.stencil;
    message.lanes &= uint32_t{header.mask} >> (message.first_lane & 8);  // the mask covers 16 channels
    next = kHeaderGrfs;
  }
  if (message.header && message.form == TargetMessageForm::half_by_half) {
    // A register of coverage and stencil values may come first, as the thread received it. All other parts of 16
    // channels are pairs of registers, so an odd number of registers shows that it is there.
    const bool odd = message.kind == Kind::simd16 && (sent.first.size() + sent.second.size()) / eu::kGrfBytes % 2 != 0;
    next += odd || smooth ? 1 : 0;
  } else if (!message.header) {
    message.blend = static_cast<uint8_t>(eu::ExtendedTargetBits::kTarget.of(sent.extended));
    message.has_source_alpha = (sent.extended & eu::ExtendedTargetBits::kSourceAlpha) != 0;
    message.null = (sent.extended & eu::ExtendedTargetBits::kNullTarget) != 0;
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
