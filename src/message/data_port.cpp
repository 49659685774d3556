// Messages of the data cache ports that address memory lane by lane: untyped, scattered, atomic; by binding table or
// with 64-bit addresses.
#include <bit>
#include <cstring>

#include "message/atomic_op.h"
#include "message/parts.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using hw::DataPort0Message;
using hw::DataPort1Message;
using Offsets = std::array<uint64_t, kLanes>;

constexpr uint32_t kDwordMask = ~uint32_t{3};

SendOutcome outcome(bool done) {
  return done ? SendOutcome::done : SendOutcome::fault;
}

// Registers that one dword for each lane takes.
size_t registers_of(unsigned width) {
  return width / 8;
}

// Shared local memory has addresses of 16 bits: Intel's compiler sets others, so that no pointer is null.
constexpr uint64_t kLocalMask = 0xffff;

Offsets dword_offsets(const Call& call, uint8_t index, unsigned width, uint32_t mask, unsigned shift) {
  const uint64_t kept = index == kLocalMemory ? kLocalMask : ~uint64_t{0};
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
  return MemoryTarget::memory(*call.context.environment.space, 0);
}

// Dwords in a row for each lane, one plane of registers a channel that is on.
SendOutcome untyped_planes(Call& call, const MemoryTarget& target, Offsets offsets, unsigned width, size_t data,
                           uint8_t off, bool write) {
  const uint32_t lanes = call.lanes(width);
  size_t plane = 0;
  for (unsigned channel = 0; channel < 4; ++channel) {
    if ((off >> channel & 1) == 0) {
      std::array<uint32_t, kLanes> values{};
      if (write) {
        for (unsigned lane = 0; lane < width; ++lane) {
          values[lane] = call.payload.dword(data + plane, lane);
        }
        if (!target.write_lanes(lanes, offsets, 4, reinterpret_cast<const std::byte*>(values.data()))) {
          return SendOutcome::fault;
        }
      } else {
        if (!target.read_lanes(lanes, offsets, 4, reinterpret_cast<std::byte*>(values.data()))) {
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

SendOutcome untyped(Call& call, bool write) {
  const auto fields = call.as<hw::SURFACE_MESSAGE>();
  if (fields.simd_mode == hw::SURFACE_MESSAGE::SimdMode::simd4x2) {
    return call.unsupported("SIMD4x2");
  }
  const unsigned width = fields.simd_mode == hw::SURFACE_MESSAGE::SimdMode::simd16 ? 16 : 8;
  const std::optional<MemoryTarget> target = target_of(call, fields.binding_table_index, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  return untyped_planes(call, *target, dword_offsets(call, fields.binding_table_index, width, kDwordMask, 0), width,
                        call.data + registers_of(width), fields.channels_off, write);
}

SendOutcome a64_untyped(Call& call, bool write) {
  const auto fields = call.as<hw::SURFACE_MESSAGE>();
  if (fields.simd_mode == hw::SURFACE_MESSAGE::SimdMode::simd4x2) {
    return call.unsupported("SIMD4x2");
  }
  const unsigned width = fields.simd_mode == hw::SURFACE_MESSAGE::SimdMode::simd16 ? 16 : 8;
  return untyped_planes(call, all_memory(call), qword_offsets(call, width, ~uint64_t{3}), width,
                        call.data + 2 * registers_of(width), fields.channels_off, write);
}

// Elements of one size in a row for each lane, one plane of registers an element.
SendOutcome a64_scattered(Call& call, bool write) {
  using Element = hw::A64_SCATTERED_MESSAGE::Element;
  const auto fields = call.as<hw::A64_SCATTERED_MESSAGE>();
  const unsigned width = fields.simd16 ? 16 : 8;
  const unsigned count = 1u << fields.count;
  const uint32_t lanes = call.lanes(width);
  const MemoryTarget target = all_memory(call);
  const size_t data = call.data + 2 * registers_of(width);
  std::array<std::byte, kLanes * 8> values{};
  switch (fields.element) {
    case Element::byte: {
      // One element of 1, 2, 4 or 8 bytes, whatever its alignment, in the low bytes of a dword (or two).
      const Offsets offsets = qword_offsets(call, width, ~uint64_t{0});
      const unsigned slot = count > 4 ? 8 : 4;
      for (unsigned lane = 0; lane < width && write; ++lane) {
        const auto value = slot == 8 ? call.payload.qword(data, lane) : call.payload.dword(data, lane);
        std::memcpy(values.data() + lane * count, &value, count);
      }
      if (write) {
        return outcome(target.write_lanes(lanes, offsets, count, values.data()));
      }
      if (!target.read_lanes(lanes, offsets, count, values.data())) {
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
    default:
      return call.unsupported("no such element size");
  }
  const unsigned bytes = fields.element == Element::qword ? 8 : 4;
  Offsets offsets = qword_offsets(call, width, ~uint64_t{bytes - 1});
  const size_t plane_B = size_t{width} * bytes;
  for (unsigned element = 0; element < count; ++element) {
    if (write) {
      for (unsigned lane = 0; lane < width; ++lane) {
        const size_t at = data * eu::kGrfBytes + element * plane_B + lane * bytes;
        const uint64_t value = bytes == 8 ? call.payload.value<uint64_t>(at) : call.payload.value<uint32_t>(at);
        std::memcpy(values.data() + lane * bytes, &value, bytes);
      }
      if (!target.write_lanes(lanes, offsets, bytes, values.data())) {
        return SendOutcome::fault;
      }
    } else {
      if (!target.read_lanes(lanes, offsets, bytes, values.data())) {
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

// One operation for each lane, the lowest first.
template <class T, class Apply>
SendOutcome atomic_lanes(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width, size_t data,
                         Apply&& apply_to, bool returns, bool returns_new) {
  const size_t plane_B = width * sizeof(T);
  for (uint32_t rest = call.lanes(width); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const size_t at = data * eu::kGrfBytes + lane * sizeof(T);
    const T first = call.payload.value<T>(at);
    const T second = call.payload.value<T>(at + plane_B);
    const MemoryTarget::Spot spot = target.spot(offsets[lane], sizeof(T));
    if (spot.stopped) {
      return SendOutcome::fault;
    }
    T old = 0;
    if (spot.bytes != nullptr) {
      old = update<T>(spot.bytes, [&](T was) { return static_cast<T>(apply_to(was, first, second)); });
    }
    if (returns) {
      call.response.put<T>(lane * sizeof(T), returns_new ? static_cast<T>(apply_to(old, first, second)) : old);
    }
  }
  return SendOutcome::done;
}

template <class T>
SendOutcome integer_atomic(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width, size_t data,
                           const hw::ATOMIC_MESSAGE& fields) {
  const auto operation = static_cast<hw::DataPortAtomic>(fields.operation);
  if (operation == hw::DataPortAtomic::CMPWR_16B) {
    return call.unsupported("compare and write of two values at once");
  }
  return atomic_lanes<T>(
      call, target, offsets, width, data,
      [operation](T old, T first, T second) { return apply<T>(operation, old, first, second); }, fields.return_data,
      operation == hw::DataPortAtomic::PREDEC);
}

SendOutcome float_atomic(Call& call, const MemoryTarget& target, const Offsets& offsets, unsigned width, size_t data,
                         const hw::ATOMIC_MESSAGE& fields) {
  const auto operation = static_cast<hw::DataPortFloatAtomic>(fields.operation);
  switch (operation) {
    case hw::DataPortFloatAtomic::FMAX:
    case hw::DataPortFloatAtomic::FMIN:
    case hw::DataPortFloatAtomic::FCMPWR:
    case hw::DataPortFloatAtomic::FADD:
      break;
    default:
      return call.unsupported("no such float operation");
  }
  call.approximate("which of two equal zeros or of two NaN stays is not known");
  return atomic_lanes<uint32_t>(
      call, target, offsets, width, data,
      [operation](uint32_t old, uint32_t first, uint32_t second) { return apply_float(operation, old, first, second); },
      fields.return_data, false);
}

SendOutcome untyped_atomic(Call& call, bool floating) {
  const auto fields = call.as<hw::ATOMIC_MESSAGE>();
  const unsigned width = fields.simd8_or_quad ? 8 : 16;
  const std::optional<MemoryTarget> target = target_of(call, fields.binding_table_index, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  const Offsets offsets = dword_offsets(call, fields.binding_table_index, width, kDwordMask, 0);
  const size_t data = call.data + registers_of(width);
  return floating ? float_atomic(call, *target, offsets, width, data, fields)
                  : integer_atomic<uint32_t>(call, *target, offsets, width, data, fields);
}

SendOutcome a64_atomic(Call& call, bool floating) {
  const auto fields = call.as<hw::ATOMIC_MESSAGE>();
  constexpr unsigned kWidth = 8;
  const size_t data = call.data + 2;
  const MemoryTarget target = all_memory(call);
  const Offsets offsets = qword_offsets(call, kWidth, ~uint64_t{0});
  if (floating) {
    return float_atomic(call, target, offsets, kWidth, data, fields);
  }
  return fields.simd8_or_quad ? integer_atomic<uint64_t>(call, target, offsets, kWidth, data, fields)
                              : integer_atomic<uint32_t>(call, target, offsets, kWidth, data, fields);
}

// Addresses count dwords or bytes; data stand in the low bytes of a dword for each lane.
SendOutcome scattered(Call& call, unsigned bytes, unsigned shift, bool write) {
  const auto fields = call.as<hw::SCATTERED_MESSAGE>();
  const unsigned width = fields.simd16 ? 16 : 8;
  const std::optional<MemoryTarget> target = target_of(call, fields.binding_table_index, HeaderBase::added);
  if (!target) {
    return SendOutcome::fault;
  }
  const uint32_t lanes = call.lanes(width);
  const Offsets offsets = dword_offsets(call, fields.binding_table_index, width, ~uint32_t{0}, shift);
  std::array<std::byte, kLanes * 4> values{};
  if (write) {
    const size_t data = call.data + registers_of(width);
    for (unsigned lane = 0; lane < width; ++lane) {
      const uint32_t value = call.payload.dword(data, lane);
      std::memcpy(values.data() + lane * bytes, &value, bytes);
    }
    return outcome(target->write_lanes(lanes, offsets, bytes, values.data()));
  }
  if (!target->read_lanes(lanes, offsets, bytes, values.data())) {
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

SendOutcome byte_scattered(Call& call, bool write) {
  const unsigned size = call.as<hw::SCATTERED_MESSAGE>().size;
  return size > 2 ? call.unsupported("no such element size") : scattered(call, 1u << size, 0, write);
}

}  // namespace

SendOutcome data_port_0(Call& call) {
  if (call.as<hw::SCRATCH_MESSAGE>().is_scratch) {
    return scratch_block(call);
  }
  switch (static_cast<DataPort0Message>(call.type)) {
    case DataPort0Message::OWORD_BLOCK_READ:
      return oword_block(call, false, false);
    case DataPort0Message::UNALIGNED_OWORD_BLOCK_READ:
      return oword_block(call, false, true);
    case DataPort0Message::OWORD_BLOCK_WRITE:
      return oword_block(call, true, false);
    case DataPort0Message::DWORD_SCATTERED_READ:
      return scattered(call, 4, 2, false);
    case DataPort0Message::DWORD_SCATTERED_WRITE:
      return scattered(call, 4, 2, true);
    case DataPort0Message::BYTE_SCATTERED_READ:
      return byte_scattered(call, false);
    case DataPort0Message::BYTE_SCATTERED_WRITE:
      return byte_scattered(call, true);
    case DataPort0Message::MEMORY_FENCE:
      call.response.clear();  // all is done that came before
      return SendOutcome::done;
    case DataPort0Message::OWORD_DUAL_BLOCK_READ:
    case DataPort0Message::OWORD_DUAL_BLOCK_WRITE:
      break;
  }
  return call.unsupported("this message is not there yet");
}

SendOutcome constant_cache(Call& call) {
  switch (static_cast<DataPort0Message>(call.type)) {
    case DataPort0Message::OWORD_BLOCK_READ:
      return oword_block(call, false, false);
    case DataPort0Message::UNALIGNED_OWORD_BLOCK_READ:
      return oword_block(call, false, true);
    case DataPort0Message::DWORD_SCATTERED_READ:
      return scattered(call, 4, 2, false);
    default:
      return call.unsupported("this message is not there yet");
  }
}

SendOutcome data_port_1(Call& call) {
  switch (static_cast<DataPort1Message>(call.type)) {
    case DataPort1Message::UNTYPED_SURFACE_READ:
      return untyped(call, false);
    case DataPort1Message::UNTYPED_SURFACE_WRITE:
      return untyped(call, true);
    case DataPort1Message::UNTYPED_ATOMIC:
      return untyped_atomic(call, false);
    case DataPort1Message::UNTYPED_FLOAT_ATOMIC:
      return untyped_atomic(call, true);
    case DataPort1Message::A64_SCATTERED_READ:
      return a64_scattered(call, false);
    case DataPort1Message::A64_SCATTERED_WRITE:
      return a64_scattered(call, true);
    case DataPort1Message::A64_UNTYPED_SURFACE_READ:
      return a64_untyped(call, false);
    case DataPort1Message::A64_UNTYPED_SURFACE_WRITE:
      return a64_untyped(call, true);
    case DataPort1Message::A64_UNTYPED_ATOMIC:
      return a64_atomic(call, false);
    case DataPort1Message::A64_UNTYPED_FLOAT_ATOMIC:
      return a64_atomic(call, true);
    case DataPort1Message::A64_BLOCK_READ:
      return a64_block(call, false);
    case DataPort1Message::A64_BLOCK_WRITE:
      return a64_block(call, true);
    case DataPort1Message::TYPED_SURFACE_READ:
      return typed_access(call, false);
    case DataPort1Message::TYPED_SURFACE_WRITE:
      return typed_access(call, true);
    case DataPort1Message::TYPED_ATOMIC:
      return typed_atomic(call);
    case DataPort1Message::TRANSPOSE_READ:
    case DataPort1Message::UNTYPED_ATOMIC_SIMD4X2:
    case DataPort1Message::MEDIA_BLOCK_READ:
    case DataPort1Message::TYPED_ATOMIC_SIMD4X2:
    case DataPort1Message::MEDIA_BLOCK_WRITE:
    case DataPort1Message::ATOMIC_COUNTER:
    case DataPort1Message::ATOMIC_COUNTER_SIMD4X2:
    case DataPort1Message::A64_UNTYPED_ATOMIC_SIMD4X2:
    case DataPort1Message::UNTYPED_FLOAT_ATOMIC_SIMD4X2:
    case DataPort1Message::A64_UNTYPED_FLOAT_ATOMIC_SIMD4X2:
      break;
  }
  return call.unsupported("this message is not there yet");
}

}  // namespace halogen::message
