#include "draw_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::draw_threads({data, size});
  return 0;
}
