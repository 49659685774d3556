// Sampler messages as threads that compute send them: texel loads, samples at a known level, gathers, sizes. Left out:
// levels from derivatives (a sample without a level takes level zero), anisotropic filters, comparisons, cube faces,
// multisampled surfaces and 16-bit results. Weights of linear filters are floats, where chips round them to eight bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "message/parts.h"
#include "message/sampler_state.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Type = eu::MessageControl::Type;
using surface::Texel;

constexpr uint32_t kOne = 0x3f80'0000;
constexpr size_t kRoom = 64;                // for a texel; the memory's copies want a line
constexpr int64_t kFar = int64_t{1} << 31;  // coordinates beyond are taken as this

// Parameters of a message by meaning: the place of each in the payload, or none.
struct Parameters {
  static constexpr uint8_t kNone = 0xff;
  uint8_t u = 0;
  uint8_t v = 1;
  uint8_t r = 2;
  uint8_t lod = kNone;
};

struct Coordinates {
  std::array<float, 3> at{};        // u, v, r
  std::array<uint32_t, 3> index{};  // the same bits as integers
  float lod = 0;
  uint32_t level = 0;
};

struct Job {
  Call& call;
  const Surface& surface;
  const Sampler* sampler = nullptr;
  std::array<int32_t, 3> offset{};
  bool failed = false;  // memory refused

  Texel fetch(uint32_t x, uint32_t y, uint32_t layer, uint32_t level);
  Texel texel_or_border(const std::array<int64_t, 3>& index, uint32_t layer, uint32_t level);
  Texel filtered(const Coordinates& where, uint32_t level, bool linear);
  Texel sample(const Coordinates& where);
  Texel load(const Coordinates& where);
  Texel gather(const Coordinates& where, unsigned channel);
  Texel size(uint32_t level) const;

  // Which coordinate counts layers; 3: none.
  unsigned layer_axis() const {
    if (!surface.array) {
      return 3;
    }
    return surface.type == hw::SurfaceType::SURFTYPE_1D ? 1 : 2;
  }
  unsigned axes() const {
    switch (surface.type) {
      case hw::SurfaceType::SURFTYPE_1D:
        return 1;
      case hw::SurfaceType::SURFTYPE_3D:
        return 3;
      default:
        return 2;
    }
  }
  uint32_t extent(unsigned axis, uint32_t level) const {
    return axis == 0   ? surface.level_width(level)
           : axis == 1 ? surface.level_height(level)
                       : surface.level_depth(level);
  }
  Texel swizzled(const Texel& texel) const;
};

Texel Job::fetch(uint32_t x, uint32_t y, uint32_t layer, uint32_t level) {
  std::array<std::byte, kRoom> bytes{};
  const uint64_t address = texel_address(surface, x, y, layer, level);
  if (!call.context.environment.space->read(place(address), std::span(bytes).first(surface.format->bytes()))) {
    failed = true;
  }
  return surface::unpack_texel(*surface.format, bytes.data());
}

Texel Job::swizzled(const Texel& texel) const {
  const uint32_t one = surface.format->integer ? 1 : kOne;
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    switch (surface.select[i]) {
      case hw::ShaderChannelSelect::ZERO:
        out[i] = 0;
        break;
      case hw::ShaderChannelSelect::ONE:
        out[i] = one;
        break;
      case hw::ShaderChannelSelect::RED:
      case hw::ShaderChannelSelect::GREEN:
      case hw::ShaderChannelSelect::BLUE:
      case hw::ShaderChannelSelect::ALPHA:
        out[i] = texel[static_cast<unsigned>(surface.select[i]) & 3];
        break;
    }
  }
  return out;
}

Texel Job::texel_or_border(const std::array<int64_t, 3>& index, uint32_t layer, uint32_t level) {
  const hw::SAMPLER_STATE& state = sampler->state;
  const std::array modes = {state.tcx_address_control_mode, state.tcy_address_control_mode,
                            state.tcz_address_control_mode};
  std::array<uint32_t, 3> at{};
  for (unsigned axis = 0; axis < axes(); ++axis) {
    const std::optional<uint32_t> wrapped = wrap(modes[axis], index[axis], extent(axis, level));
    if (!wrapped) {
      return sampler->border;
    }
    at[axis] = *wrapped;
  }
  return fetch(at[0], at[1], surface.volume() ? at[2] : layer, level);
}

