// The base of the inline read() and write() of generated payloads, message headers and registers of configuration
// space.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"
#include "spec/generation_ids.h"  // generated: GenId

namespace halogen::spec {

struct PayloadDesc;
struct MessageHeaderDesc;
struct PciRegisterDesc;

// Reads the item by its inline read() and writes it again by its write(), for tests, which name no struct.
using Rewrite = void (*)(GenId gen, const uint32_t* in, uint32_t* out);

template <class T>
void rewrite(GenId gen, const uint32_t* in, uint32_t* out) {
  T::read(gen, in).write(gen, out);
}

}  // namespace halogen::spec
