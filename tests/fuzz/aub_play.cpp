#include "aub_play_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halogen::fuzz::aub_play({data, size});
  return 0;
}
