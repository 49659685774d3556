#include "eu/exec/general/operands.h"

#include <cmath>
#include <cstring>

#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

template <class T, size_t N>
void to_scratch(Storage& storage, const std::array<T, N>& words) {
  static_assert(sizeof(words) <= sizeof(storage.scratch));
  std::memcpy(storage.scratch.data(), words.data(), sizeof(words));
}

template <class Array>
void whole(Storage& storage, Array& array, int32_t base) {
  storage.data = std::as_writable_bytes(std::span(array)).data();
  storage.bytes = static_cast<int32_t>(sizeof(array));
  storage.base = base;
}

uint32_t channel_enables(const Thread& thread) {
  return thread.active | ~thread.dispatch_mask;
}

// Words of a mask stack, as the registers of Gen4 and 5 show them.
void masks_to_scratch(Storage& storage, const MaskStacks& masks, Arf kind, unsigned number) {
  std::array<uint16_t, 32> words{};
  if (kind == Arf::mask) {
    words = {static_cast<uint16_t>(masks.active & masks.if_mask & masks.loop_mask & masks.continue_mask),
             static_cast<uint16_t>(masks.if_mask), static_cast<uint16_t>(masks.loop_mask),
             static_cast<uint16_t>(masks.continue_mask)};
  } else if (kind == Arf::mask_stack) {
    const auto& stack = number == 0 ? masks.if_stack : masks.loop_stack;
    for (size_t i = 0; i < stack.size(); ++i) {
      words[i] = static_cast<uint16_t>(stack[i]);
    }
  } else {
    words[0] = masks.if_depth;
    words[1] = masks.loop_depth;
  }
  to_scratch(storage, words);
}

void locate_arf(Frame& frame, const Prepared& prepared, const Operand& operand, Storage& storage) {
  Thread& thread = frame.thread;
  const auto number = static_cast<int32_t>(operand.reg & 0xf);
  const auto sub = static_cast<int32_t>(operand.sub);
  storage.data = storage.scratch.data();
  storage.bytes = static_cast<int32_t>(storage.scratch.size());
  storage.base = sub;
  switch (static_cast<Arf>(operand.reg >> 4)) {
    case Arf::address:
      whole(storage, thread.address, sub);
      storage.bytes = frame.rules.address_words * 2;
      break;
    case Arf::accumulator:
      whole(storage, thread.accumulator, number * static_cast<int32_t>(kGrfBytes) + sub);
      storage.bytes = frame.rules.accumulators * static_cast<int32_t>(kGrfBytes);
      break;
    case Arf::flag:
      whole(storage, thread.flag, number * 4 + sub);
      storage.bytes = frame.rules.flag_registers * 4;
      break;
    case Arf::mask:
      if (frame.rules.channel_enable_register) {
        to_scratch(storage, std::array{channel_enables(thread) >> (prepared.in.first_channel & 31)});
      } else {
        masks_to_scratch(storage, thread.masks, Arf::mask, 0);
      }
      break;
    case Arf::mask_stack:
      if (frame.rules.channel_enable_register) {
        whole(storage, thread.message_control, sub);
      } else {
        masks_to_scratch(storage, thread.masks, Arf::mask_stack, static_cast<unsigned>(number));
      }
      break;
    case Arf::stack_depth:
      if (frame.rules.channel_enable_register) {
        whole(storage, thread.stack_pointer, sub);
      } else {
        masks_to_scratch(storage, thread.masks, Arf::stack_depth, 0);
      }
      break;
    case Arf::state:
      whole(storage, thread.state, number * 16 + sub);
      storage.bytes = frame.rules.channel_enable_register ? 32 : 16;  // sr1 came with it
      break;
    case Arf::control:
      whole(storage, thread.control, sub);
      break;
    case Arf::notification:
      whole(storage, thread.notification, sub);
      storage.bytes = 12;
      break;
    case Arf::ip:
      to_scratch(storage, std::array{prepared.offset});
      break;
    case Arf::thread_dependency:
      whole(storage, thread.dependency, sub);
      storage.bytes = 16;
      break;
    case Arf::timestamp:
      to_scratch(storage, std::array{static_cast<uint32_t>(thread.instructions),
                                     static_cast<uint32_t>(thread.instructions >> 32)});
      break;
    case Arf::flow_control:
      to_scratch(storage, std::array{thread.active});
      break;
    case Arf::debug:
      whole(storage, thread.debug, sub);
      break;
    case Arf::null:
      break;
  }
}

}  // namespace

