// Runs fuzz_eu with fixed seeds: random bits as a kernel, with and without specialised routines.
#include <random>

#include "fuzz/eu_target.h"
#include "unit/eu/exec_support.h"

namespace halogen::eu::test {
namespace {

TEST(EuBits, AnyBitsRunTheSameWithAndWithoutSpecialisedRoutines) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 engine(seed);
    std::vector<uint8_t> data(8 + 16 * (1 + engine() % 12));
    for (uint8_t& byte : data) {
      byte = static_cast<uint8_t>(engine());
    }
    // Known opcodes in native form: random ones would nearly always be illegal.
    for (size_t at = 8; at + 16 <= data.size(); at += 16) {
      static constexpr uint8_t kOpcodes[]{0x01, 0x02, 0x05, 0x06, 0x08, 0x09, 0x0c, 0x10, 0x40, 0x41, 0x5b, 0x61, 0x62,
                                          0x65, 0x68, 0x69, 0x70, 0x20, 0x22, 0x24, 0x25, 0x27, 0x28, 0x31, 0x38, 0x49};
      data[at] = kOpcodes[engine() % std::size(kOpcodes)];
      data[at + 3] = static_cast<uint8_t>(data[at + 3] & ~0x20);  // not compact
    }
    SCOPED_TRACE(seed);
    fuzz::eu_kernel(data);
  }
}

}  // namespace
}  // namespace halogen::eu::test
