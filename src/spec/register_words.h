// What the inline read() and write() of generated payloads and message headers stand on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"

namespace halogen::spec {

struct PayloadDesc;
struct MessageHeaderDesc;

}  // namespace halogen::spec
