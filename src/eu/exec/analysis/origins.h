// Where the bytes of a kernel's messages come from, for kernels that run straight from their first instruction to the
// last: no branches, predicates, addresses in registers or answers. A dispatcher of threads can so know that all of
// them send the same. Kernels of any other kind, and long ones, have no answer.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "eu/exec/executor.h"

namespace halogen::eu {

// Of one byte: kFixed, the same in all threads; kChannel + c, the same in those whose channel c is enabled; kStart + b,
// byte b of the general registers as the thread got it; or kOther.
using Origin = uint16_t;
inline constexpr Origin kFixed = 0;
inline constexpr Origin kChannel = 1;
inline constexpr Origin kStart = 0x40;
inline constexpr Origin kOther = 0xffff;

struct SentBytes {
  size_t instructions = 0;  // of the thread, this one among them
  bool always = false;      // sent also when none of its channels is enabled
  std::vector<Origin> bytes;
};

using StartBytes = std::bitset<kGrfs * kGrfBytes>;

struct ThreadStarts {
  StartBytes varying;    // of general registers: not the same in all threads
  uint32_t enabled = 0;  // channels that every thread has
};
std::optional<std::vector<SentBytes>> origins_of_messages(const Kernel& kernel, spec::GenId gen,
                                                          const ThreadStarts& starts);

}  // namespace halogen::eu
