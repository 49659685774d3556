// The state of one EU thread. It is plain data, so a snapshot is a copy. Dispatch fills it, the executor changes it.
// Not modelled: the save area of the system routine, and time (tm0 counts instructions of the thread).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "eu/isa_fields.h"

namespace halogen::eu {

inline constexpr size_t kGrfBytes = 32;
inline constexpr size_t kGrfs = 128;
inline constexpr size_t kMrfs = 24;  // Gen6; Gen4 and Gen5 have 16, Gen7 and later have no message registers
inline constexpr size_t kChannels = 32;
inline constexpr size_t kAccumulators =
    10;  // acc0 to acc9; those above acc1 hold macro extensions or, on Gen12, floats
inline constexpr size_t kMacroRegisters = 8;
inline constexpr size_t kMaskStack = 16;
inline constexpr uint32_t kNoIp = 0xffff'ffff;

enum class ThreadStatus : uint8_t {
  running,
  blocked,  // a message or a wait needs another thread to run first
  ended,    // a message with end of thread was sent
  faulted,  // memory refused the access of a message or an instruction fetch
  illegal   // illegal instruction: unknown to this generation, or not in this form
};

// Gen4 and Gen5: the masks whose intersection enables channels, and their stacks.
struct MaskStacks {
  uint32_t if_mask = 0;
  uint32_t loop_mask = 0;
  uint32_t continue_mask = 0;
  uint32_t active = 0;  // HALT clears bits of it; software restores them
  uint8_t if_depth = 0;
  uint8_t loop_depth = 0;
  std::array<uint32_t, kMaskStack> if_stack{};
  std::array<uint32_t, kMaskStack> loop_stack{};
  std::array<uint32_t, kMaskStack> continue_stack{};
  bool operator==(const MaskStacks&) const = default;
};

struct Thread {
  alignas(64) std::array<std::byte, kGrfs * kGrfBytes> grf{};
  alignas(64) std::array<std::byte, kMrfs * kGrfBytes> mrf{};
  alignas(64) std::array<std::byte, kAccumulators * kGrfBytes> accumulator{};  // elements of the type last written

  // An accumulator lane is wider than a register: the bits of an integer above its element in `accumulator`. If bit i
  // of `valid` is set, the value of lane i is upper[i] * 2^(8 * element) + the element; else it is the element alone.
  struct Extension {
    std::array<int64_t, 16> upper{};
    uint16_t valid = 0;
    uint8_t element = 4;  // bytes
    bool operator==(const Extension&) const = default;
  };
  std::array<Extension, 2> extension{};
  // The part of a macro step's result (invm, rsqtm, madm) below the register's mantissa: the value is the sum of both.
  struct Below {
    double value = 0.0;
    bool operator==(const Below& other) const {
      return std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other.value);
    }
  };
  std::array<std::array<Below, 16>, kMacroRegisters> macro{};

  std::array<uint16_t, 16> address{};
  std::array<uint32_t, 2> flag{};
  std::array<uint32_t, 8> state{};         // sr0, sr1
  std::array<uint32_t, 4> control{};       // cr0
  std::array<uint32_t, 4> notification{};  // n0; the gateway increments, wait and sync decrement
  std::array<uint16_t, 16> dependency{};   // tdr0
  std::array<uint64_t, 2> stack_pointer{};
  std::array<uint32_t, 8> message_control{};
  std::array<uint32_t, 2> debug{};

  uint32_t ip = 0;             // byte offset from the instruction base
  uint32_t sip = kNoIp;        // ip of the system routine; kNoIp: exceptions stop the thread
  uint32_t dispatch_mask = 0;  // channels that the thread was dispatched with
  // Gen6 and later. Active channels are at `ip`; each other channel waits at its own IP. Channels in the deepest call
  // run first, and among them those at the lowest address.
  uint32_t active = 0;
  uint32_t join_ip = kNoIp;  // lowest IP at which channels of this call depth wait
  std::array<uint32_t, kChannels> channel_ip{};
  std::array<uint8_t, kChannels> call_depth{};
  MaskStacks masks;  // Gen4 and Gen5

  ThreadStatus status = ThreadStatus::running;
  bool ran_unprepared = false;  // executed an instruction that the kernel does not hold
  uint32_t group = 0;           // slot of its thread group: shared local memory and barrier
  uint32_t number = 0;          // index in its group
  uint64_t instructions = 0;    // executed so far

  [[nodiscard]] std::span<std::byte> registers(size_t first, size_t count) {
    return std::span(grf).subspan(first * kGrfBytes, count * kGrfBytes);
  }

  // Sets all channels of the mask to `start_ip`, empties the stacks and writes the masks to sr0. Other registers keep
  // their content.
  void start(uint32_t start_ip, uint32_t mask);

  bool operator==(const Thread&) const = default;
};

}  // namespace halogen::eu
