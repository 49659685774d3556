#include "aub_copy_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::aub_copy({data, size});
  return 0;
}
