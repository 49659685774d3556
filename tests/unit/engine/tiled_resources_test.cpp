// Tiled resources as a context uses them: registers through the BAR, tables in memory of the process, commands that
// read and store through the window. Offsets and encodings are typed from the manuals (Ice Lake PRM vol. 6, seed 001;
// DG1 PRM vol. 13, context images, seed 000). The walk alone is in tests/unit/memory/trtt_test.cpp.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint64_t kL3 = 0x10'0000, kL2 = 0x10'1000, kL1 = 0x10'2000, kBatch = 0x10'3000, kTile = 0x7000'0000;
// The window is VA[47:44] = 1; indices 3, 5 and 7 of the three levels.
constexpr uint64_t kAddress =
    uint64_t{1} << 44 | uint64_t{3} << 35 | uint64_t{5} << 26 | uint64_t{7} << 16 | uint64_t{0x20};
constexpr uint32_t kEntry = kTile >> 16;
constexpr uint32_t kOld = 0x0dd0'0dd0, kNew = 0x4e4e'4e4e;

class TiledResourceRegisters : public ::testing::TestWithParam<const char*> {
 protected:
  bool per_engine() const { return bench_.model.gen == spec::GenId::gen12; }
  uint32_t null_register() const { return per_engine() ? 0x4410 : 0x4de8; }
  uint32_t invalid_register() const { return per_engine() ? 0x4414 : 0x4dec; }

  // Programs everything except the two detection registers.
  void enable() {
    if (per_engine()) {
      bench_.write(0x4408, kL3);
      bench_.write(0x440c, 0);
      bench_.write(0x4404, 0xf1);
      bench_.write(0x4400, 1);
    } else {
      bench_.write(0x4de0, kL3);
      bench_.write(0x4de4, 0);
      bench_.write(0x4df0, 0xf1);
      bench_.write(0x4dfc, 1);
      bench_.write(0x4df4, 3);
    }
  }

