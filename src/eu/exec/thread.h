// The state of one EU thread: plain data, so that a snapshot is a copy. Dispatch fills it, the executor changes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halogen::eu {

inline constexpr size_t kGrfBytes = 32;
inline constexpr size_t kGrfs = 128;
inline constexpr size_t kMrfs = 24;  // Gen6; Gen4 and 5 have 16, later generations none
inline constexpr size_t kChannels = 32;

enum class ThreadStatus : uint8_t {
  running,
  blocked,  // a message or a wait cannot go on until another thread has run
  ended,    // sent its last message
  faulted,  // a message's memory access was refused
  illegal   // an instruction that this generation does not have, or may not have in this form
};

struct Thread {
  alignas(64) std::array<std::byte, kGrfs * kGrfBytes> grf{};
  alignas(64) std::array<std::byte, kMrfs * kGrfBytes> mrf{};
  std::array<uint16_t, 16> address{};
  // An accumulator lane is wider than any register: integers keep up to 66 bits of a product, here sign-extended.
  struct Lane {
    int64_t low = 0;
    int32_t high = 0;
    friend bool operator==(const Lane&, const Lane&) = default;
  };
  alignas(
      64) std::array<std::array<std::byte, kGrfBytes>, 10> accumulator{};  // acc0.. as they read; executor adds width
  std::array<uint32_t, 2> flag{};
  std::array<uint32_t, 4> state{};         // sr0
  std::array<uint32_t, 4> control{};       // cr0
  std::array<uint32_t, 4> notification{};  // n0
  std::array<uint32_t, 5> timestamp{};     // tm0

  uint32_t ip = 0;  // byte offset from the instruction base
  uint32_t dispatch_mask = 0;
  std::array<uint32_t, kChannels> channel_ip{};  // Gen6 and later: where each channel goes on

  ThreadStatus status = ThreadStatus::running;
  uint32_t group = 0;         // slot of its thread group: shared local memory and barrier
  uint32_t number = 0;        // in its group
  uint64_t instructions = 0;  // executed so far

  [[nodiscard]] std::span<std::byte> registers(size_t first, size_t count) {
    return std::span(grf).subspan(first * kGrfBytes, count * kGrfBytes);
  }
};

}  // namespace halogen::eu
