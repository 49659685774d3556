// The image surfaces that threads have named, for the rules of surface/surface_rules.h and for those of compression
// state (state_watch.h). A surface state is noted when it is decoded. The owner of the threads takes the notes after
// each part of its work, so that Events do not depend on host threads.
#pragma once

#include <vector>

#include "message/surface.h"
#include "surface/surface_rules.h"

namespace halogen::message {

// A surface as a client uses it. Its states are those that the client looks at.
struct SurfaceBinding {
  MemoryClient client{};
  Surface surface;
  uint32_t element_B = 1;
  bool writes = false;
  bool typed = false;  // typed messages met its clear blocks
};

class SurfaceUses {
 public:
  // Notes a use once. Uses whose rule is not reported are left out.
  void note(spec::GenId gen, const surface::SurfaceUse& use);
  void note(spec::GenId gen, MemoryClient client, const Surface& surface, Tiling tiling);
  // Notes a surface for the rules of compression state.
  void note(const SurfaceBinding& binding);
  void merge(SurfaceUses& other);  // takes the notes of `other`
  std::vector<surface::SurfaceUse> take();
  std::vector<SurfaceBinding> take_bindings();

 private:
  void keep(const surface::SurfaceUse& use);

  std::vector<surface::SurfaceUse> uses_;
  std::vector<SurfaceBinding> bindings_;
};

}  // namespace halogen::message
