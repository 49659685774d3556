#include "page_walk_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::page_walk({data, size});
  return 0;
}