int64_t whole(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  return static_cast<int64_t>(std::floor(std::clamp(value, -static_cast<double>(kFar), static_cast<double>(kFar))));
}

uint32_t layer_of(const Job& job, const Coordinates& where) {
  const unsigned axis = job.layer_axis();
  if (axis > 2) {
    return 0;
  }
  const int64_t layer = whole(static_cast<double>(where.at[axis]) + 0.5);
  return static_cast<uint32_t>(std::clamp<int64_t>(layer, 0, int64_t{job.surface.depth} - 1));
}

Texel Job::filtered(const Coordinates& where, uint32_t level, bool linear) {
  const uint32_t layer = layer_of(*this, where);
  std::array<int64_t, 3> index{};
  std::array<double, 3> weight{};
  for (unsigned axis = 0; axis < axes(); ++axis) {
    const double scale = sampler->state.non_normalized_coordinate_enable ? 1.0 : extent(axis, level);
    const double at = static_cast<double>(where.at[axis]) * scale - (linear ? 0.5 : 0.0);
    index[axis] = whole(at);
    weight[axis] = std::isfinite(at) ? std::clamp(at - static_cast<double>(index[axis]), 0.0, 1.0) : 0.0;
    index[axis] += offset[axis];
  }
  if (!linear) {
    return texel_or_border(index, layer, level);
  }
  std::array<double, 4> sum{};
  for (unsigned corner = 0; corner < 1u << axes(); ++corner) {
    double share = 1.0;
    std::array<int64_t, 3> at = index;
    for (unsigned axis = 0; axis < axes(); ++axis) {
      const bool far = (corner >> axis & 1) != 0;
      share *= far ? weight[axis] : 1.0 - weight[axis];
      at[axis] += far;
    }
    if (share == 0.0) {
      continue;
    }
    const Texel texel = texel_or_border(at, layer, level);
    for (unsigned i = 0; i < 4; ++i) {
      sum[i] += share * static_cast<double>(std::bit_cast<float>(texel[i]));
    }
  }
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = std::bit_cast<uint32_t>(static_cast<float>(sum[i]));
  }
  return out;
}

Texel Job::sample(const Coordinates& where) {
  const hw::SAMPLER_STATE& state = sampler->state;
  const double biased = static_cast<double>(where.lod) + state.texture_lod_bias;
  const double lod =
      std::isnan(biased) ? 0.0 : std::clamp(biased, state.min_lod, std::max(state.min_lod, state.max_lod));
  const hw::MapFilter filter = lod > 0 ? state.min_mode_filter : state.mag_mode_filter;
  const bool linear = filter != hw::MapFilter::NEAREST && !surface.format->integer;
  if (linear) {
    call.approximate("weights of linear filters are not rounded to eight bits");
  }
  const uint32_t last = surface.first_level + surface.levels - 1;
  const auto level = [&](double value) {
    const auto steps = static_cast<uint32_t>(std::max(value, 0.0));
    return std::min(surface.first_level + steps, last);
  };
  switch (state.mip_mode_filter) {
    case hw::MipFilter::NONE:
      return filtered(where, surface.first_level, linear);
    case hw::MipFilter::NEAREST:
      return filtered(where, level(lod + 0.5), linear);
    case hw::MipFilter::LINEAR:
      break;
  }
  const Texel near = filtered(where, level(lod), linear);
  const double part = lod - std::floor(lod);
  if (part == 0.0 || surface.format->integer) {
    return near;
  }
  const Texel far = filtered(where, level(lod + 1), linear);
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    const double a = static_cast<double>(std::bit_cast<float>(near[i]));
    const double b = static_cast<double>(std::bit_cast<float>(far[i]));
    out[i] = std::bit_cast<uint32_t>(static_cast<float>(a + (b - a) * part));
  }
  return out;
}

