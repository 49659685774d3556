// Typed messages: texels of images and buffers, eight lanes at a time. Coordinates outside the surface read zero and
// write nothing. The slot group does not affect which lane belongs to which channel.
#include <array>
#include <bit>

#include "message/atomic_op.h"
#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr unsigned kWidth = 8;
constexpr size_t kRoom = 64;  // buffer for a texel: one cache line

// Returns the lanes that the header's sample mask enables. The slot group selects the low or the high byte.
uint32_t lanes_of(const Call& call, bool high) {
  const uint32_t mask =
      call.has_header() ? uint32_t{call.header<hw::DATA_PORT_HEADER>().mask} >> (high ? kWidth : 0) : ~uint32_t{0};
  return call.lanes(kWidth) & mask;
}

unsigned coordinates_of(const Surface& surface) {
  switch (surface.type) {
    case hw::SurfaceType::SURFTYPE_2D:
      return surface.array ? 3 : 2;
    case hw::SurfaceType::SURFTYPE_3D:
    case hw::SurfaceType::SURFTYPE_CUBE:
      return 3;
    case hw::SurfaceType::SURFTYPE_1D:
      return surface.array ? 2 : 1;
    default:
      return 1;
  }
}

struct Spot {
  bool inside = false;
  uint64_t address = 0;
};

Spot spot_of(const Surface& surface, const std::array<uint32_t, 3>& at) {
  if (surface.kind == Surface::Kind::buffer) {
    const uint64_t offset = uint64_t{at[0]} * surface.element_B;
    return {at[0] < surface.elements && offset + surface.format->bytes() <= surface.bytes, surface.base + offset};
  }
  if (surface.kind == Surface::Kind::none) {
    return {};
  }
  const uint32_t level = surface.first_level;
  const bool line = surface.type == hw::SurfaceType::SURFTYPE_1D;
  const uint32_t y = line ? 0 : at[1];
  const unsigned layer_at = line ? 1 : 2;
  const bool has_layer = coordinates_of(surface) > layer_at;
  const uint32_t layer = has_layer ? at[layer_at] : 0;
  const uint32_t layers = surface.volume() ? surface.level_depth(level) : surface.render_layers;
  if (at[0] >= surface.level_width(level) || y >= surface.level_height(level) || (has_layer && layer >= layers)) {
    return {};
  }
  return {true, texel_address(surface, at[0], y, layer, level)};
}

const Surface* surface_of(Call& call, uint8_t index) {
  const Surface* const surface =
      call.context.surfaces.find(*call.context.generation, call.context.environment, index, call.message.extended);
  if (surface != nullptr && !call.context.surfaces.make_plain(surface, *call.context.environment.space)) {
    return nullptr;
  }
  return surface;
}

// Returns the number of coordinate registers, which the length of the message determines. Data follow them.
size_t coordinate_registers(const Call& call, size_t data_registers) {
  const size_t sent = (call.message.first.size() + call.message.second.size()) / eu::kGrfBytes;
  const size_t rest = sent > call.data + data_registers ? sent - call.data - data_registers : 1;
  return std::min<size_t>(rest, 4);
}

std::array<uint32_t, 3> coordinates(const Call& call, size_t count, unsigned lane) {
  std::array<uint32_t, 3> at{};
  for (size_t i = 0; i < std::min<size_t>(count, at.size()); ++i) {
    at[i] = call.payload.dword(call.data + i, lane);
  }
  return at;
}

}  // namespace

SendOutcome typed_access(Call& call, Direction direction) {
  const Surface* const surface = surface_of(call, call.control.surface);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  if (surface->kind != Surface::Kind::none && !surface->format->known()) {
    return call.unsupported("surface format not valid for typed messages");
  }
  if (surface->states.form != surface::StateForm::none) {
    return call.unsupported("typed message to a surface too large to fill its clear blocks");
  }
  const bool high = call.control.slots == eu::MessageControl::Slots::high;
  const auto planes = static_cast<size_t>(4 - std::popcount(call.control.mask_off));
  const size_t count = coordinate_registers(call, direction == Direction::write ? planes : 0);
  memory::AddressSpace& space = *call.context.environment.space;
  for (uint32_t rest = lanes_of(call, high); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Spot spot = spot_of(*surface, coordinates(call, count, lane));
    std::array<std::byte, kRoom> bytes{};
    const std::span texel_bytes = std::span(bytes).first(spot.inside ? surface->format->bytes() : 0);
    surface::Texel texel{};
    if (direction == Direction::write) {
      for (unsigned channel = 0, plane = 0; channel < 4; ++channel) {
        if ((call.control.mask_off >> channel & 1) == 0) {
          texel[channel] = call.payload.dword(call.data + count + plane++, lane);
        }
      }
      if (spot.inside) {
        call.touch(spot.address, texel_bytes.size());
        surface::pack_texel(*surface->format, texel, bytes.data());
        if (!ok(space.write(wrapped_address(spot.address), texel_bytes))) {
          return SendOutcome::fault;
        }
      }
      continue;
    }
    if (spot.inside) {
      call.touch(spot.address, texel_bytes.size());
      if (!ok(space.read(wrapped_address(spot.address), texel_bytes))) {
        return SendOutcome::fault;
      }
      texel = surface::unpack_texel(*surface->format, bytes.data());
    }
    for (unsigned channel = 0, plane = 0; channel < 4; ++channel) {
      if ((call.control.mask_off >> channel & 1) == 0) {
        call.response.put_dword(plane++, lane, texel[channel]);
      }
    }
  }
  return SendOutcome::done;
}

SendOutcome typed_atomic(Call& call) {
  const Surface* const surface = surface_of(call, call.control.surface);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  if (surface->states.form != surface::StateForm::none) {
    return call.unsupported("typed message to a surface too large to fill its clear blocks");
  }
  const auto operation = call.control.operation;
  if (operation == Operation::cmpwr_16b || (surface->kind != Surface::Kind::none && surface->format->bytes() != 4)) {
    return call.unsupported("typed atomic on texels other than 32 bits not implemented");
  }
  const size_t count = coordinate_registers(call, operands_of(operation));
  memory::AddressSpace& space = *call.context.environment.space;
  const uint32_t lanes = lanes_of(call, call.control.slots_high);
  std::array<std::byte*, kWidth> places{};  // translated before any value changes
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Spot spot = spot_of(*surface, coordinates(call, count, lane));
    if (!spot.inside || spot.address % sizeof(uint32_t) != 0) {
      continue;
    }
    call.touch(spot.address, sizeof(uint32_t));
    const memory::AddressSpace::View view = space.view(wrapped_address(spot.address), memory::kWrite);
    if (!ok(view.result)) {
      return SendOutcome::fault;
    }
    places[lane] = view.bytes.size() >= sizeof(uint32_t) ? view.bytes.data() : nullptr;
  }
  call.count_atomic();
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const uint32_t first = call.payload.dword(call.data + count, lane);
    const uint32_t second = call.payload.dword(call.data + count + 1, lane);
    uint32_t result = 0;  // returned for coordinates outside the surface
    if (places[lane] != nullptr) {
      const uint32_t old =
          update<uint32_t>(places[lane], [&](uint32_t was) { return apply<uint32_t>(operation, was, first, second); });
      result = operation == Operation::predec ? old - 1 : old;
    }
    if (call.control.returns) {
      call.response.put_dword(0, lane, result);
    }
  }
  return SendOutcome::done;
}

}  // namespace halogen::message
