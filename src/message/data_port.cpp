// Messages of the data cache ports that address memory lane by lane: untyped, scattered, atomic; by binding table or
// with 64-bit addresses.
#include <bit>
#include <cstring>
#include <type_traits>

#include "message/atomic_op.h"
#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Type = eu::MessageControl::Type;
using Simd = eu::MessageControl::Simd;
using Offsets = std::array<uint64_t, kLanes>;

constexpr uint32_t kDwordMask = ~uint32_t{3};

SendOutcome outcome(memory::AccessResult result) {
  return ok(result) ? SendOutcome::done : SendOutcome::fault;
}

// Returns the number of registers that hold one dword per lane.
size_t registers_of(unsigned width) {
  return width / 8;
}

// Addresses in shared local memory have 16 bits. Intel's compiler sets higher bits so that no pointer is null.
constexpr uint64_t kLocalMask = 0xffff;

Offsets dword_offsets(const Call& call, uint8_t index, unsigned width, uint32_t mask, unsigned shift) {
  const uint64_t kept = call.binding(index) == Binding::local_memory ? kLocalMask : ~uint64_t{0};
  Offsets offsets{};
  for (unsigned lane = 0; lane < width; ++lane) {
    offsets[lane] = (uint64_t{call.payload.dword(call.data, lane) & mask} << shift) & kept;
  }
  return offsets;
}

Offsets qword_offsets(const Call& call, unsigned width, uint64_t mask) {
  Offsets offsets{};
  for (unsigned lane = 0; lane < width; ++lane) {
    offsets[lane] = call.payload.qword(call.data, lane) & mask;
  }
  return offsets;
}

MemoryTarget all_memory(const Call& call) {
  return MemoryTarget::memory(*call.context.environment.space, 0, call.touched);
}

// Moves consecutive dwords of each lane. Each enabled channel has its own registers.
SendOutcome untyped_planes(Call& call, const MemoryTarget& target, Offsets offsets, unsigned width, size_t data,
                           uint8_t off, Direction direction) {
  const uint32_t lanes = call.lanes(width);
  size_t plane = 0;
  for (unsigned channel = 0; channel < 4; ++channel) {
    if ((off >> channel & 1) == 0) {
      std::array<uint32_t, kLanes> values{};
      if (direction == Direction::write) {
        for (unsigned lane = 0; lane < width; ++lane) {
          values[lane] = call.payload.dword(data + plane, lane);
        }
        if (!ok(target.write_lanes(lanes, offsets, 4, reinterpret_cast<const std::byte*>(values.data())))) {
          return SendOutcome::fault;
        }
      } else {
        if (!ok(target.read_lanes(lanes, offsets, 4, reinterpret_cast<std::byte*>(values.data())))) {
          return SendOutcome::fault;
        }
        for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<unsigned>(std::countr_zero(rest));
          call.response.put_dword(plane, lane, values[lane]);
        }
      }
      plane += registers_of(width);
    }
    for (uint64_t& offset : offsets) {
      offset += 4;
    }
  }
  return SendOutcome::done;
}

SendOutcome untyped(Call& call, Direction direction) {
  if (call.control.simd == Simd::simd4x2) {
    return untyped_pair(call, direction);
  }
  const unsigned width = width_of(call);
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  return untyped_planes(call, *target, dword_offsets(call, call.control.surface, width, kDwordMask, 0), width,
                        call.data + registers_of(width), call.control.mask_off, direction);
}

SendOutcome a64_untyped(Call& call, Direction direction) {
  if (call.control.simd == Simd::simd4x2) {
    return call.unsupported("SIMD4x2 not implemented");
  }
  const unsigned width = width_of(call);
  return untyped_planes(call, all_memory(call), qword_offsets(call, width, ~uint64_t{3}), width,
                        call.data + 2 * registers_of(width), call.control.mask_off, direction);
}

unsigned count_of(eu::MessageControl::Count word) {
  using Count = eu::MessageControl::Count;
  switch (word) {
    case Count::n2:
      return 2;
    case Count::n4:
      return 4;
    case Count::n8:
      return 8;
    case Count::n1:
    case Count::other:
      break;
  }
  return 1;
}

