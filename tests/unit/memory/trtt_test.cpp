// Tiled resources: TRTT rows of the ledger of Ice Lake PRM vol. 6 (seed 001). Tables and registers are typed from the
// manual.
#include "memory/trtt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "covers.h"
#include "engine_faults.h"
#include "memory/fault_unit.h"
#include "spec/descriptors.h"
#include "walk_rows_bench.h"

namespace halogen::memory::rows {
namespace {

constexpr uint32_t kNullValue = 0xaaaa'0001, kInvalidValue = 0xbbbb'0002;
// Virtual addresses of the three tables, outside the window, and of one resident tile.
constexpr uint64_t kL3 = 0x1000'0000, kL2 = 0x1000'1000, kL1 = 0x1000'2000;
constexpr uint64_t kTileVa = 0x7000'0000;
constexpr uint64_t kTilePhys = 0x6000'0000;
// The window: VA[47:44] = 15, canonical. L3 index 0x1a5, L2 index 0x0c3, L1 index 0x2f1.
constexpr uint64_t kTrVa =
    0xffff'f000'0000'0000 | (uint64_t{0x1a5} << 35) | (uint64_t{0x0c3} << 26) | (uint64_t{0x2f1} << 16) | 0x4568;

class Interrupts final : public FaultListener {
 public:
  void on_invalid_tile() override { ++count; }
  unsigned count = 0;
};

// A device with one render client; 48-bit tables unless `mode` says otherwise. The TR-TT tables are identity-mapped;
// the tile's virtual address maps to kTilePhys.
struct TiledBench {
  explicit TiledBench(const char* device, WalkMode mode = WalkMode::legacy48)
      : bench(device),
        registers(bench.model, events, "gpu0"),
        tlb(64),
        space(bench.memory, tlb, 1, probe),
        tiles(registers, 0, space) {
    registers.set_listener(&interrupts);
    WalkContext context;
    context.format = bench.formats.find(mode);
    context.roots[0] = 0x10'0000;
    context.roots[1] = context.roots[2] = context.roots[3] = 0x10'0000;
    if (mode == WalkMode::legacy32) {
      context.roots[0] = 0x10'2000;
    }
    bench.put(0x10'0000, 0x10'1000 | kP | kRw | kUs);  // the first 512 GB
    bench.put(0x10'1000, 0x10'2000 | kP | kRw | kUs);  // the first GB
    bench.put(0x10'1008, 0x10'4000 | kP | kRw | kUs);  // the second
    map(kL3, kL3);
    map(kL2, kL2);
    map(kL1, kL1);
    for (uint64_t page = 0; page < 16; ++page) {
      map(kTileVa + page * 0x1000, kTilePhys + page * 0x1000);
    }
    space.load(context);
    space.set_pre_translation(&tiles);
    entry(2, uint64_t{kL2});
    entry(1, uint64_t{kL1});
    tile(static_cast<uint32_t>(kTileVa >> 16));
  }

