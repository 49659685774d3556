#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::walker({data, size});
  return 0;
}
