// Products of dwords in two steps, as compilers write them: MUL of a dword and a word to the accumulator, then MACH.
// multiply_high computes only the low half, which is what this form of MACH keeps.
#include <array>
#include <bit>
#include <cstring>

#include "eu/exec/control/masks.h"
#include "eu/exec/vector/routines.h"

namespace halogen::eu {

namespace {

constexpr unsigned kMaxLanes = 16;
constexpr size_t kDword = 4;
constexpr size_t kAccumulator = offsetof(Thread, accumulator);

bool is_dword(Type type) {
  return type == Type::d || type == Type::ud;
}
bool is_word(Type type) {
  return type == Type::w || type == Type::uw;
}

template <class T>
int64_t element(const Thread& thread, const ir::Source& operand, unsigned lane) {
  T value;
  std::memcpy(
      &value,
      reinterpret_cast<const std::byte*>(&thread) + operand.access.base + static_cast<int>(lane) * operand.access.step,
      sizeof(T));
  return static_cast<int64_t>(value);
}

void load(const Thread& thread, const ir::Source& operand, unsigned lanes, std::array<int64_t, kMaxLanes>& out) {
  if (operand.file == ir::File::immediate) {
    out.fill(static_cast<int64_t>(operand.immediate));
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    out[lane] = operand.type == Type::d    ? element<int32_t>(thread, operand, lane)
                : operand.type == Type::ud ? element<uint32_t>(thread, operand, lane)
                : operand.type == Type::w  ? element<int16_t>(thread, operand, lane)
                                           : element<uint16_t>(thread, operand, lane);
  }
}

Step multiply(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const ir::Lowered& lowered = prepared.lowered;
  std::array<int64_t, kMaxLanes> a{};
  std::array<int64_t, kMaxLanes> b{};
  load(thread, lowered.source[0], lowered.exec_size, a);
  load(thread, lowered.source[1], lowered.exec_size, b);
  uint32_t mask = enabled_lanes(frame, lowered.mask) & predicate_lanes(thread, lowered.mask);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const size_t offset = static_cast<size_t>(lowered.target.access.base) - kAccumulator + lane * kDword;
    const int64_t product = a[lane] * b[lane];
    std::memcpy(thread.accumulator.data() + offset, &product, kDword);
    Thread::Extension& extension = thread.extension[offset / kGrfBytes];
    if (extension.element != kDword) {
      extension.element = kDword;
      extension.valid = 0;
    }
    const size_t element = offset % kGrfBytes / kDword;
    extension.upper[element] = product >> 32;
    extension.valid = static_cast<uint16_t>(extension.valid | 1u << element);
  }
  return Step::next;
}

// Computes the low half of the sum, so only the low halves of the accumulator matter.
Step multiply_high(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  auto* const bytes = reinterpret_cast<std::byte*>(&thread);
  const ir::Lowered& lowered = prepared.lowered;
  std::array<int64_t, kMaxLanes> a{};
  std::array<int64_t, kMaxLanes> b{};
  load(thread, lowered.source[0], lowered.exec_size, a);
  load(thread, lowered.source[1], lowered.exec_size, b);
  uint32_t mask = enabled_lanes(frame, lowered.mask) & predicate_lanes(thread, lowered.mask);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    uint32_t sum = 0;
    std::memcpy(&sum, bytes + lowered.source[2].access.base + lane * kDword, kDword);
    sum += static_cast<uint32_t>(a[lane]) * static_cast<uint32_t>(b[lane] >> 16) << 16;
    std::memcpy(bytes + lowered.target.access.base + lane * kDword, &sum, kDword);
  }
  return Step::next;
}

// Returns whether the access is to contiguous dwords or to a single lane.
bool in_row(const ir::Lowered& lowered, const ir::Access& access) {
  return lowered.exec_size == 1 || (access.kind == ir::Access::Kind::even && access.step == kDword);
}

bool is_plain(const ir::Lowered& lowered) {
  return is_dword(lowered.target.type) && is_dword(lowered.source[0].type) && !lowered.source[0].modifier.any() &&
         !lowered.source[1].modifier.any() && in_row(lowered, lowered.target.access) &&
         static_cast<size_t>(lowered.target.access.base) % kDword == 0;
}

bool in_first_two(const ir::Lowered& lowered, const ir::Access& access) {
  return static_cast<size_t>(access.base) + lowered.exec_size * kDword <= kAccumulator + 2 * kGrfBytes;
}

}  // namespace

bool bind_product(Prepared& prepared) {
  const ir::Lowered& lowered = prepared.lowered;
  if (lowered.target.file != ir::File::accumulator || !is_plain(lowered) || !is_word(lowered.source[1].type) ||
      !in_first_two(lowered, lowered.target.access)) {
    return false;
  }
  prepared.fast = multiply;
  return true;
}

bool bind_high_product(Prepared& prepared) {
  const ir::Lowered& lowered = prepared.lowered;
  if (lowered.target.file != ir::File::grf || lowered.source[0].file == ir::File::accumulator ||
      lowered.source[1].file == ir::File::accumulator || !is_plain(lowered) || !is_dword(lowered.source[1].type) ||
      !in_row(lowered, lowered.source[2].access) || !in_first_two(lowered, lowered.source[2].access)) {
    return false;
  }
  prepared.fast = multiply_high;
  return true;
}

}  // namespace halogen::eu
