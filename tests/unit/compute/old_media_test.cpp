// Media objects before compute existed: Gen6, and Gen4 with unit states in memory. The kernel writes the two registers
// after r0 to a buffer: constants, then inline data.
#include <gtest/gtest.h>

#include <cstring>

#include "eu/isa/assembler.h"
#include "support/engine_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
using Dwords = std::vector<uint32_t>;

// Writes four times 16 bytes at binding table index 0. Messages of Gen4 move r0 implicitly.
constexpr std::string_view kNewer = R"(
    (W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud
    (W) mov (1|M0) m1.2<1>:ud 0x0:ud
    (W) mov (8|M0) m2.0<1>:ud r1.0<8;8,1>:ud
    (W) mov (8|M0) m3.0<1>:ud r2.0<8;8,1>:ud
    (W) send.rc (8|M0) null m1 0x0 0x06090300
    (W) mov (8|M0) m4.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null m4 0x0 0x02000010 {EOT}
)";
constexpr std::string_view kOlder = R"(
    (W) mov (8|M0) m2.0<1>:ud r1.0<8;8,1>:ud
    (W) mov (8|M0) m3.0<1>:ud r2.0<8;8,1>:ud
    (W) mov (1|M0) r0.2<1>:ud 0x0:ud
    (W) send.dpwr (8|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x06080300
    (W) send.ts (8|M0) null:ud m4 r0.0<8;8,1>:ud 0x0 0x02000010 {EOT}
)";

class OldMedia : public ::testing::TestWithParam<std::string> {
 protected:
  OldMedia() {
    code_ = bench.allocate(1);
    state_ = bench.allocate(1);
    out_ = bench.allocate(1);
    bench.start_ring(kRcs, 8);
    const auto code = eu::assemble(spec::find_device(GetParam())->gen, newer() ? kNewer : kOlder);
    EXPECT_TRUE(code.ok()) << code.message();
    Dwords words(code.value().size() / 4);
    std::memcpy(words.data(), code.value().data(), words.size() * 4);
    bench.poke(code_, words);
    bench.poke(state_ + 0x100, newer() ? 0x200u : at(state_) + 0x200);
    const uint32_t last = 63;  // elements of 16 bytes
    bench.poke(state_ + 0x200, {4u << 29, at(out_), (last & 0x7f) << 6, 15u << 3, 0, 0});
    for (uint32_t i = 0; i < 8; ++i) {
      bench.poke(state_ + 0x400 + i * 4, 0xc0 + i);
    }
  }
  bool newer() const { return GetParam() == "snb"; }
  static uint32_t at(uint64_t address) { return static_cast<uint32_t>(address); }
  bool run(const Dwords& commands) {
    bench.emit(kRcs, commands);
    bench.submit(kRcs);
    return bench.device->settle();
  }
  void set_up() {
    if (newer()) {
      EXPECT_TRUE(run({0x6101'0008, 1, at(state_) | 1, at(state_) | 1, at(state_) | 1, at(code_) | 1, 1, 1, 1, 1}));
      EXPECT_TRUE(run({0x7000'0006, 0, 31u << 16, 0, 0, 0, 0, 0}));
      bench.poke(state_ + 0x300, {0, 0, 0, 0x100, 1u << 16, 0, 0, 0});
      EXPECT_TRUE(run({0x7002'0002, 0, 32, 0x300}));
      EXPECT_TRUE(run({0x7001'0002, 0, 64, 0x400}));
      return;
    }
    EXPECT_TRUE(run({0x6101'0004, 1, 1, at(state_) | 1, 1, 1}));
    bench.poke(state_ + 0x300, {at(code_), 1u << 26, 0, at(state_) + 0x100});
    bench.poke(state_ + 0x500, {0, 0, at(state_) + 0x300});
    EXPECT_TRUE(run({0x7000'0001, 0, at(state_) + 0x500}));
    EXPECT_TRUE(run({0x6002'0100, at(state_) + 0x400}));
  }
  Dwords object() const {
    return newer() ? Dwords{0x7100'0005, 0, 0, 0, 0, 0, 0xabcd} : Dwords{0x7100'0003, 0, 0, 0, 0xabcd};
  }

  EngineBench bench{GetParam()};
  uint64_t code_ = 0;
  uint64_t state_ = 0;
  uint64_t out_ = 0;
};

TEST_P(OldMedia, ObjectGetsConstantsAndInlineData) {
  set_up();
  EXPECT_TRUE(run(object()));
  EXPECT_EQ(bench.peek(out_), 0xc0u);
  EXPECT_EQ(bench.peek(out_ + 28), 0xc7u);
  EXPECT_EQ(bench.peek(out_ + 32), 0xabcdu);
  EXPECT_EQ(bench.peek(out_ + 36), 0u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
}

TEST_P(OldMedia, WithoutADescriptorNoThreadStarts) {
  EXPECT_TRUE(run(object()));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(bench.peek(out_), 0u);
}

TEST_P(OldMedia, VideoDecodersAreReportedAsUnsupported) {
  if (newer()) {
    GTEST_SKIP() << "no stream decoders in the media pipeline of this chip";
  }
  EXPECT_TRUE(run({0x7000'0001, 1, at(state_) + 0x500}));
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OldMedia, ::testing::Values("i965", "g45", "snb"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