void locate(Frame& frame, const Prepared& prepared, const Operand& operand, Storage& storage) {
  Thread& thread = frame.thread;
  if (operand.indirect || operand.file == File::grf) {
    if (operand.file == File::mrf) {
      whole(storage, thread.mrf, 0);
    } else {
      whole(storage, thread.grf, operand.indirect ? 0 : operand.reg * static_cast<int32_t>(kGrfBytes) + operand.sub);
    }
    return;
  }
  if (operand.file == File::mrf) {
    // Bit 7 (COMPR4) is about the second half only: element_offset.
    whole(storage, thread.mrf, (operand.reg & 0x7f) * static_cast<int32_t>(kGrfBytes) + operand.sub);
    return;
  }
  if (operand.file == File::arf) {
    locate_arf(frame, prepared, operand, storage);
  }
}

bool commit(Frame& frame, const Operand& operand, Storage& storage) {
  if (operand.file != File::arf || operand.indirect) {
    return false;
  }
  Thread& thread = frame.thread;
  const auto word = [&](size_t index) {
    uint16_t value = 0;
    std::memcpy(&value, storage.scratch.data() + 2 * index, sizeof(value));
    return value;
  };
  switch (static_cast<Arf>(operand.reg >> 4)) {
    case Arf::control:
      frame.mode = float_mode(thread, frame.rules);
      return false;
    case Arf::mask:
      if (!frame.rules.channel_enable_register) {
        // The A mask is an intersection: what is written there becomes its own part of it.
        if (operand.sub == 0) {
          thread.masks.active = word(0);
        }
        thread.masks.if_mask = word(1);
        thread.masks.loop_mask = word(2);
        thread.masks.continue_mask = word(3);
      }
      return false;
    case Arf::mask_stack:
      if (!frame.rules.channel_enable_register) {
        auto& stack = (operand.reg & 0xf) == 0 ? thread.masks.if_stack : thread.masks.loop_stack;
        for (size_t i = 0; i < stack.size(); ++i) {
          stack[i] = word(i);
        }
      }
      return false;
    case Arf::stack_depth:
      if (!frame.rules.channel_enable_register) {
        thread.masks.if_depth = static_cast<uint8_t>(word(0) % (kMaskStack + 1));
        thread.masks.loop_depth = static_cast<uint8_t>(word(1) % (kMaskStack + 1));
      }
      return false;
    case Arf::ip:
      if (frame.rules.ip_writes_jump) {
        std::memcpy(&thread.ip, storage.scratch.data(), sizeof(thread.ip));
        return true;
      }
      return false;
    default:
      return false;
  }
}

int32_t element_offset(const Thread& thread, const Prepared& prepared, const Operand& operand, const Storage& storage,
                       unsigned lane, bool is_destination) {
  const auto size = static_cast<int32_t>(traits(operand.type).bytes);
  int32_t base = storage.base;
  const auto lane_number = static_cast<int32_t>(lane);
  const Region& region = operand.region;
  const int32_t width = region.width == 0 ? 1 : region.width;
  if (operand.indirect) {
    int32_t word = operand.address_sub;
    if (!is_destination && region.vertical_by_address) {
      word += lane_number / width;
    }
    base = thread.address[static_cast<size_t>(word) & 15] + operand.address_offset;
  }
  if (is_macro(prepared.in)) {
    return base + lane_number * size;
  }
  if (prepared.in.align16) {
    if (!is_destination && width == 1) {
      return base;
    }
    // Four components of up to 32 bits make a group; 64-bit elements take two.
    const int32_t components = size == 8 ? 2 : 4;
    const int32_t group = lane_number / components;
    const int32_t component = lane_number % components;
    if (is_destination) {
      return base + lane_number * size;
    }
    const int32_t chosen = size == 8 ? operand.swizzle[static_cast<size_t>(component) * 2 % 4] / 2
                                     : operand.swizzle[static_cast<size_t>(component) % 4] & 3;
    return base + (region.vertical == 0 ? 0 : group * components * size) + chosen * size;
  }
  if (is_destination) {
    int32_t offset = base + lane_number * region.horizontal * size;
    if (operand.file == File::mrf && (operand.reg & 0x80) != 0 && lane >= 8) {
      offset += 3 * static_cast<int32_t>(kGrfBytes);  // COMPR4: four registers on, not one
    }
    return offset;
  }
  const int32_t row = lane_number / width;
  const int32_t column = lane_number % width;
  const int32_t vertical = operand.indirect && region.vertical_by_address ? 0 : region.vertical;
  return base + (row * vertical + column * region.horizontal) * size;
}

