// Events for surfaces that break a rule for software (surface/surface_rules.h): on the first chips, whose manual has
// the rules (G45 PRM vol. 1b 4.5.4.3, 4.5.5, seed 003). Hardware does not check, so the surface is used as its state
// says.
#pragma once

#include <span>
#include <vector>

#include "surface/surface_rules.h"

namespace halogen::engine {

class Engine;

class SurfaceReport {
 public:
  // Called when a command begins: each of its surfaces is reported once.
  void begin() { known_.clear(); }
  void add(Engine& engine, std::span<const surface::SurfaceUse> uses);

 private:
  std::vector<surface::SurfaceUse> known_;
};

}  // namespace halogen::engine
