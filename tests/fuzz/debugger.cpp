#include "debugger_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::debugger({data, size});
  return 0;
}
