#include "eu/ir/access.h"

#include "eu/ir/op_traits.h"
#include "eu/isa/type_traits.h"
#include "eu/number.h"

namespace halogen::eu::ir {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

struct Location {
  File file = File::none;
  int32_t base = 0;
  int32_t limit = static_cast<int32_t>(kComputedBytes);
};

Location in_thread(File file, int32_t base) {
  return {file, base, static_cast<int32_t>(file_bytes(file).bytes)};
}

Location architecture_register(const Operand& operand, const EuRules& rules, bool is_destination) {
  const int32_t number = operand.reg & 0xf;
  const int32_t sub = operand.sub;
  const auto only_read = [&](File file) { return Location{is_destination ? File::none : file, sub}; };
  switch (static_cast<Arf>(operand.reg >> 4)) {
    case Arf::address:
      return {File::address, sub, rules.address_words * 2};
    case Arf::accumulator: {
      // Writes and float reads are limited to the accumulators of this generation. Integer reads are not, because the
      // model keeps the accumulators of all generations.
      Location at = in_thread(File::accumulator, number * kRegister + sub);
      at.limit = is_destination || traits(operand.type).is_float ? rules.accumulators * kRegister : at.limit;
      return at;
    }
    case Arf::flag:
      return {File::flag, number * 4 + sub, rules.flag_registers * 4};
    case Arf::mask:
      return rules.channel_enable_register ? only_read(File::channel_enable) : Location{File::masks, sub};
    case Arf::mask_stack:
      return rules.channel_enable_register ? in_thread(File::message_control, sub)
                                           : Location{number == 0 ? File::if_stack : File::loop_stack, sub};
    case Arf::stack_depth:
      return rules.channel_enable_register ? in_thread(File::stack_pointer, sub) : Location{File::stack_depth, sub};
    case Arf::state:
      // sr1 came with the channel enable register.
      return {File::state, number * 16 + sub, rules.channel_enable_register ? 32 : 16};
    case Arf::control:
      return in_thread(File::control, sub);
    case Arf::notification:
      return {File::notification, sub, 12};
    case Arf::ip:
      return is_destination && !rules.ip_writes_jump ? Location{} : Location{File::ip, sub};
    case Arf::thread_dependency:
      return {File::dependency, sub, 16};
    case Arf::timestamp:
      return only_read(File::timestamp);
    case Arf::flow_control:
      return only_read(File::flow_control);
    case Arf::debug:
      return in_thread(File::debug, sub);
    case Arf::null:
      break;
  }
  return {};
}

Location locate(const Operand& operand, const EuRules& rules, bool is_destination) {
  if (operand.indirect) {
    return in_thread(operand.file == eu::File::mrf ? File::mrf : File::grf, operand.address_offset);
  }
  switch (operand.file) {
    case eu::File::grf:
      return in_thread(File::grf, operand.reg * kRegister + operand.sub);
    case eu::File::mrf:
      // Bit 7 (COMPR4) affects the second half only: see distance().
      return in_thread(File::mrf, (operand.reg & 0x7f) * kRegister + operand.sub);
    case eu::File::arf:
      return architecture_register(operand, rules, is_destination);
    case eu::File::immediate:
      break;
  }
  return {};
}

// Returns the distance in bytes from the operand's first element to the element of a lane.
int32_t distance(const Instruction& in, const Operand& operand, int32_t lane, bool is_destination) {
  const auto size = static_cast<int32_t>(traits(operand.type).bytes);
  const Region& region = operand.region;
  const int32_t width = region.width == 0 ? 1 : region.width;
  if (is_macro(in)) {
    return lane * size;
  }
  if (in.align16) {
    if (is_destination) {
      return lane * size;
    }
    if (width == 1) {
      return 0;
    }
    // A group has four components of up to 32 bits, or two of 64 bits.
    const int32_t components = size == 8 ? 2 : 4;
    const int32_t group = lane / components;
    const auto component = static_cast<size_t>(lane % components);
    const int32_t chosen = size == 8 ? operand.swizzle[component * 2 % 4] / 2 : operand.swizzle[component % 4] & 3;
    return (region.vertical == 0 ? 0 : group * components * size) + chosen * size;
  }
  if (is_destination) {
    const bool spread = operand.file == eu::File::mrf && (operand.reg & 0x80) != 0 && lane >= 8;
    return lane * region.horizontal * size + (spread ? 3 * kRegister : 0);  // COMPR4: four registers ahead, not one
  }
  const int32_t vertical = operand.indirect && region.vertical_by_address ? 0 : region.vertical;
  return (lane / width * vertical + lane % width * region.horizontal) * size;
}

// Returns the element of a vector immediate that a lane reads. The words of the vector are at the offsets of the
// destination's elements: a destination of four dwords reads every second word (Intel's compiler emits such vectors,
// with zeros between).
unsigned vector_lane(const Instruction& in, const Operand& operand, unsigned lane) {
  const unsigned step = in.dst.region.horizontal * traits(in.dst.type).bytes / 2u;
  const bool spread = (operand.type == Type::v || operand.type == Type::uv) && step > 1 && step * in.exec_size <= 8;
  return spread ? lane * step : lane;
}

uint64_t immediate_bits(const Operand& operand, unsigned lane) {
  const uint64_t bits = operand.immediate;
  switch (operand.type) {
    case Type::v: {
      const auto nibble = static_cast<int32_t>((bits >> (4 * (lane & 7))) & 0xf);
      return static_cast<uint64_t>(nibble >= 8 ? nibble - 16 : nibble) & 0xffff;
    }
    case Type::uv:
      return (bits >> (4 * (lane & 7))) & 0xf;
    case Type::vf:
      return double_to_single(vf_to_double(static_cast<uint8_t>(bits >> (8 * (lane & 3)))), Rounding::nearest);
    default: {
      const unsigned bytes = traits(operand.type).bytes;
      return bytes == 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
    }
  }
}

// Finds a formula for offsets that are all inside the file. False: there is no such formula.
bool find_pattern(const Elements& elements, Access& access) {
  const auto& offset = elements.offset;
  const unsigned count = elements.count;
  const int32_t step = count > 1 ? offset[1] - offset[0] : 0;
  unsigned width = 1;
  while (width < count && offset[width] == offset[0] + static_cast<int32_t>(width) * step) {
    ++width;
  }
  access.step = static_cast<int16_t>(step);
  if (width >= count) {
    access.kind = step == 0 ? Access::Kind::scalar : Access::Kind::even;
    access.row = static_cast<int16_t>(access.width * step);
    return true;
  }
  const int32_t row = offset[width] - offset[0];
  for (unsigned lane = 0; lane < count; ++lane) {
    const auto at = static_cast<int32_t>(lane / width) * row + static_cast<int32_t>(lane % width) * step;
    if (offset[lane] != offset[0] + at) {
      access.step = 0;
      return false;
    }
  }
  access.kind = Access::Kind::rows;
  access.width = static_cast<uint8_t>(width);
  access.row = static_cast<int16_t>(row);
  return true;
}

}  // namespace

