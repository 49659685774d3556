// The origin of each byte of a kernel's messages, for kernels without branches, predicates, addresses in registers and
// responses. A dispatcher uses it to find out whether all threads send the same bytes. Other kernels and long kernels
// are not analysed.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "eu/exec/executor.h"

namespace halogen::eu {

// The origin of one byte. kFixed: the same in all threads. kChannel + c: the same in all threads whose channel c is
// enabled. kStart + b: byte b of the general registers at the thread's start. kOther: unknown.
using Origin = uint16_t;
inline constexpr Origin kFixed = 0;
inline constexpr Origin kChannel = 1;
inline constexpr Origin kStart = 0x40;
inline constexpr Origin kOther = 0xffff;

struct SentBytes {
  size_t instructions = 0;  // executed by the thread, including this one
  bool always = false;      // sent even if no channel is enabled
  std::vector<Origin> bytes;
};

using StartBytes = std::bitset<kGrfs * kGrfBytes>;

struct ThreadStarts {
  StartBytes varying;    // bytes of general registers that are not the same in all threads
  uint32_t enabled = 0;  // channels that are enabled in every thread
};
// Returns the messages of a kernel of the interpreter in order. No value: the kernel cannot be analysed.
std::optional<std::vector<SentBytes>> origins_of_messages(const Kernel& any_kernel, const ThreadStarts& starts);

}  // namespace halogen::eu
