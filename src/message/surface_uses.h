// The image surfaces that threads have named, for the rules of surface/surface_rules.h. A surface state is noted when
// it is decoded. The owner of the threads takes the notes after each part of its work, so that Events do not depend on
// host threads.
#pragma once

#include <vector>

#include "message/surface.h"
#include "surface/surface_rules.h"

namespace halogen::message {

class SurfaceUses {
 public:
  // Notes a use once. Uses whose rule is not reported are left out.
  void note(spec::GenId gen, const surface::SurfaceUse& use);
  void note(spec::GenId gen, MemoryClient client, const Surface& surface, Tiling tiling);
  void merge(SurfaceUses& other);  // takes the notes of `other`
  std::vector<surface::SurfaceUse> take();

 private:
  void keep(const surface::SurfaceUse& use);

  std::vector<surface::SurfaceUse> uses_;
};

}  // namespace halogen::message
