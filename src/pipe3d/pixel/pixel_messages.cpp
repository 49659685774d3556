// Messages of pixel shader threads that return data: the pixel interpolator (barycentrics at another point of the
// pixel, Gen7 and later) and the render target read (current value of a target, Gen9 and later).
#include "message/payload.h"
#include "pipe3d/pixel/pixel_stage.h"
#include "pipe3d/raster/pixel_points.h"

namespace halogen::pipe3d {
namespace {

using Type = eu::MessageControl::Type;
using Kind = eu::MessageControl::Subtype;

constexpr unsigned kNibble = 4;

// Returns a signed number of sixteenths from the low four bits.
float signed_sixteenths(uint32_t bits) {
  const auto value = static_cast<int32_t>(bits << 28) >> 28;
  return static_cast<float>(value) * kSixteenth;
}

}  // namespace

// Returns both weights of eight channels, then of the next eight, in the layout of the payload.
eu::SendOutcome PixelStage::interpolate(const eu::Message& sent, const eu::MessageControl& control) {
  const message::Payload payload(sent);
  message::Response response(sent.response);
  const Raster& raster = state_->raster;
  const unsigned lanes = control.simd == eu::MessageControl::Simd::simd16 ? 16 : 8;
  for (unsigned i = 0; i < lanes; ++i) {
    if (!bit(sent.channels, i)) {
      continue;
    }
    const Lane& lane = group_.lanes[(sent.first_channel + i) % kMaxLanes];
    PixelPoint at = pixel_point(raster, lane);
    switch (control.type) {
      case Type::at_offset:
        at.x += signed_sixteenths(control.data);
        at.y += signed_sixteenths(control.data >> kNibble);
        break;
      case Type::at_slot:
        at.x += signed_sixteenths(payload.dword(i / 8, i % 8));
        at.y += signed_sixteenths(payload.dword((lanes + i) / 8, i % 8));
        break;
      case Type::at_sample:
        at = point_of(raster, lane, Place::sample, control.data >> kNibble);
        break;
      default:
        at = point_of(raster, lane, Place::centroid, 0);
        break;
    }
    const Rasteriser::Weights weights = weights_at(group_, at, !control.linear);
    response.put(i / 8 * 2 * eu::kGrfBytes + i % 8 * sizeof(float), weights.first);
    response.put((i / 8 * 2 + 1) * eu::kGrfBytes + i % 8 * sizeof(float), weights.second);
  }
  return eu::SendOutcome::done;
}

// Returns red, green, blue and alpha of all channels.
eu::SendOutcome PixelStage::read_target(const eu::Message& sent, const eu::MessageControl& control) {
  message::Response response(sent.response);
  TargetWriter* const from = target(control.surface, 0);
  if (from == nullptr) {
    return eu::SendOutcome::fault;
  }
  const unsigned wide = control.subtype == Kind::simd16 ? 2 : 1;
  for (unsigned i = 0; i < wide * 8; ++i) {
    if (!bit(sent.channels, i)) {
      continue;
    }
    const Lane& lane = group_.lanes[(sent.first_channel + i) % kMaxLanes];
    const Colour colour = from->read({lane.x, lane.y, primitive_->layer}, lane.sample);
    for (unsigned c = 0; c < 4; ++c) {
      response.put_dword(c * wide + i / 8, i % 8, colour[c]);
    }
  }
  return from->stopped() ? eu::SendOutcome::fault : eu::SendOutcome::done;
}

}  // namespace halogen::pipe3d