Texel Job::gather(const Coordinates& where, unsigned channel) {
  const uint32_t layer = layer_of(*this, where);
  const uint32_t level = surface.first_level;
  std::array<int64_t, 3> index{};
  for (unsigned axis = 0; axis < 2; ++axis) {
    const double scale = sampler->state.non_normalized_coordinate_enable ? 1.0 : extent(axis, level);
    index[axis] = whole(static_cast<double>(where.at[axis]) * scale - 0.5) + offset[axis];
  }
  // The order is counterclockwise from the lower left.
  constexpr std::array<std::array<int64_t, 2>, 4> kCorners{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    const Texel texel = texel_or_border({index[0] + kCorners[i][0], index[1] + kCorners[i][1], 0}, layer, level);
    out[i] = swizzled(texel)[channel];
  }
  return out;
}

// Coordinates are integers; what lies outside is zero.
Texel Job::load(const Coordinates& where) {
  if (surface.kind == Surface::Kind::buffer) {
    const uint64_t at = uint64_t{where.index[0]} * surface.element_B;
    if (where.index[0] >= surface.elements || at >= surface.bytes) {
      return {};
    }
    std::array<std::byte, kRoom> bytes{};
    const uint64_t there = std::min<uint64_t>(surface.format->bytes(), surface.bytes - at);
    if (!call.context.environment.space->read(place(surface.base + at), std::span(bytes).first(there))) {
      failed = true;
    }
    return swizzled(surface::unpack_texel(*surface.format, bytes.data()));
  }
  const uint64_t level = uint64_t{surface.first_level} + where.level;
  if (where.level >= surface.levels) {
    return {};
  }
  std::array<int64_t, 3> at{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    at[axis] = int64_t{static_cast<int32_t>(where.index[axis])} + (axis < axes() ? offset[axis] : 0);
  }
  const unsigned layers = layer_axis();
  const int64_t layer = layers < 3 ? at[layers] : 0;
  const auto shown = static_cast<uint32_t>(level);
  for (unsigned axis = 0; axis < axes(); ++axis) {
    if (at[axis] < 0 || at[axis] >= int64_t{extent(axis, shown)}) {
      return {};
    }
  }
  if (layer < 0 || layer >= int64_t{surface.depth}) {
    return {};
  }
  const auto y = axes() > 1 ? static_cast<uint32_t>(at[1]) : 0;
  const auto z = surface.volume() ? static_cast<uint32_t>(at[2]) : static_cast<uint32_t>(layer);
  return swizzled(fetch(static_cast<uint32_t>(at[0]), y, z, shown));
}

Texel Job::size(uint32_t level) const {
  if (surface.kind == Surface::Kind::buffer) {
    return {static_cast<uint32_t>(surface.elements), 0, 0, 0};
  }
  if (surface.kind == Surface::Kind::none || level >= surface.levels) {
    return {0, 0, 0, surface.kind == Surface::Kind::none ? 0 : surface.levels};
  }
  const uint32_t shown = surface.first_level + level;
  const uint32_t layers = surface.array ? surface.depth : 0;
  const uint32_t height = surface.level_height(shown);
  switch (surface.type) {
    case hw::SurfaceType::SURFTYPE_1D:
      return {surface.level_width(shown), layers, 0, surface.levels};
    case hw::SurfaceType::SURFTYPE_3D:
      return {surface.level_width(shown), height, surface.level_depth(shown), surface.levels};
    case hw::SurfaceType::SURFTYPE_CUBE:
      return {surface.level_width(shown), height, layers / 6, surface.levels};
    default:
      return {surface.level_width(shown), height, layers, surface.levels};
  }
}

enum class Action : uint8_t { sample, load, gather, size };
struct Form {
  Action action;
  Parameters parameters;
};

std::optional<Form> form_of(const Call& call) {
  constexpr uint8_t kNone = Parameters::kNone;
  switch (call.control.type) {
    case Type::sample:
    case Type::sample_lz:
      return Form{Action::sample, {0, 1, 2, kNone}};
    case Type::sample_l:
      return Form{Action::sample, {1, 2, 3, 0}};
    case Type::ld:
      if (call.context.generation->has(spec::Feature::sampler_coordinates_first)) {
        return Form{Action::load, {0, 1, 3, 2}};
      }
      return Form{Action::load, {0, 2, 3, 1}};
    case Type::ld_lz:
      return Form{Action::load, {0, 1, 2, kNone}};
    case Type::gather4:
      return Form{Action::gather, {0, 1, 2, kNone}};
    case Type::resinfo:
      return Form{Action::size, {kNone, kNone, kNone, 0}};
    default:
      return std::nullopt;
  }
}

