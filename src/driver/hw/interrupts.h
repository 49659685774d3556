// The interrupt logic of each kind of chip: what a driver switches on, and how it finds out and acknowledges.
#pragma once

#include <functional>

#include "driver/hw/hardware.h"

namespace halogen::driver {

class Interrupts {
 public:
  explicit Interrupts(Hardware& hardware) : hardware_(hardware) {}

  void enable();  // user interrupts and context switches of all engines
  struct Cause {
    spec::EngineClass engine_class;
    unsigned instance;
    bool user;            // a command asked for it
    bool context_switch;  // the engine took or left a context
  };
  using Tell = std::function<void(const Cause&)>;
  // Acknowledges all that is there and tells of what engines want. True: there was something.
  bool acknowledge(const Tell& tell);

 private:
  uint32_t at(const spec::RegisterDesc& desc) const;
  template <class Register>
  Register take(uint32_t& any);
  bool acknowledge_banks(const Tell& tell);
  bool acknowledge_collapsed(const Tell& tell);

  Hardware& hardware_;
};

}  // namespace halogen::driver
