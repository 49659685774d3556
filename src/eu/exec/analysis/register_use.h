// The registers that a kernel may write. All others keep the values of dispatch, so resetting a thread for reuse clears
// only these. Instructions that the kernel does not hold are not included: threads that executed one have
// Thread::ran_unprepared.
#pragma once

#include <algorithm>
#include <bitset>

#include "eu/thread.h"

namespace halogen::eu {

struct RegisterUse {
  std::bitset<kGrfs> grfs;
  bool mrfs = false;
  bool accumulators = false;  // with their extensions and the mme registers

  static RegisterUse all() { return {~std::bitset<kGrfs>(), true, true}; }
  // Adds the general registers from `first` up to, not including, `end`. Numbers beyond the last register are ignored.
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

// Resets a thread to its initial state. Requires that no general, message or accumulator register outside of `used` has
// changed.
void reset(Thread& thread, const RegisterUse& used);

}  // namespace halogen::eu
