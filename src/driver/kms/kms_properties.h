// Properties of connector, CRTC and planes: their names and kinds, and the values that a state has of them.
#pragma once

#include <vector>

#include "driver/kms/kms.h"

namespace halogen::driver {

struct Call;

struct PropertyList {
  std::vector<uint32_t> ids;
  std::vector<uint64_t> values;
};
// Of an object; `atomic`: also those that only atomic programs see. Empty: it has none.
PropertyList list_properties(Kms& kms, uint32_t object, bool atomic);

// Is there an object of this number and type (DRM_MODE_OBJECT_ANY: of any)? Does it have the property?
bool has_object(const Kms& kms, uint32_t object, uint32_t type);
bool has_property(uint32_t object, uint32_t property);

// One that is set, for a commit.
struct AtomicChange {
  KmsState state;
  bool crtc = false;       // the CRTC takes part
  uint64_t out_fence = 0;  // where the program wants a descriptor
};
// 0 or a negative errno.
int set_property(Call& call, AtomicChange& change, uint32_t object, uint32_t property, uint64_t value);

}  // namespace halogen::driver
