// Where the state of media and compute threads is, by generation.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

enum class MediaStateForm : uint8_t {
  unit,      // in memory: MEDIA_STATE_POINTERS names the front end's state, which names the interface descriptors
  commands,  // MEDIA_VFE_STATE, MEDIA_CURBE_LOAD and MEDIA_INTERFACE_DESCRIPTOR_LOAD
};

struct MediaRules {
  spec::GenMask gens;
  MediaStateForm state;
  bool general_base;           // kernels and sampler states are at offsets from the general state base
  bool descriptor_in_payload;  // the payload of a media thread holds the place of its descriptor
};

const MediaRules& media_rules(spec::GenId gen);

}  // namespace halogen
