// Sampler messages: parameters to a Texture, texels to the response. SIMD8 and SIMD16 with 32- or 16-bit results, and
// SIMD4x2. Not modelled: SIMD32 of Gen4, media messages, 16-bit parameters. ld_mcs returns that each sample has its own
// slice (sample_map.h).
#include <algorithm>
#include <bit>
#include <utility>

#include "message/call.h"
#include "message/sample_map.h"
#include "message/sampler_form.h"
#include "message/texture.h"
#include "spec/structure_size.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using surface::Texel;
using Simd = eu::MessageControl::Simd;
using Action = SamplerForm::Action;
using Level = SamplerForm::Level;

constexpr unsigned kQuad = 4;

struct Job {
  Call& call;
  const SamplerForm& form;
  const Surface& surface;
  Texture texture;
  unsigned lanes = 8;
  hw::SAMPLER_HEADER header{};
  TexelOffset offset{};

  uint32_t word(uint8_t parameter, unsigned lane) const {
    if (parameter == SamplerForm::kNone) {
      return 0;
    }
    if (call.control.simd == Simd::simd4x2) {
      return call.payload.dword(call.data + parameter / 4u, lane * 4 + parameter % 4u);
    }
    return call.payload.dword(call.data + parameter * (lanes / 8), lane);
  }
  float real(uint8_t parameter, unsigned lane) const { return std::bit_cast<float>(word(parameter, lane)); }
  TexturePoint point(unsigned lane) const {
    return {real(form.at[0], lane), real(form.at[1], lane), real(form.at[2], lane), real(form.at[3], lane)};
  }
  std::optional<float> reference(unsigned lane) const {
    return form.reference == SamplerForm::kNone ? std::nullopt : std::optional(real(form.reference, lane));
  }

  QuickTexture* quick = nullptr;
  unsigned sized = ~0u;  // index of the square whose level of detail is known
  double lod = 0.0;

  PixelSize size_of(unsigned lane) const;
  double lod_of(unsigned lane);
  Texel answer(unsigned lane);
  Texel quick_answer(unsigned lane);
  bool quick_square(unsigned first, uint32_t live);
  void put(unsigned lane, const Texel& texel);
};

PixelSize at_level(float level) {
  PixelSize size;
  size.lod = size.narrow_lod = static_cast<double>(level);
  return size;
}

// Returns the size of a pixel. Lanes form squares of four pixels, except in SIMD4x2, whose vertices have no neighbours.
PixelSize Job::size_of(unsigned lane) const {
  switch (form.from) {
    case Level::zero:
      return at_level(0.0f);
    case Level::given:
      return at_level(real(form.level, lane));
    case Level::of_gradients: {
      TexturePoint dx{};
      TexturePoint dy{};
      for (unsigned i = 0; i < 3; ++i) {
        dx[i] = real(form.dx[i], lane);
        dy[i] = real(form.dy[i], lane);
      }
      return texture.size_of_pixel(dx, dy);
    }
    case Level::of_quad:
    case Level::of_quad_and_bias:
      break;
  }
  if (call.control.simd == Simd::simd4x2) {
    return at_level(0.0f);
  }
  const unsigned first = lane & ~(kQuad - 1);
  PixelSize size =
      texture.size_of_quad({point(first), point(first + 1), point(first + 2), point(first + 3)}, lane - first);
  if (form.from == Level::of_quad_and_bias) {
    const auto bias = static_cast<double>(real(form.level, lane));
    size.lod += bias;
    size.narrow_lod += bias;
  }
  return size;
}

// Returns the level of detail of a lane. Without a bias the four lanes of a square share it, so it is computed once.
double Job::lod_of(unsigned lane) {
  if (form.from != Level::of_quad || lane / kQuad != sized) {
    lod = size_of(lane).lod;
    sized = lane / kQuad;
  }
  return lod;
}

Texel Job::answer(unsigned lane) {
  switch (form.action) {
    case Action::sample:
      return texture.sample(point(lane), size_of(lane), offset, reference(lane));
    case Action::gather: {
      TexelOffset shift = offset;
      for (unsigned axis = 0; axis < 2; ++axis) {
        if (form.offset[axis] != SamplerForm::kNone) {
          shift[axis] = static_cast<int32_t>(sign_extend(word(form.offset[axis], lane) & 0x3f, 6));
        }
      }
      return texture.gather(point(lane), shift, header.gather_channel, reference(lane));
    }
    case Action::load:
      return texture.load({word(form.at[0], lane), word(form.at[1], lane), word(form.at[2], lane)},
                          word(form.level, lane), word(form.sample, lane), offset);
    case Action::load_mcs:
      return identity_map(surface.samples);
    case Action::size:
      return texture.extent_of(word(form.level, lane));
    case Action::levels:
      return texture.levels_of(size_of(lane));
    case Action::samples:
      return {surface.samples, 0, 0, 0};
  }
  return {};
}

Texel Job::quick_answer(unsigned lane) {
  const std::optional<Texel> texel = quick->sample(*call.context.environment.space, real(form.at[0], lane),
                                                   real(form.at[1], lane), lod_of(lane), offset);
  return texel ? *texel : answer(lane);
}

// Samples the lanes `live` of the square that starts at lane `first`. All channels of the result are requested, as
// floats. False: nothing was done.
bool Job::quick_square(unsigned first, uint32_t live) {
  std::array<float, kQuad> u;
  std::array<float, kQuad> v;
  for (unsigned i = 0; i < kQuad; ++i) {
    u[i] = real(form.at[0], first + i);
    v[i] = real(form.at[1], first + i);
  }
  QuickTexture::SquareTexels texels;
  if (!quick->sample_square(*call.context.environment.space, u.data(), v.data(), lod_of(first), offset, live, texels)) {
    return false;
  }
  constexpr uint32_t kAll = (1u << kQuad) - 1;
  for (unsigned channel = 0; channel < 4; ++channel) {
    const unsigned plane = channel * (lanes / 8);
    if (live == kAll) {
      call.response.put_bytes(plane * eu::kGrfBytes + first * sizeof(float), std::as_bytes(std::span(texels[channel])));
      continue;
    }
    for (uint32_t rest = live; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      call.response.put_dword(plane, first + i, std::bit_cast<uint32_t>(texels[channel][i]));
    }
  }
  return true;
}