// Moves consecutive elements of one size for each lane. Each element has its own registers.
SendOutcome a64_scattered(Call& call, Direction direction) {
  using Element = eu::MessageControl::Element;
  const unsigned width = width_of(call);
  const unsigned count = count_of(call.control.count);
  const uint32_t lanes = call.lanes(width);
  const MemoryTarget target = all_memory(call);
  const size_t data = call.data + 2 * registers_of(width);
  std::array<std::byte, kLanes * 8> values{};
  switch (call.control.element) {
    case Element::byte: {
      // An element of 1, 2, 4 or 8 bytes with any alignment, in the low bytes of one or two dwords.
      const Offsets offsets = qword_offsets(call, width, ~uint64_t{0});
      const unsigned slot = count > 4 ? 8 : 4;
      for (unsigned lane = 0; lane < width && direction == Direction::write; ++lane) {
        const auto value = slot == 8 ? call.payload.qword(data, lane) : call.payload.dword(data, lane);
        std::memcpy(values.data() + lane * count, &value, count);
      }
      if (direction == Direction::write) {
        return outcome(target.write_lanes(lanes, offsets, count, values.data()));
      }
      if (!ok(target.read_lanes(lanes, offsets, count, values.data()))) {
        return SendOutcome::fault;
      }
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        uint64_t value = 0;
        std::memcpy(&value, values.data() + lane * count, count);
        if (slot == 8) {
          call.response.put<uint64_t>(lane * 8, value);
        } else {
          call.response.put<uint32_t>(lane * 4, static_cast<uint32_t>(value));
        }
      }
      return SendOutcome::done;
    }
    case Element::dword:
    case Element::qword:
      break;
    case Element::other:
      return call.unsupported("undefined element size");
  }
  const unsigned bytes = call.control.element == Element::qword ? 8 : 4;
  Offsets offsets = qword_offsets(call, width, ~uint64_t{bytes - 1});
  const size_t plane_B = size_t{width} * bytes;
  for (unsigned element = 0; element < count; ++element) {
    if (direction == Direction::write) {
      for (unsigned lane = 0; lane < width; ++lane) {
        const size_t at = data * eu::kGrfBytes + element * plane_B + lane * bytes;
        const uint64_t value = bytes == 8 ? call.payload.value<uint64_t>(at) : call.payload.value<uint32_t>(at);
        std::memcpy(values.data() + lane * bytes, &value, bytes);
      }
      if (!ok(target.write_lanes(lanes, offsets, bytes, values.data()))) {
        return SendOutcome::fault;
      }
    } else {
      if (!ok(target.read_lanes(lanes, offsets, bytes, values.data()))) {
        return SendOutcome::fault;
      }
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        call.response.put_bytes(element * plane_B + lane * bytes, std::span(values).subspan(lane * bytes, bytes));
      }
    }
    for (uint64_t& offset : offsets) {
      offset += bytes;
    }
  }
  return SendOutcome::done;
}

// Register space of an operand or result of a lane: at least a dword. The upper half is unused for 16-bit values.
template <class T>
using SlotOf = std::conditional_t<sizeof(T) == 2, uint32_t, T>;

// Performs one operation per lane, the lowest lane first. All addresses are translated before any value changes,
// because a message that faults is sent again as a whole.
template <class T, class Apply>
SendOutcome atomic_lanes(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width, size_t data,
                         Apply&& apply_to, bool returns, bool returns_new) {
  using Slot = SlotOf<T>;
  const size_t plane_B = width * sizeof(Slot);
  std::array<std::byte*, kLanes> places{};
  for (uint32_t rest = call.lanes(width); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const MemoryTarget::Spot spot = target.spot(offsets[lane], sizeof(T));
    if (!ok(spot.result)) {
      return SendOutcome::fault;
    }
    places[lane] = spot.bytes;
  }
  call.count_atomic();
  for (uint32_t rest = call.lanes(width); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const size_t at = data * eu::kGrfBytes + lane * sizeof(Slot);
    const T first = call.payload.value<T>(at);
    const T second = call.payload.value<T>(at + plane_B);
    T result = 0;  // returned for an address outside the surface
    if (places[lane] != nullptr) {
      const T old = update<T>(places[lane], [&](T was) { return static_cast<T>(apply_to(was, first, second)); });
      result = returns_new ? static_cast<T>(apply_to(old, first, second)) : old;
    }
    if (returns) {
      call.response.put<Slot>(lane * sizeof(Slot), result);
    }
  }
  return SendOutcome::done;
}