uint64_t load_bits(const Storage& storage, int32_t offset, unsigned bytes) {
  uint64_t bits = 0;
  if (offset >= 0 && offset + static_cast<int32_t>(bytes) <= storage.bytes) {
    std::memcpy(&bits, storage.data + offset, bytes);
  }
  return bits;
}

void store_bits(Storage& storage, int32_t offset, unsigned bytes, uint64_t bits) {
  if (offset >= 0 && offset + static_cast<int32_t>(bytes) <= storage.bytes) {
    std::memcpy(storage.data + offset, &bits, bytes);
  }
}

uint64_t immediate_bits(const Operand& operand, unsigned lane) {
  const uint64_t imm = operand.immediate;
  switch (operand.type) {
    case Type::v: {
      const auto nibble = static_cast<int32_t>((imm >> (4 * (lane & 7))) & 0xf);
      return static_cast<uint64_t>(nibble >= 8 ? nibble - 16 : nibble) & 0xffff;
    }
    case Type::uv:
      return (imm >> (4 * (lane & 7))) & 0xf;
    case Type::vf:
      return double_to_single(vf_to_double(static_cast<uint8_t>(imm >> (8 * (lane & 3)))), Rounding::nearest);
    default: {
      const unsigned bytes = traits(operand.type).bytes;
      return bytes == 8 ? imm : imm & ((uint64_t{1} << (8 * bytes)) - 1);
    }
  }
}

namespace {

// The words of a vector immediate lie where the destination's elements lie: four dwords take every second of them
// (Intel's compiler writes such vectors, with zeros between).
unsigned vector_lane(const Instruction& in, const Operand& operand, unsigned lane) {
  const unsigned step = in.dst.region.horizontal * traits(in.dst.type).bytes / 2u;
  const bool spread = (operand.type == Type::v || operand.type == Type::uv) && step > 1 && step * in.exec_size <= 8;
  return spread ? lane * step : lane;
}

}  // namespace

uint64_t immediate_for_lane(const Instruction& in, const Operand& operand, unsigned lane) {
  return immediate_bits(operand, in.align16 ? operand.swizzle[lane & 3] & 3u : vector_lane(in, operand, lane));
}

bool obeys_modifiers(const Instruction& in, const Operand& operand, const EuRules& rules) {
  const bool obeys = in.op == Op::math ? rules.math_modifiers : op_traits(in.op).modifiers;
  return operand.file != File::immediate && obeys;
}

Wide accumulator_integer(const Thread& thread, int32_t offset, Type type) {
  const unsigned bytes = traits(type).bytes;
  uint64_t bits = 0;
  if (offset < 0 || offset + static_cast<int32_t>(bytes) > static_cast<int32_t>(thread.accumulator.size())) {
    return 0;
  }
  std::memcpy(&bits, thread.accumulator.data() + offset, bytes);
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (which < thread.extension.size() && bytes <= 4) {
    const Thread::Extension& extension = thread.extension[which];
    const size_t lane = static_cast<size_t>(offset) % kGrfBytes / bytes;
    if (extension.element == bytes && lane < extension.upper.size() && ((extension.valid >> lane) & 1) != 0) {
      return static_cast<Wide>(extension.upper[lane]) * (static_cast<Wide>(1) << (8 * bytes)) + static_cast<Wide>(bits);
    }
  }
  return int_from_bits(type, bits);
}

void set_accumulator_bits(Thread& thread, int32_t offset, unsigned bytes, uint64_t bits) {
  if (offset < 0 || offset + static_cast<int32_t>(bytes) > static_cast<int32_t>(thread.accumulator.size())) {
    return;
  }
  std::memcpy(thread.accumulator.data() + offset, &bits, bytes);
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (which < thread.extension.size()) {
    Thread::Extension& extension = thread.extension[which];
    const size_t first = static_cast<size_t>(offset) % kGrfBytes / extension.element;
    const size_t last = (static_cast<size_t>(offset) % kGrfBytes + bytes - 1) / extension.element;
    for (size_t lane = first; lane <= last && lane < extension.upper.size(); ++lane) {
      extension.valid = static_cast<uint16_t>(extension.valid & ~(1u << lane));
    }
  }
}

