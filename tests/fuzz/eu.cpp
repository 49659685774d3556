#include "eu_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::eu_kernel({data, size});
  return 0;
}
