// Properties of connector, CRTC and planes: names, types, and their values in a state.
#pragma once

#include <vector>

#include "driver/kms/kms.h"

namespace halogen::driver {

struct Call;

struct PropertyList {
  std::vector<uint32_t> ids;
  std::vector<uint64_t> values;
};
// Lists the properties of an object. `atomic`: including those of atomic clients. Empty: it has none.
PropertyList list_properties(Kms& kms, uint32_t object, bool atomic);

// Check whether an object of this id and type exists (DRM_MODE_OBJECT_ANY: any type), and whether it has the property.
bool has_object(const Kms& kms, uint32_t object, uint32_t type);
bool has_property(uint32_t object, uint32_t property);

// A state under construction for a commit.
struct AtomicChange {
  KmsState state;
  bool crtc = false;       // the CRTC is part of the commit
  uint64_t out_fence = 0;  // address at which the program wants a descriptor
};
// Returns 0 or a negative errno.
int set_property(Call& call, AtomicChange& change, uint32_t object, uint32_t property, uint64_t value);

}  // namespace halogen::driver