template <class T>
SendOutcome integer_atomic(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width,
                           size_t data) {
  const Operation operation = call.control.operation;
  if (operation == Operation::cmpwr_16b) {
    return call.unsupported("compare and write of two values not implemented");
  }
  return atomic_lanes<T>(
      call, target, offsets, width, data,
      [operation](T old, T first, T second) { return apply<T>(operation, old, first, second); }, call.control.returns,
      operation == Operation::predec);
}

template <class T>
SendOutcome float_atomic(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width, size_t data) {
  const Operation operation = call.control.operation;
  switch (operation) {
    case Operation::fmax:
    case Operation::fmin:
    case Operation::fcmpwr:
    case Operation::fadd:
      break;
    default:
      return call.unsupported("undefined float operation");
  }
  call.approximate("result for two zeros or two NaNs not published");
  return atomic_lanes<T>(
      call, target, offsets, width, data,
      [operation](T old, T first, T second) {
        if constexpr (sizeof(T) == sizeof(uint32_t)) {
          return apply_float(operation, old, first, second);
        } else {
          return apply_half(operation, old, first, second);
        }
      },
      call.control.returns, false);
}

template <class T>
SendOutcome untyped_atomic(Call& call, bool floating) {
  const unsigned width = width_of(call);
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  const auto mask = ~static_cast<uint32_t>(sizeof(T) - 1);
  const Offsets offsets = dword_offsets(call, call.control.surface, width, mask, 0);
  const size_t data = call.data + registers_of(width);
  return floating ? float_atomic<T>(call, *target, offsets, width, data)
                  : integer_atomic<T>(call, *target, offsets, width, data);
}

template <class T>
SendOutcome a64_atomic(Call& call, bool floating) {
  constexpr unsigned kWidth = 8;
  const size_t data = call.data + 2;
  const MemoryTarget target = all_memory(call);
  const Offsets offsets = qword_offsets(call, kWidth, ~uint64_t{0});
  if (floating) {
    return float_atomic<T>(call, target, offsets, kWidth, data);
  }
  return call.control.qword && sizeof(T) == sizeof(uint32_t)
             ? integer_atomic<uint64_t>(call, target, offsets, kWidth, data)
             : integer_atomic<T>(call, target, offsets, kWidth, data);
}

// Moves one element per lane. Offsets count dwords or bytes. Data are in the low bytes of a dword per lane.
SendOutcome scattered(Call& call, unsigned bytes, unsigned shift, Direction direction) {
  const unsigned width = width_of(call);
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::added);
  if (!target) {
    return SendOutcome::fault;
  }
  const uint32_t lanes = call.lanes(width);
  const Offsets offsets = dword_offsets(call, call.control.surface, width, ~uint32_t{0}, shift);
  std::array<std::byte, kLanes * 4> values{};
  if (direction == Direction::write) {
    const size_t data = call.data + registers_of(width);
    for (unsigned lane = 0; lane < width; ++lane) {
      const uint32_t value = call.payload.dword(data, lane);
      std::memcpy(values.data() + lane * bytes, &value, bytes);
    }
    return outcome(target->write_lanes(lanes, offsets, bytes, values.data()));
  }
  if (!ok(target->read_lanes(lanes, offsets, bytes, values.data()))) {
    return SendOutcome::fault;
  }
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    uint32_t value = 0;
    std::memcpy(&value, values.data() + lane * bytes, bytes);
    call.response.put<uint32_t>(lane * 4, value);
  }
  return SendOutcome::done;
}

SendOutcome byte_scattered(Call& call, Direction direction) {
  using Bytes = eu::MessageControl::Bytes;
  switch (call.control.bytes) {
    case Bytes::n1:
      return scattered(call, 1, 0, direction);
    case Bytes::n2:
      return scattered(call, 2, 0, direction);
    case Bytes::n4:
      return scattered(call, 4, 0, direction);
    case Bytes::other:
      break;
  }
  return call.unsupported("undefined element size");
}

