#include "tbx_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::tbx_session({data, size});
  return 0;
}
