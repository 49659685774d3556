// What a kernel can write of a thread's registers: what is outside stays as dispatch left it, so that a thread that is
// used again needs no more than this cleared. Code that is only found when a thread gets there is not in it: such
// threads have strayed (thread.h).
#pragma once

#include <algorithm>
#include <bitset>

#include "eu/exec/thread.h"

namespace halogen::eu {

struct RegisterUse {
  std::bitset<kGrfs> grfs;
  bool mrfs = false;
  bool accumulators = false;  // with what lies beside them

  static RegisterUse all() { return {~std::bitset<kGrfs>(), true, true}; }
  // General registers from `first` to before `end`; there are none behind the last.
  void cover_grfs(size_t first, size_t end) {
    const size_t last = std::min(end, kGrfs);
    if (first < last) {
      grfs |= ~std::bitset<kGrfs>() >> (kGrfs - (last - first)) << first;
    }
  }
  void cover(const RegisterUse& other) {
    grfs |= other.grfs;
    mrfs = mrfs || other.mrfs;
    accumulators = accumulators || other.accumulators;
  }
};

struct Prepared;
RegisterUse written_registers(const Prepared& prepared);

// A thread as it is when it is made, if nothing but `used` and what is no register of numbers has changed.
void reset(Thread& thread, const RegisterUse& used);

}  // namespace halogen::eu
