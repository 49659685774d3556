// The interrupt logic of each kind of chip: how a driver enables, identifies and acknowledges interrupts.
#pragma once

#include <functional>

#include "driver/hw/hardware.h"

namespace halogen::driver {

class Interrupts {
 public:
  explicit Interrupts(Hardware& hardware) : hardware_(hardware) {}

  void enable();  // enables user interrupts and context switch interrupts of all engines
  struct Cause {
    spec::EngineClass engine_class;
    unsigned instance;
    bool user;            // raised by a command
    bool context_switch;  // the engine switched contexts
  };
  using Tell = std::function<void(const Cause&)>;
  // Acknowledges all pending interrupts and reports their causes. True: there was one.
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