Coordinates coordinates(const Call& call, const Parameters& parameters, unsigned width, unsigned lane) {
  const auto parameter = [&](uint8_t index) {
    return index == Parameters::kNone ? 0 : call.payload.dword(call.data + index * (width / 8), lane);
  };
  Coordinates where;
  where.index = {parameter(parameters.u), parameter(parameters.v), parameter(parameters.r)};
  for (unsigned i = 0; i < 3; ++i) {
    where.at[i] = std::bit_cast<float>(where.index[i]);
  }
  where.level = parameter(parameters.lod);
  where.lod = std::bit_cast<float>(where.level);
  return where;
}

}  // namespace

SendOutcome sampler(Call& call) {
  using Mode = eu::MessageControl::Simd;
  const std::optional<Form> form = form_of(call);
  if (!form) {
    return call.unsupported("this message is not there yet");
  }
  if (call.control.half || (call.control.simd != Mode::simd8 && call.control.simd != Mode::simd16)) {
    return call.unsupported("results of 16 bits, and other widths than 8 and 16");
  }
  const unsigned width = call.control.simd == Mode::simd16 ? 16 : 8;
  const Surface* const surface = call.context.surfaces.find(*call.context.generation, call.context.environment,
                                                            call.control.surface, call.message.extended);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  if (form->action != Action::size && surface->kind != Surface::Kind::none && !surface->format->known()) {
    return call.unsupported("a format that is not there yet");
  }
  if (surface->compressed) {
    call.approximate("auxiliary surfaces are taken as uncompressed");
  }
  const bool needs_state = form->action == Action::sample || form->action == Action::gather;
  if (needs_state && surface->kind == Surface::Kind::image && surface->type == hw::SurfaceType::SURFTYPE_CUBE) {
    return call.unsupported("cube maps");
  }
  if (call.control.type == Type::sample) {
    call.approximate("a sample without a level takes level zero");
  }
  const uint32_t header = call.has_header() ? call.header(2) : 0;
  Job job{.call = call, .surface = *surface};
  job.offset = {static_cast<int32_t>(sign_extend(bits(header, 11, 8), 4)),
                static_cast<int32_t>(sign_extend(bits(header, 7, 4), 4)),
                static_cast<int32_t>(sign_extend(bits(header, 3, 0), 4))};
  std::optional<Sampler> state;
  if (needs_state) {
    const Environment& environment = call.context.environment;
    const uint32_t table = call.has_header() ? call.header(3) & ~uint32_t{0x1f} : environment.sampler_table;
    state = read_sampler(*call.context.generation, environment, table, call.control.sampler);
    if (!state) {
      return SendOutcome::fault;
    }
    job.sampler = &*state;
  }
  const auto off = static_cast<unsigned>(bits(header, 15, 12));
  for (uint32_t rest = call.lanes(width); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Coordinates where = coordinates(call, form->parameters, width, lane);
    Texel texel{};
    switch (form->action) {
      case Action::sample:
        texel = surface->kind == Surface::Kind::image ? job.swizzled(job.sample(where)) : Texel{};
        break;
      case Action::load:
        texel = surface->kind == Surface::Kind::none ? Texel{} : job.load(where);
        break;
      case Action::gather:
        texel = surface->kind == Surface::Kind::image ? job.gather(where, static_cast<unsigned>(bits(header, 17, 16)))
                                                      : Texel{};
        break;
      case Action::size:
        texel = job.size(where.level);
        break;
    }
    if (job.failed) {
      return SendOutcome::fault;
    }
    for (unsigned channel = 0, plane = 0; channel < 4; ++channel) {
      if ((off >> channel & 1) == 0) {
        call.response.put_dword(plane, lane, texel[channel]);
        plane += width / 8;
      }
    }
  }
  return SendOutcome::done;
}

}  // namespace halogen::message
