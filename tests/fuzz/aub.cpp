#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::aub({data, size});
  return 0;
}