  struct Outcome {
    uint32_t loaded;
    uint32_t stored;
    size_t faults;  // Events
    size_t undefined;
    bool operator==(const Outcome&) const = default;
  };
  // Loads a dword through the window, then stores one, with one value as the entry of the last level.
  Outcome access(uint32_t entry) {
    const uint64_t l3 = bench_.allocate(1), l2 = bench_.allocate(1), l1 = bench_.allocate(1);
    const uint64_t batch = bench_.allocate(1), tile = bench_.allocate(1);
    Context context = bench_.create("rcs0", ++contexts_);
    for (const auto& [address, page] : {std::pair{kL3, l3}, {kL2, l2}, {kL1, l1}, {kBatch, batch}, {kTile, tile}}) {
      bench_.map_process(context, address, page);
    }
    bench_.poke(l3 + 8 * 3, {static_cast<uint32_t>(kL2), 0});
    bench_.poke(l2 + 8 * 5, {static_cast<uint32_t>(kL1), 0});
    bench_.poke(l1 + 4 * 7, entry);
    bench_.poke(tile + 0x20, kOld);
    const auto low = static_cast<uint32_t>(kAddress);
    const auto high = static_cast<uint32_t>(kAddress >> 32);
    bench_.poke(batch, {0x1480'0002, 0x2600, low, high, 0x1000'0002, low, high, kNew, 0x0500'0000});
    bench_.emit(context, {0x1100'0001, 0x2600, ~0u});
    bench_.emit(context, {0x1880'0101, static_cast<uint32_t>(kBatch), 0});
    bench_.host.log.clear();
    bench_.run(context);
    return {bench_.reg("rcs0", 0x600), bench_.peek(tile + 0x20), bench_.host.log.count(EventKind::fault),
            bench_.host.log.count(EventKind::undefined_behaviour)};
  }
  static constexpr Outcome kMapped{kOld, kNew, 0, 0}, kNull{0, kOld, 0, 0}, kInvalid{0, kOld, 2, 0};

  ContextBench bench_{GetParam()};
  uint32_t contexts_ = 0;
};

// Each of the two registers is zero after reset, keeps all 32 bits, and decides alone what the entry means.
TEST_P(TiledResourceRegisters, DetectionRegistersDecideWhatAnEntryMeans) {
  COVERS("ICL-TRTT-12");
  for (const uint32_t offset : {null_register(), invalid_register()}) {
    EXPECT_EQ(bench_.read(offset), 0u) << std::hex << offset;
    for (unsigned bit = 0; bit < 32; ++bit) {
      bench_.write(offset, 1u << bit);
      EXPECT_EQ(bench_.read(offset), 1u << bit) << std::hex << offset;
    }
  }
  bench_.write(null_register(), 0x5000'0001);
  bench_.write(invalid_register(), 0x6000'0002);
  enable();
  EXPECT_EQ(access(kEntry), kMapped);
  EXPECT_EQ(access(0x5000'0001), kNull);
  EXPECT_EQ(access(0x6000'0002), kInvalid);
  // The value of the resident tile itself can become either.
  bench_.write(null_register(), kEntry);
  EXPECT_EQ(access(kEntry), kNull);
  bench_.write(null_register(), 0x5000'0001);
  bench_.write(invalid_register(), kEntry);
  EXPECT_EQ(access(kEntry), kInvalid);
  bench_.write(invalid_register(), 0x6000'0002);
  EXPECT_EQ(access(kEntry), kMapped);
}

// A reset brings the defaults back. Both then name entry 0, so enabling the walk without new values is a mistake.
TEST_P(TiledResourceRegisters, DefaultsOfBothDetectionRegistersClash) {
  COVERS("ICL-TRTT-12");
  bench_.write(null_register(), kEntry);
  bench_.write(invalid_register(), 0x6000'0002);
  bench_.write(0x941c, 1);
  EXPECT_EQ(bench_.read(null_register()), 0u);
  EXPECT_EQ(bench_.read(invalid_register()), 0u);
  for (const spec::EngineModel& engine : bench_.model.engines) {
    bench_.set_reg(engine.name, ContextBench::kStatusPageAddress,
                   static_cast<uint32_t>(bench_.status_page(engine.name)));
    bench_.set_reg(engine.name, ContextBench::kMode, 0x8000'8000);
  }
  bench_.host.log.clear();
  enable();
  EXPECT_EQ(bench_.host.log.count(EventKind::undefined_behaviour), 1u);
  const Outcome zero = access(0);
  EXPECT_EQ(zero.loaded, 0u) << "not mapped";
  EXPECT_EQ(zero.stored, kOld);
  EXPECT_EQ(access(kEntry), kMapped);
}

// Gen9: bit 9 of the render engine's interrupts (Kaby Lake PRM vol. 2d), behind the masks of the engine and of the
// bank. No source names a bit of Gen11 and Gen12, where nothing is interrupted.
TEST_P(TiledResourceRegisters, AccessToAnInvalidTileInterrupts) {
  COVERS("ICL-TRTT-06");
  constexpr uint32_t kBit = 1u << 9, kBankMask = 0x44304, kIdentity = 0x44308, kEngineMask = 0x20a8;
  bench_.write(null_register(), 0x5000'0001);
  bench_.write(invalid_register(), 0x6000'0002);
  enable();
  if (bench_.model.gen != spec::GenId::gen9) {
    EXPECT_EQ(access(0x6000'0002), kInvalid);
    EXPECT_EQ(bench_.host.log.count(EventKind::fault), 2u) << "software is not told, so the model reports it";
    return;
  }
  const auto identity_after = [&](uint32_t entry) {
    bench_.write(kIdentity, kBit);
    bench_.write(kIdentity, kBit);  // the bank keeps two events
    access(entry);
    return bench_.read(kIdentity) & kBit;
  };
  EXPECT_EQ(identity_after(0x6000'0002), 0u) << "masked after reset";
  bench_.write(kBankMask, ~kBit);
  EXPECT_EQ(identity_after(0x6000'0002), 0u) << "masked in the engine";
  bench_.write(kEngineMask, ~kBit);
  EXPECT_EQ(identity_after(0x6000'0002), kBit);
  EXPECT_EQ(identity_after(0x5000'0001), 0u) << "a null tile does not interrupt";
  EXPECT_EQ(identity_after(kEntry), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, TiledResourceRegisters, ::testing::Values("skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