void set_accumulator_integer(Thread& thread, int32_t offset, Type type, Wide value) {
  const unsigned bytes = traits(type).bytes;
  set_accumulator_bits(thread, offset, bytes, static_cast<uint64_t>(value));
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (offset < 0 || which >= thread.extension.size() || (bytes != 2 && bytes != 4)) {
    return;
  }
  Thread::Extension& extension = thread.extension[which];
  if (extension.element != bytes) {
    extension.element = static_cast<uint8_t>(bytes);
    extension.valid = 0;
  }
  const size_t lane = static_cast<size_t>(offset) % kGrfBytes / bytes;
  extension.upper[lane] = static_cast<int64_t>(value >> (8 * bytes));
  extension.valid = static_cast<uint16_t>(extension.valid | (1u << lane));
}

Type implied_accumulator_type(const Instruction& in, Type exec) {
  if (op_traits(in.op).own_accumulator) {
    return traits(in.src[0].type).is_signed ? Type::d : Type::ud;
  }
  const TypeTraits of = traits(exec);
  if (of.is_float) {
    return exec;
  }
  return of.bytes >= 4 ? (of.is_signed ? Type::d : Type::ud) : (of.is_signed ? Type::w : Type::uw);
}

int32_t implied_accumulator_offset(const Frame& frame, const Prepared& prepared, Type type, unsigned lane) {
  const auto size = static_cast<int32_t>(traits(type).bytes);
  const bool from_first = !traits(type).is_float && frame.rules.implied_integer == ImpliedAccumulator::first;
  // Words fill one accumulator with 16 channels, dwords two.
  const auto channel = static_cast<int32_t>(from_first ? lane : (prepared.in.first_channel % 16u) + lane);
  return channel * size;
}

Source::Source(Frame& frame, const Prepared& prepared, unsigned which)
    : frame_(frame),
      prepared_(prepared),
      operand_(prepared.in.src[which]),
      type_(operand_.type),
      modifiers_((operand_.negate || operand_.absolute) && obeys_modifiers(prepared.in, operand_, frame.rules)),
      logic_not_(is_logic(prepared.in.op) && frame.rules.logic_negate_is_not) {
  if (operand_.file != File::immediate) {
    locate(frame, prepared, operand_, storage_);
  } else if (type_ == Type::v) {
    type_ = Type::w;
  } else if (type_ == Type::uv) {
    type_ = Type::uw;
  } else if (type_ == Type::vf) {
    type_ = Type::f;
  }
}

int32_t Source::offset(unsigned lane) const {
  return element_offset(frame_.thread, prepared_, operand_, storage_, lane, false);
}

uint64_t Source::bits(unsigned lane) const {
  if (operand_.file == File::immediate) {
    return immediate_for_lane(prepared_.in, operand_, lane);
  }
  return load_bits(storage_, offset(lane), traits(type_).bytes);
}

Wide Source::integer_at(int32_t offset, uint64_t bits) const {
  if (operand_.is_arf(Arf::accumulator) && !operand_.indirect) {
    return accumulator_integer(frame_.thread, offset, type_);
  }
  return int_from_bits(type_, bits);
}

Value Source::modified(uint64_t bits, Wide integer) const {
  Value value;
  if (is_float()) {
    value.real = float_from_bits(type_, bits);
    if (modifiers_) {
      if (operand_.absolute) {
        value.real = std::fabs(value.real);
      }
      if (operand_.negate) {
        value.real = -value.real;
      }
    }
    return value;
  }
  value.integer = integer;
  if (modifiers_) {
    if (logic_not_) {
      if (operand_.negate) {
        value.integer = wrap(type_, ~value.integer);
      }
      return value;
    }
    const bool exact = operand_.is_arf(Arf::accumulator) || !traits(type_).is_signed;
    if (operand_.absolute && traits(type_).is_signed && value.integer < 0) {
      value.integer = exact ? -value.integer : wrap(type_, -value.integer);
    }
    if (operand_.negate) {
      value.integer = exact ? -value.integer : wrap(type_, -value.integer);
    }
  }
  return value;
}

Value Source::value(unsigned lane) const {
  if (operand_.file == File::immediate) {
    const uint64_t raw = bits(lane);
    return modified(raw, int_from_bits(type_, raw));
  }
  return value_at(offset(lane));
}

Value Source::value_at(int32_t offset) const {
  const uint64_t raw = load_bits(storage_, offset, traits(type_).bytes);
  return modified(raw, integer_at(offset, raw));
}

}  // namespace halogen::eu