void Job::put(unsigned lane, const Texel& texel) {
  const unsigned off = header.channels_off;
  if (call.control.simd == Simd::simd4x2) {
    for (unsigned channel = 0; channel < 4; ++channel) {
      if ((off >> channel & 1) == 0 && (call.message.channels >> (lane * 4 + channel) & 1) != 0) {
        call.response.put_dword(0, lane * 4 + channel, texel[channel]);
      }
    }
    return;
  }
  const bool half = call.control.half;
  for (unsigned channel = 0, plane = 0; channel < 4; ++channel) {
    if ((off >> channel & 1) != 0) {
      continue;
    }
    if (half) {
      const bool integer = surface.integer() || form.action == Action::size;
      const uint16_t value = integer ? static_cast<uint16_t>(texel[channel])
                                     : surface::float_to_half(std::bit_cast<float>(texel[channel]));
      call.response.put<uint16_t>(plane * eu::kGrfBytes + lane * 2, value);
      ++plane;
    } else {
      call.response.put_dword(plane, lane, texel[channel]);
      plane += lanes / 8;
    }
  }
}

// Returns the address of the sampler state. A header may name another table, relative to the dynamic or the bindless
// sampler base.
uint64_t sampler_address(const Call& call, const hw::SAMPLER_HEADER& header) {
  const Environment& environment = call.context.environment;
  const uint64_t table = header.sampler_table;
  const uint64_t index = call.control.sampler * spec::bytes_of<hw::SAMPLER_STATE>(call.context.generation->id());
  if (header.bindless) {
    return environment.bases.bindless_sampler + table + index;
  }
  return environment.bases.dynamic + (table != 0 ? table : environment.sampler_table) + index;
}

// Returns the number of groups of four lanes with an enabled lane.
uint32_t squares_in(uint32_t lanes) {
  const uint32_t any = lanes | lanes >> 1 | lanes >> 2 | lanes >> 3;
  return static_cast<uint32_t>(std::popcount(any & 0x1111'1111u));
}

bool needs_state(Action action) {
  return action == Action::sample || action == Action::gather || action == Action::levels;
}

}  // namespace

SendOutcome sampler(Call& call) {
  const size_t length = eu::DescriptorBits::kMessageLength.of(call.message.descriptor);
  const std::optional<SamplerForm> form = sampler_form(*call.context.rules, call.control, length);
  if (!form) {
    return call.unsupported("message type not implemented");
  }
  const Simd simd = call.control.simd;
  if (call.control.simd_high || (simd != Simd::simd8 && simd != Simd::simd16 && simd != Simd::simd4x2)) {
    return call.unsupported("SIMD width other than 4x2, 8 and 16, and 16-bit parameters, not implemented");
  }
  const Surface* const surface = call.context.surfaces.find(*call.context.generation, call.context.environment,
                                                            call.control.surface, call.message.extended);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  const bool reads = needs_state(form->action) || form->action == Action::load;
  const bool readable = surface->kind == Surface::Kind::buffer ? surface->format->known() : surface->readable();
  if (reads && surface->kind != Surface::Kind::none && !readable) {
    return call.unsupported("surface format not implemented");
  }
  const auto header = call.optional_header<hw::SAMPLER_HEADER>();
  const Sampler* state = nullptr;
  if (needs_state(form->action)) {
    state =
        call.context.samplers.find(*call.context.generation, call.context.environment, sampler_address(call, header));
    if (state == nullptr) {
      return SendOutcome::fault;
    }
    call.approximate("filter sums rounded once; hardware rounding not published");
  }
  Job job{.call = call,
          .form = *form,
          .surface = *surface,
          .texture = Texture(*call.context.environment.space, *surface, state),
          .lanes = simd == Simd::simd16 ? 16u : 8u,
          .header = header};
  job.offset = {header.u_offset, header.v_offset, header.r_offset};
  if (form->action == Action::sample && form->reference == SamplerForm::kNone && simd != Simd::simd4x2) {
    Context& context = call.context;
    job.quick = context.textures.find(*surface, *state, context.surfaces.age() + context.samplers.age());
  }
  uint32_t lanes = call.lanes(job.lanes);
  if (simd == Simd::simd4x2) {
    lanes = ((lanes & 0x0f) != 0 ? 1u : 0u) | ((lanes & 0xf0) != 0 ? 2u : 0u);
  }
  if (call.touched != nullptr) {
    call.touched->squares = squares_in(call.lanes(job.lanes));
  }
  const bool squares =
      job.quick != nullptr && form->from == Level::of_quad && header.channels_off == 0 && !call.control.half;
  unsigned tried = ~0u;
  while (lanes != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const unsigned first = lane & ~(kQuad - 1);
    const uint32_t square = 0xfu << first;
    if (squares && first != std::exchange(tried, first) && job.quick_square(first, (lanes & square) >> first)) {
      lanes &= ~square;
      continue;
    }
    lanes &= lanes - 1;
    const Texel texel = job.quick != nullptr ? job.quick_answer(lane) : job.answer(lane);
    if (job.texture.failed()) {
      return SendOutcome::fault;
    }
    job.put(lane, texel);
  }
  return SendOutcome::done;
}

}  // namespace halogen::message
