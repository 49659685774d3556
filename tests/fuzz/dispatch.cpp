#include "compute_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::dispatch({data, size});
  return 0;
}
