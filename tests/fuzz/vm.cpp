#include "vm_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::vm_stream({data, size});
  return 0;
}
