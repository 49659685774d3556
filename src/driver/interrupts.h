// The interrupt logic of each kind of chip: what a driver switches on, and how it finds out and acknowledges.
#pragma once

#include "driver/hardware.h"

namespace halogen::driver {

class Interrupts {
 public:
  explicit Interrupts(Hardware& hardware) : hardware_(hardware) {}

  void enable();  // user interrupts and context switches of all engines
  // Acknowledges all that is there. True: there was something.
  bool acknowledge();

 private:
  uint32_t at(const spec::RegisterDesc& desc) const;
  bool acknowledge_banks(uint32_t master, uint32_t first, uint32_t count);
  bool acknowledge_collapsed();

  Hardware& hardware_;
};

}  // namespace halogen::driver