// Gen4 to Gen6: writes one vertex of a stream. The format of the buffer determines the number of dwords.
SendOutcome streamed_write(Call& call) {
  const Surface* const surface = call.context.surfaces.find(*call.context.generation, call.context.environment,
                                                            call.control.surface, call.message.extended);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  constexpr size_t kMax = 16;
  const uint64_t index = call.header<hw::STREAMED_VERTEX_HEADER>().index;
  const size_t bytes = std::min<size_t>(surface->format->bytes(), kMax);
  call.response.clear();
  if (surface->kind != Surface::Kind::buffer || index >= surface->elements) {
    return SendOutcome::done;
  }
  const MemoryTarget target =
      MemoryTarget::buffer(*call.context.environment.space, surface->base, surface->bytes, call.touched);
  const std::span<const std::byte> sent = call.payload.from(0);
  return outcome(target.write(index * surface->element_B, sent.first(std::min(bytes, sent.size()))));
}

}  // namespace

SendOutcome data_port(Call& call) {
  switch (call.control.type) {
    case Type::oword_block_read:
      return oword_block(call, Direction::read, false);
    case Type::unaligned_oword_block_read:
      return oword_block(call, Direction::read, true);
    case Type::oword_block_write:
      return oword_block(call, Direction::write, false);
    case Type::oword_dual_block_read:
      return dual_block(call, Direction::read);
    case Type::oword_dual_block_write:
      return dual_block(call, Direction::write);
    case Type::media_block_read:
      return media_block(call, Direction::read);
    case Type::media_block_write:
      return media_block(call, Direction::write);
    case Type::streamed_vb_write:
      return streamed_write(call);
    case Type::flush:
      call.response.clear();
      return SendOutcome::done;
    case Type::scratch_read:
      return scratch_block(call, Direction::read);
    case Type::scratch_write:
      return scratch_block(call, Direction::write);
    case Type::dword_scattered_read:
      return scattered(call, 4, 2, Direction::read);
    case Type::dword_scattered_write:
      return scattered(call, 4, 2, Direction::write);
    case Type::byte_scattered_read:
      return byte_scattered(call, Direction::read);
    case Type::byte_scattered_write:
      return byte_scattered(call, Direction::write);
    case Type::fence:
      call.response.clear();  // all earlier messages are complete
      return SendOutcome::done;
    case Type::untyped_read:
      return untyped(call, Direction::read);
    case Type::untyped_write:
      return untyped(call, Direction::write);
    case Type::untyped_atomic:
      return untyped_atomic<uint32_t>(call, false);
    case Type::untyped_float_atomic:
      return untyped_atomic<uint32_t>(call, true);
    case Type::untyped_half_atomic:
      return untyped_atomic<uint16_t>(call, false);
    case Type::untyped_half_float_atomic:
      return untyped_atomic<uint16_t>(call, true);
    case Type::untyped_atomic_4x2:
      return untyped_atomic_pair(call);
    case Type::a64_scattered_read:
      return a64_scattered(call, Direction::read);
    case Type::a64_scattered_write:
      return a64_scattered(call, Direction::write);
    case Type::a64_untyped_read:
      return a64_untyped(call, Direction::read);
    case Type::a64_untyped_write:
      return a64_untyped(call, Direction::write);
    case Type::a64_untyped_atomic:
      return a64_atomic<uint32_t>(call, false);
    case Type::a64_float_atomic:
      return a64_atomic<uint32_t>(call, true);
    case Type::a64_half_atomic:
      return a64_atomic<uint16_t>(call, false);
    case Type::a64_half_float_atomic:
      return a64_atomic<uint16_t>(call, true);
    case Type::a64_block_read:
      return a64_block(call, Direction::read);
    case Type::a64_block_write:
      return a64_block(call, Direction::write);
    case Type::typed_read:
      return typed_access(call, Direction::read);
    case Type::typed_write:
      return typed_access(call, Direction::write);
    case Type::typed_atomic:
      return typed_atomic(call);
    default:
      return call.unsupported("message type not implemented");
  }
}

}  // namespace halogen::message