  // Maps a 4 KB page through tables at fixed addresses: one page table per 2 MB.
  void map(uint64_t va, uint64_t phys) {
    const uint64_t directory = (va >> 30) == 0 ? 0x10'2000 : 0x10'4000;
    const uint64_t table = 0x20'0000 + ((va >> 21) & 0x3ff) * 0x1000;
    bench.put(directory + ((va >> 21) & 0x1ff) * 8, table | kP | kRw | kUs);
    bench.put(table + ((va >> 12) & 0x1ff) * 8, phys | kP | kRw | kUs);
  }
  void unmap(uint64_t va) { bench.put(0x20'0000 + ((va >> 21) & 0x3ff) * 0x1000 + ((va >> 12) & 0x1ff) * 8, 0); }

  // L3 entry (level 2) at VA[43:35], L2 entry (level 1) at VA[34:26]: 64 bits each. L1 entry at VA[25:16]: 32 bits.
  void entry(unsigned level, uint64_t value) {
    bench.put(level == 2 ? kL3 + ((kTrVa >> 35) & 0x1ff) * 8 : kL2 + ((kTrVa >> 26) & 0x1ff) * 8, value);
  }
  void tile(uint32_t value) { bench.put32(kL1 + ((kTrVa >> 16) & 0x3ff) * 4, value); }

  void write(const char* name, uint32_t value, unsigned dword = 0, unsigned index = 0) {
    const spec::RegisterDesc* desc = spec::find_register(name);
    ASSERT_NE(desc, nullptr) << name;
    ASSERT_TRUE(registers.owns(desc->id)) << name;
    registers.write(desc->id, index, dword, value);
  }
  // Enables everything, as a driver would.
  void enable() {
    if (registers.owns(spec::find_register("TRTT_CR")->id)) {
      write("TRTT_L3_BASE_LOW", static_cast<uint32_t>(kL3));
      write("TRTT_L3_BASE_HIGH", static_cast<uint32_t>(kL3 >> 32));
      write("TRTT_NULL", kNullValue);
      write("TRTT_INVAL", kInvalidValue);
      write("TRTT_VA_RANGE", 0xff);  // mask 15, data 15
      write("TRTT_CR", 1);
    } else {
      write("TRVATTL3PTR", static_cast<uint32_t>(kL3), 0);
      write("TRVATTL3PTR", static_cast<uint32_t>(kL3 >> 32), 1);
      write("TRNULLDETCT", kNullValue);
      write("TRINVTILEDETCT", kInvalidValue);
      write("TRVADR", 0xff);
      write("TR_BYPASS_DISABLE", 1);
      write("TRTTE", 3);  // virtual, enabled
    }
  }
  void fresh() {
    space.invalidate();
    probe.faults.clear();
    interrupts.count = 0;
  }
  uint64_t read(uint64_t va) { return space.load_value<uint64_t>(GpuVa(va)); }

  Bench bench;
  EventLog events;
  TrttRegisters registers;
  FaultProbe probe;
  Tlb tlb;
  AddressSpace space;
  Interrupts interrupts;
  TiledResources tiles;
};

constexpr const char* kDevices[] = {"skl", "icl", "tgl", "dg1"};

TEST(Trtt, TranslatesThroughTheTablesThenThePageTables) {
  COVERS("ICL-TRTT-01");
  COVERS("ICL-TRTT-02");
  COVERS("ICL-TRTT-03");
  for (const char* device : kDevices) {
    TiledBench one(device);
    one.enable();
    // VA[15:0] is unchanged in a tile of 64 KB.
    for (const uint64_t offset : {uint64_t{0}, uint64_t{0x1238}, uint64_t{0xfff8}}) {
      one.bench.put(kTilePhys + offset, 0x0123'4567'89ab'cdef ^ offset);
      EXPECT_EQ(one.read((kTrVa & ~uint64_t{0xffff}) + offset), 0x0123'4567'89ab'cdef ^ offset) << device;
    }
    ASSERT_EQ(one.space.store_value<uint64_t>(GpuVa(kTrVa), 77), AccessResult::ok);
    EXPECT_EQ(one.bench.get(kTilePhys + (kTrVa & 0xffff)), 77u);
    EXPECT_TRUE(one.probe.faults.empty());
    // Adjacent indices select other entries: the adjacent table is empty, so the walk fails.
    for (const unsigned shift : {35u, 26u, 16u}) {
      EXPECT_TRUE(one.tiles.covers(kTrVa ^ bit_at(shift)));
      EXPECT_NE(one.tiles.translate(kTrVa ^ bit_at(shift), kRead).address >> 16, kTileVa >> 16);
    }
    // Nine, nine and ten bits: the highest index of each level is inside its 4 KB table.
    one.bench.put(kL3 + 511 * 8, kL2);
    one.bench.put(kL2 + 511 * 8, kL1);
    one.bench.put32(kL1 + 1023 * 4, static_cast<uint32_t>(kTileVa >> 16));
    EXPECT_EQ(one.tiles.translate(0xffff'ffff'ffff'1234, kRead).address, kTileVa + 0x1234);
    // All 32 bits of an L1 entry are address bits 47:16; the address stays canonical.
    one.tile(0xffff'fffe);
    EXPECT_EQ(one.tiles.translate(kTrVa, kRead).address, 0xffff'ffff'fffe'0000 | (kTrVa & 0xffff));
  }
}

TEST(Trtt, DirectoryEntryBitsHaveTheDocumentedEffects) {
  COVERS("ICL-TRTT-04");
  COVERS("ICL-TRTT-05");
  for (const char* device : kDevices) {
    TiledBench one(device);
    one.enable();
    const uint64_t mapped = kTileVa + (kTrVa & 0xffff);
    for (const unsigned level : {2u, 1u}) {
      const uint64_t table = level == 2 ? kL2 : kL1;
      for (unsigned index = 0; index < 64; ++index) {
        SCOPED_TRACE(index);
        one.entry(level, table ^ bit_at(index));
        one.fresh();
        const PreTranslation::Result result = one.tiles.translate(kTrVa, kRead);
        if (index == 0) {
          EXPECT_EQ(result.tile, Tile::invalid);
        } else if (index == 1) {
          EXPECT_EQ(result.tile, Tile::null);
        } else if (index >= 12 && index <= 47) {  // another table: the entry is read from elsewhere
          EXPECT_NE(result.address, mapped);
        } else {  // 63:48 and 11:2 are ignored
          EXPECT_EQ(result.tile, Tile::mapped);
          EXPECT_EQ(result.address, mapped);
        }
      }
      one.entry(level, table);
    }
    for (unsigned index = 0; index < 32; ++index) {
      one.tile(static_cast<uint32_t>(kTileVa >> 16) ^ (1u << index));
      const uint64_t address = one.tiles.translate(kTrVa, kRead).address;
      EXPECT_EQ(address & mask_of(47, 0), (mapped ^ bit_at(16 + index)) & mask_of(47, 0));
    }
  }
}

TEST(Trtt, NullAndInvalidTilesAreDetected) {
  COVERS("ICL-TRTT-06");
  COVERS("ICL-TRTT-12");
  for (const char* device : kDevices) {
    SCOPED_TRACE(device);
    TiledBench one(device);
    one.enable();
    one.bench.put(kTilePhys + (kTrVa & 0xfff8), 0x5555);
    struct Case {
      uint64_t l3, l2;
      uint32_t l1;
      Tile tile;
    };
    const auto resident = static_cast<uint32_t>(kTileVa >> 16);
    const Case cases[] = {
        {kL2 | 2, kL1, resident, Tile::null},
        {kL2 | 1, kL1, resident, Tile::invalid},
        {kL2, kL1 | 2, resident, Tile::null},
        {kL2, kL1 | 1, resident, Tile::invalid},
        {kL2, kL1, kNullValue, Tile::null},
        {kL2, kL1, kInvalidValue, Tile::invalid},
        {kL2 | 3, kL1, resident, Tile::invalid},  // both bits: the invalid tile is reported
        {2, 0, 0, Tile::null},
        {1, 0, 0, Tile::invalid},  // the walk ends: the other levels are not read
        {kL2, 2, 0, Tile::null},
        {kL2, 1, 0, Tile::invalid},
        {kL2, kL1, kNullValue ^ 1, Tile::mapped},  // all 32 bits are compared
    };
    for (const Case& c : cases) {
      one.entry(2, c.l3);
      one.entry(1, c.l2);
      one.tile(c.l1);
      one.fresh();
      EXPECT_EQ(one.tiles.translate(kTrVa, kRead).tile, c.tile);
      if (c.tile == Tile::mapped) {
        continue;
      }
      EXPECT_EQ(one.read(kTrVa & ~uint64_t{7}), 0u);
      EXPECT_EQ(one.space.store_value<uint64_t>(GpuVa(kTrVa & ~uint64_t{7}), 99), AccessResult::ok);
      EXPECT_TRUE(one.space.view(GpuVa(kTrVa), kRead).null) << "the null indicator";
      EXPECT_EQ(one.bench.get(kTilePhys + (kTrVa & 0xfff8)), 0x5555u);
      EXPECT_TRUE(one.probe.faults.empty());
      EXPECT_EQ(one.interrupts.count, c.tile == Tile::invalid ? 3u : 0u) << "a separate notification";
      EXPECT_EQ(one.events.count(EventKind::fault), c.tile == Tile::invalid ? 3u : 0u) << "and an Event";
      one.events.clear();
    }
    // The detection registers are zero after reset.
    one.registers.reset();
    EXPECT_EQ(one.registers.set(0).null_value, 0u);
    EXPECT_EQ(one.registers.set(0).invalid_value, 0u);
  }
}

TEST(Trtt, EqualNullAndInvalidValuesAreReported) {
  COVERS("ICL-TRTT-07");
  TiledBench one("icl");
  one.enable();
  EXPECT_EQ(one.events.count(EventKind::undefined_behaviour), 0u);
  one.write("TRINVTILEDETCT", kNullValue);
  EXPECT_EQ(one.events.count(EventKind::undefined_behaviour), 1u);
  one.tile(kNullValue);
  EXPECT_NE(one.tiles.translate(kTrVa, kRead).tile, Tile::mapped);  // does not crash
  // Enabled with both values at their default: the same mistake.
  TiledBench two("icl");
  two.write("TRVADR", 0xff);
  two.write("TRTTE", 3);
  EXPECT_EQ(two.events.count(EventKind::undefined_behaviour), 1u);
}

// The walk does not know surfaces: their clients tell it where the X-tiled ones are. What hardware does with unmapped
// tiles of such a surface is not stated; here they behave as others, with an Event for each surface.
TEST(Trtt, UnmappedTilesOfXTiledSurfacesAreReported) {
  COVERS("ICL-TRTT-17");  // with Surfaces.XTiledImagesAreNotedForTiledResources
  for (const char* device : kDevices) {
    SCOPED_TRACE(device);
    TiledBench one(device);
    one.enable();
    const uint64_t tile = kTrVa & ~uint64_t{0xffff};
    const auto reports = [&] { return one.events.count(EventKind::undefined_behaviour); };
    for (const uint32_t value : {kNullValue, kInvalidValue}) {
      one.events.clear();
      one.space.load(one.space.context());
      one.tile(value);
      EXPECT_EQ(one.read(tile), 0u);
      EXPECT_EQ(reports(), 0u) << "no surface";
      one.space.note_x_tiled_surface(tile + 0x2000, 0x1000);
      EXPECT_EQ(one.read(tile + 0x1ff8), 0u);
      EXPECT_EQ(one.read(tile + 0x3000), 0u);
      EXPECT_EQ(reports(), 0u) << "before and after the surface";
      EXPECT_EQ(one.read(tile + 0x2000), 0u);
      EXPECT_EQ(reports(), 1u);
      EXPECT_EQ(one.space.store_value<uint64_t>(GpuVa(tile + 0x2ff8), 1), AccessResult::ok);
      EXPECT_EQ(reports(), 1u) << "once for a surface";
      one.space.note_x_tiled_surface(tile + 0x2000, 0x1000);
      EXPECT_EQ(one.read(tile + 0x2000), 0u);
      EXPECT_EQ(reports(), 1u) << "the same surface";
      // The address of a surface may come without the sign extension.
      one.space.note_x_tiled_surface((tile & 0x0000'ffff'ffff'ffff) + 0x5000, 0x1000);
      EXPECT_EQ(one.read(tile + 0x5000), 0u);
      EXPECT_EQ(reports(), 2u);
      // A mapped tile is allowed.
      one.space.note_x_tiled_surface(tile + 0x6000, 0x1000);
      one.tile(static_cast<uint32_t>(kTileVa >> 16));
      one.fresh();
      static_cast<void>(one.read(tile + 0x6000));
      EXPECT_EQ(reports(), 2u);
      // The next context has other surfaces.
      one.tile(value);
      one.space.load(one.space.context());
      EXPECT_EQ(one.read(tile + 0x2000), 0u);
      EXPECT_EQ(reports(), 2u);
    }
  }
}

TEST(Trtt, NullTileAccessesAreCounted) {
  TiledBench one("icl");
  one.enable();
  one.tile(kNullValue);
  for (int i = 0; i < 5; ++i) {
    (void)one.read(kTrVa & ~uint64_t{7});  // the first from the tables, the others from the TLB
  }
  EXPECT_EQ(one.space.store_value<uint32_t>(GpuVa(kTrVa & ~uint64_t{7}), 1), AccessResult::ok);
  EXPECT_EQ(one.registers.null_tile_accesses(), 6u);
  // Accesses of another client increment the same counter.
  AddressSpace other(one.bench.memory, one.tlb, 2, one.probe);
  other.load(one.space.context());
  TiledResources tiles(one.registers, 0, other);
  other.set_pre_translation(&tiles);
  (void)other.load_value<uint32_t>(GpuVa(kTrVa & ~uint64_t{7}));
  EXPECT_EQ(one.registers.null_tile_accesses(), 7u);
  one.tile(kInvalidValue);
  one.fresh();
  (void)one.read(kTrVa & ~uint64_t{7});
  EXPECT_EQ(one.registers.null_tile_accesses(), 7u) << "an invalid tile is not a null tile";
}

TEST(Trtt, AddressWindowIsSelectedByMaskAndData) {
  COVERS("ICL-TRTT-09");
  for (const char* device : kDevices) {
    TiledBench one(device);
    const char* range = one.registers.owns(spec::find_register("TRVADR")->id) ? "TRVADR" : "TRTT_VA_RANGE";
    one.enable();
    for (uint32_t data = 0; data < 16; ++data) {
      one.write(range, 0xf0 | data);
      for (uint64_t top = 0; top < 16; ++top) {
        const uint64_t va = (top << 44) | (top >= 8 ? 0xffff'0000'0000'0000 : 0) | 0x123'4567'8000;
        EXPECT_EQ(one.tiles.covers(va), top == data) << device << " " << data << " " << top;
      }
      EXPECT_FALSE(one.tiles.covers((uint64_t{data} << 44) ^ bit_at(60) ^ (data >= 8 ? 0xffff'0000'0000'0000 : 0)))
          << "not canonical: the page tables fault";
      one.write(range, data);  // mask 0: no address matches, whatever the data is
      EXPECT_FALSE(one.tiles.covers(kTrVa));
      EXPECT_FALSE(one.tiles.covers(uint64_t{data} << 44));
    }
    // Other masks do not exist.
    const size_t before = one.events.count(EventKind::undefined_behaviour);
    one.write(range, 0x7f);
    EXPECT_EQ(one.events.count(EventKind::undefined_behaviour), before + 1);
    EXPECT_FALSE(one.tiles.covers(kTrVa));
    one.registers.reset();
    EXPECT_EQ(one.registers.set(0).mask, 0);
    EXPECT_FALSE(one.tiles.covers(kTrVa));
  }
}

TEST(Trtt, EnableBitStartsTheWalkAndPhysicalTablesAreReported) {
  COVERS("ICL-TRTT-10");
  TiledBench one("icl");
  EXPECT_FALSE(one.registers.set(0).enabled);
  one.enable();
  EXPECT_TRUE(one.tiles.covers(kTrVa));
  one.write("TRTTE", 2);
  EXPECT_FALSE(one.tiles.covers(kTrVa));
  EXPECT_EQ(one.events.events().size(), 0u);
  one.write("TRTTE", 1);  // tables in physical memory: no chip supports it
  EXPECT_EQ(one.events.count(EventKind::undefined_behaviour), 1u);
}

TEST(Trtt, TopTablePointerIsAligned) {
  COVERS("ICL-TRTT-11");
  TiledBench one("icl");
  one.write("TRVATTL3PTR", 0xffff'ffff, 0);
  EXPECT_EQ(one.registers.set(0).l3_pointer, 0xffff'f000u) << "tables are 4 KB aligned";
  one.write("TRVATTL3PTR", 0xffff'ffff, 1);
  EXPECT_EQ(one.registers.set(0).l3_pointer, 0x0000'ffff'ffff'f000u);
  one.write("TRVATTL3PTR", 0x1234'5000, 0);
  EXPECT_EQ(one.registers.set(0).l3_pointer, 0x0000'ffff'1234'5000u);
  // A table high in the address space is found at its canonical address.
  one.enable();
  one.write("TRVATTL3PTR", 0x0000'8000, 0);
  one.write("TRVATTL3PTR", 0x8000, 1);
  one.fresh();
  one.probe.action = FaultAction::skip;
  (void)one.tiles.translate(kTrVa, kRead);
  ASSERT_FALSE(one.probe.faults.empty());
  EXPECT_EQ(one.probe.faults[0].address, 0xffff'8000'0000'8000 + ((kTrVa >> 35) & 0x1ff) * 8);
  EXPECT_EQ(one.probe.faults[0].reason, FaultReason::not_present);
}

TEST(Trtt, BypassDisablesTheTranslation) {
  COVERS("ICL-TRTT-13");
  for (const char* device : {"skl", "icl"}) {
    TiledBench one(device);
    EXPECT_TRUE(one.registers.bypassed()) << "by default";
    one.enable();
    EXPECT_TRUE(one.tiles.covers(kTrVa));
    one.write("TR_BYPASS_DISABLE", 0);
    EXPECT_FALSE(one.tiles.covers(kTrVa));
    (void)one.read(kTrVa & ~uint64_t{7});  // goes to the page tables untranslated
    ASSERT_EQ(one.probe.faults.size(), 1u);
    EXPECT_EQ(one.probe.faults[0].address, kTrVa & ~uint64_t{7});
  }
  TiledBench late("tgl");
  EXPECT_FALSE(late.registers.bypassed());
}

TEST(Trtt, RegistersAreAtTheirOffsets) {
  COVERS("ICL-TRTT-14");
  const auto offset = [](const char* name, const char* device) {
    return spec::find_register(name)->offset(spec::find_device(device)->id);
  };
  for (const char* device : {"skl", "icl"}) {
    EXPECT_EQ(offset("TRVATTL3PTR", device), 0x4de0u);
    EXPECT_EQ(spec::find_register("TRVATTL3PTR")->width_bits, 64);
    EXPECT_EQ(offset("TRNULLDETCT", device), 0x4de8u);
    EXPECT_EQ(offset("TRINVTILEDETCT", device), 0x4decu);
    EXPECT_EQ(offset("TRVADR", device), 0x4df0u);
    EXPECT_EQ(offset("TRTTE", device), 0x4df4u);
    EXPECT_EQ(offset("TR_BYPASS_DISABLE", device), 0x4dfcu);
    EXPECT_EQ(offset("TRTT_CR", device), spec::kNoOffset);
  }
  EXPECT_EQ(offset("TRTT_CR", "tgl"), 0x4400u);
  EXPECT_EQ(offset("TRVADR", "tgl"), spec::kNoOffset);
}

// Gen12: every engine has its own register set, which moves the window of that engine only.
TEST(Trtt, EachEngineHasItsOwnRegisterSet) {
  TiledBench one("dg1");
  const struct {
    const char* engine;
    int set;
  } rows[] = {{"rcs0", 0}, {"pocs0", 0}, {"vcs0", 1}, {"vecs0", 3}, {"bcs0", 4}, {"vcs2", 5}, {"ccs0", 8}};
  for (const auto& row : rows) {
    for (const spec::EngineModel& engine : one.bench.model.engines) {
      if (engine.name == row.engine) {
        EXPECT_EQ(one.registers.set_of(engine), row.set) << row.engine;
      }
    }
  }
  one.write("TRTT_VA_RANGE", 0xf3, 0, 4);
  one.write("TRTT_VA_RANGE_2", 0xf9, 0, 3);
  EXPECT_EQ(one.registers.set(4).data, 3);
  EXPECT_EQ(one.registers.set(8).data, 9);
  EXPECT_EQ(one.registers.set(0).mask, 0);
}

TEST(Trtt, OnlyRenderContextsWith48BitAddressesAreTranslated) {
  COVERS("ICL-TRTT-16");
  TiledBench one("icl");
  for (const spec::EngineModel& engine : one.bench.model.engines) {
    const bool render =
        engine.engine_class == spec::EngineClass::render || engine.engine_class == spec::EngineClass::posh;
    EXPECT_EQ(one.registers.set_of(engine) >= 0, render) << engine.name;
  }
  one.enable();
  EXPECT_TRUE(one.tiles.covers(kTrVa));
  TiledBench advanced("icl", WalkMode::advanced48);
  advanced.enable();
  EXPECT_TRUE(advanced.tiles.covers(kTrVa));
  EXPECT_EQ(advanced.tiles.translate(kTrVa, kRead).address, kTileVa + (kTrVa & 0xffff));
  // Enabled in a 32-bit or global context: no effect.
  TiledBench narrow("icl", WalkMode::legacy32);
  narrow.enable();
  EXPECT_FALSE(narrow.tiles.covers(kTrVa));
  EXPECT_EQ(narrow.events.count(EventKind::undefined_behaviour), 1u);
  TiledBench global("icl", WalkMode::ggtt);
  global.enable();
  EXPECT_FALSE(global.tiles.covers(kTrVa));
  EXPECT_EQ(global.events.count(EventKind::undefined_behaviour), 1u);
  // A table inside the window is not translated recursively: its address goes to the page tables, once.
  one.write("TRVATTL3PTR", static_cast<uint32_t>(kTrVa & 0xffff'f000), 0);
  one.write("TRVATTL3PTR", static_cast<uint32_t>((kTrVa >> 32) & 0xffff), 1);
  one.fresh();
  (void)one.read(kTrVa & ~uint64_t{7});
  ASSERT_FALSE(one.probe.faults.empty());
  EXPECT_EQ(one.probe.faults[0].address & ~uint64_t{0xfff}, kTrVa & ~uint64_t{0xfff});
  EXPECT_EQ(one.events.count(EventKind::undefined_behaviour), 1u);
}

// A page fault after the tables names the address that the page tables do not map, which system software must map. The
// response and an invalidation name the same address.
TEST(Trtt, FaultAfterTheTablesNamesTheTranslatedAddress) {
  for (const char* device : kDevices) {
    TiledBench one(device);
    one.enable();
    constexpr uint64_t kPage = kTileVa + (kTrVa & 0xf000);
    one.unmap(kPage);
    one.probe.action = FaultAction::filter;
    EXPECT_EQ(one.read(kTrVa), 0u);
    ASSERT_EQ(one.probe.faults.size(), 1u);
    EXPECT_EQ(one.probe.faults[0].address, kTileVa + (kTrVa & 0xffff));
    EXPECT_EQ(one.probe.faults[0].reason, FaultReason::not_present);
    EXPECT_FALSE(one.probe.faults[0].tile_table);
    EXPECT_EQ(one.read(kTrVa), 0u);
    EXPECT_EQ(one.probe.faults.size(), 1u) << "filtered by the cached fault";
    one.map(kPage, kTilePhys);
    one.bench.put(kTilePhys + (kTrVa & 0xfff), 0x77);
    one.space.page_response(GpuVa(kPage));
    EXPECT_EQ(one.read(kTrVa), 0x77u);
    one.map(kPage, kTilePhys + 0x10'0000);
    one.bench.put(kTilePhys + 0x10'0000 + (kTrVa & 0xfff), 0x99);
    EXPECT_EQ(one.read(kTrVa), 0x77u) << "still cached";
    one.space.invalidate_page(GpuVa(kPage));
    EXPECT_EQ(one.read(kTrVa), 0x99u);
  }
}

TEST(Trtt, FaultsInTheTablesReachTheHandler) {
  COVERS("ICL-TRTT-18");
  TiledBench one("icl");
  one.enable();
  // A fault that the handler repairs: the access waits and is repeated, and its result does not show the fault.
  class Mender final : public FaultHandler {
   public:
    explicit Mender(TiledBench& owner) : owner_(owner) {}
    FaultAction on_fault(const Fault& fault) override {
      faults.push_back(fault);
      owner_.map(fault.address, fault.address & ~uint64_t{0xfff});
      return FaultAction::wait;
    }
    std::vector<Fault> faults;

   private:
    TiledBench& owner_;
  };
  Mender mender(one);
  AddressSpace space(one.bench.memory, one.tlb, 2, mender);
  space.load(one.space.context());
  TiledResources tiles(one.registers, 0, space);
  space.set_pre_translation(&tiles);
  one.bench.put(kTilePhys + (kTrVa & 0xfff8), 0x4242);
  one.unmap(kL3);
  one.unmap(kL1);
  uint64_t value = 0;
  const auto read = [&] {
    return space.read(GpuVa(kTrVa & ~uint64_t{7}), std::as_writable_bytes(std::span(&value, 1)));
  };
  EXPECT_EQ(read(), AccessResult::waits_for_page);
  EXPECT_EQ(read(), AccessResult::waits_for_page);
  EXPECT_EQ(read(), AccessResult::ok);
  EXPECT_EQ(value, 0x4242u);
  ASSERT_EQ(mender.faults.size(), 2u);
  for (const Fault& fault : mender.faults) {
    EXPECT_TRUE(fault.tile_table);
  }
  // A fault that is not repaired: the walk continues with wrong data (zeros here) and makes spurious accesses.
  one.unmap(kL2);
  one.fresh();
  (void)one.read(kTrVa & ~uint64_t{7});
  ASSERT_GE(one.probe.faults.size(), 2u);
  EXPECT_EQ(one.probe.faults[0].address & ~uint64_t{0xfff}, kL2);
  EXPECT_TRUE(one.probe.faults[0].tile_table);
  EXPECT_EQ(one.probe.faults[1].address, ((kTrVa >> 16) & 0x3ff) * 4) << "a table at address zero";
  // In the fault unit: the fault is recorded, the engine continues, and a reset is expected.
  EventLog events;
  FaultUnit faults(one.bench.model, {}, events, "gpu0");
  EngineFaults handler(faults, 0);
  AddressSpace third(one.bench.memory, one.tlb, 3, handler);
  third.load(one.space.context());
  TiledResources third_tiles(one.registers, 0, third);
  third.set_pre_translation(&third_tiles);
  one.map(kTileVa, kTilePhys);
  (void)third.load_value<uint64_t>(GpuVa(kTrVa & ~uint64_t{7}));
  EXPECT_TRUE(faults.engine(0).reset_expected);
}

// Every table access goes through the client's own page tables.
TEST(Trtt, TablesHaveVirtualAddresses) {
  for (const WalkMode mode : {WalkMode::legacy48, WalkMode::advanced48}) {
    TiledBench one("icl", mode);
    one.enable();
    const uint64_t moved[3] = {0x5000'0000, 0x5100'0000, 0x5200'0000};
    const uint64_t tables[3] = {kL3, kL2, kL1};
    for (int i = 0; i < 3; ++i) {  // the same virtual address, another page
      for (uint64_t at = 0; at < 0x1000; at += 8) {
        one.bench.put(moved[i] + at, one.bench.get(tables[i] + at));
      }
      one.map(tables[i], moved[i]);
      for (uint64_t at = 0; at < 0x1000; at += 8) {
        one.bench.put(tables[i] + at, 0);
      }
    }
    one.fresh();
    one.bench.put(kTilePhys + (kTrVa & 0xfff8), 0x1717);
    EXPECT_EQ(one.read(kTrVa & ~uint64_t{7}), 0x1717u);
    EXPECT_TRUE(one.probe.faults.empty());
  }
}

// With nesting each of those accesses also goes through the second level; the walk of the tables is unchanged.
TEST(Trtt, VirtualTablesWorkWithNesting) {
  COVERS("ICL-TRTT-19");
  class Shifted final : public NestedTranslation {  // guest memory is 64 GB higher in the host
   public:
    Result translate(const PhysicalMemory&, uint64_t address) const override {
      asked.push_back(address & ~uint64_t{0xfff});
      return {address + 0x10'0000'0000, 12, true, true, true, FaultReason::none};
    }
    mutable std::vector<uint64_t> asked;
  };
  TiledBench one("icl", WalkMode::advanced48);
  // Moves the contents of the bench to the host addresses; the guest addresses are cleared.
  for (const uint64_t page :
       {uint64_t{0x10'0000}, uint64_t{0x10'1000}, uint64_t{0x10'2000}, uint64_t{0x10'4000},
        0x20'0000 + ((kL3 >> 21) & 0x3ff) * 0x1000, 0x20'0000 + ((kTileVa >> 21) & 0x3ff) * 0x1000, kL3, kL2, kL1}) {
    for (uint64_t at = 0; at < 0x1000; at += 8) {
      one.bench.put(0x10'0000'0000 + page + at, one.bench.get(page + at));
      one.bench.put(page + at, 0);
    }
  }
  one.bench.put(0x10'0000'0000 + kTilePhys + (kTrVa & 0xfff8), 0x1718);
  Shifted shifted;
  WalkContext context = one.space.context();
  context.nested = &shifted;
  one.space.load(context);
  one.enable();
  EXPECT_EQ(one.read(kTrVa & ~uint64_t{7}), 0x1718u);
  EXPECT_TRUE(one.probe.faults.empty());
  for (const uint64_t page : {kL3, kL2, kL1, kTilePhys + (kTrVa & 0xf000)}) {
    EXPECT_NE(std::ranges::find(shifted.asked, page), shifted.asked.end()) << std::hex << page;
  }
}

// If a table cannot be read now, the access stops: nothing is read or written, and it is retried from the start.
TEST(Trtt, HaltedTableReadStopsTheAccess) {
  for (const uint64_t table : {kL3, kL2, kL1}) {
    TiledBench one("icl");
    one.enable();
    one.probe.action = FaultAction::stop;
    one.unmap(table);
    one.bench.put(kTilePhys + (kTrVa & 0xfff8), 5);
    EXPECT_EQ(one.space.store_value<uint64_t>(GpuVa(kTrVa & ~uint64_t{7}), 6), AccessResult::stopped);
    EXPECT_EQ(one.probe.faults.size(), 1u) << "the lower tables are not read";
    EXPECT_EQ(one.bench.get(kTilePhys + (kTrVa & 0xfff8)), 5u);
    one.map(table, table);
    EXPECT_EQ(one.space.store_value<uint64_t>(GpuVa(kTrVa & ~uint64_t{7}), 6), AccessResult::ok);
    EXPECT_EQ(one.bench.get(kTilePhys + (kTrVa & 0xfff8)), 6u);
  }
}

// The registers are plain values that a context image can hold.
TEST(Trtt, StateCanBeSavedAndRestored) {
  TiledBench one("icl");
  one.enable();
  const TrttState saved = one.registers.state();
  one.registers.reset();
  EXPECT_FALSE(one.tiles.covers(kTrVa));
  one.registers.restore(saved);
  EXPECT_TRUE(one.tiles.covers(kTrVa));
  EXPECT_EQ(one.registers.state(), saved);
}

}  // namespace
}  // namespace halogen::memory::rows