FileBytes file_bytes(File file) {
  switch (file) {
    case File::grf:
      return {offsetof(Thread, grf), sizeof(Thread::grf)};
    case File::mrf:
      return {offsetof(Thread, mrf), sizeof(Thread::mrf)};
    case File::accumulator:
      return {offsetof(Thread, accumulator), sizeof(Thread::accumulator)};
    case File::address:
      return {offsetof(Thread, address), sizeof(Thread::address)};
    case File::flag:
      return {offsetof(Thread, flag), sizeof(Thread::flag)};
    case File::state:
      return {offsetof(Thread, state), sizeof(Thread::state)};
    case File::control:
      return {offsetof(Thread, control), sizeof(Thread::control)};
    case File::notification:
      return {offsetof(Thread, notification), sizeof(Thread::notification)};
    case File::dependency:
      return {offsetof(Thread, dependency), sizeof(Thread::dependency)};
    case File::stack_pointer:
      return {offsetof(Thread, stack_pointer), sizeof(Thread::stack_pointer)};
    case File::message_control:
      return {offsetof(Thread, message_control), sizeof(Thread::message_control)};
    case File::debug:
      return {offsetof(Thread, debug), sizeof(Thread::debug)};
    case File::none:
    case File::immediate:
    case File::channel_enable:
    case File::masks:
    case File::if_stack:
    case File::loop_stack:
    case File::stack_depth:
    case File::ip:
    case File::timestamp:
    case File::flow_control:
      break;
  }
  return {0, kComputedBytes};
}

Elements elements_of(const Instruction& in, const Operand& operand, const EuRules& rules, bool is_destination,
                     unsigned count) {
  const Location location = locate(operand, rules, is_destination);
  Elements out;
  out.file = location.file;
  out.limit = location.limit;
  out.size = traits(operand.type).bytes;
  out.indirect = operand.indirect;
  out.count = count;
  const unsigned width = operand.region.width == 0 ? 1 : operand.region.width;
  for (unsigned lane = 0; lane < count; ++lane) {
    out.offset[lane] = location.base + distance(in, operand, static_cast<int32_t>(lane), is_destination);
    const unsigned row = !is_destination && operand.region.vertical_by_address ? lane / width : 0;
    out.word[lane] = static_cast<uint8_t>((operand.address_sub + row) & 15);
  }
  return out;
}

Access access_of(const Elements& elements, std::vector<LaneTable>& tables) {
  Access access;
  const auto first = static_cast<int32_t>(file_bytes(elements.file).first);
  access.base = static_cast<int16_t>(first + elements.offset[0]);
  const auto is_inside = [&](int32_t offset) { return offset >= 0 && offset + elements.size <= elements.limit; };
  bool inside = true;
  for (unsigned lane = 0; lane < elements.count; ++lane) {
    inside = inside && is_inside(elements.offset[lane]);
  }
  if (!elements.indirect && inside && find_pattern(elements, access)) {
    return access;
  }
  LaneTable table;
  table.word = elements.word;
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    const bool known = lane < elements.count;
    const int32_t offset = elements.offset[known ? lane : 0];
    if (elements.indirect) {
      table.offset[lane] = static_cast<int16_t>(offset);
    } else {
      table.offset[lane] = known && is_inside(offset) ? static_cast<int16_t>(first + offset) : kOutside;
    }
  }
  access.kind = elements.indirect ? Access::Kind::indirect : Access::Kind::lanes;
  access.inside = !elements.indirect && inside;
  access.table = static_cast<uint8_t>(tables.size());
  tables.push_back(table);
  return access;
}

uint64_t immediate_element(const Instruction& in, const Operand& operand, unsigned lane) {
  const uint64_t bits =
      immediate_bits(operand, in.align16 ? operand.swizzle[lane & 3] & 3u : vector_lane(in, operand, lane));
  const Type type = element_type(operand);
  return traits(type).is_float ? bits : static_cast<uint64_t>(int_from_bits(type, bits));
}

}  // namespace halogen::eu::ir
