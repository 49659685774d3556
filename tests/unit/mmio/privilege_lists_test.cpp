// The privilege lists of Gen12 against rows typed from the requirement ledger, over every register of the MMIO space.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "covers.h"
#include "mmio/privilege.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;
using spec::EngineClass;
using spec::EngineModel;

enum Base : uint8_t { kNone, kEngine, kHevc, kVdenc, kHuc };
struct Row {
  Base base;
  uint32_t offset;
  uint32_t dwords;
};

// clang-format off
constexpr Row kWriteRender[] = {  // DG1-WL-01
    {kNone, 0x7000, 1}, {kNone, 0x7004, 1}, {kNone, 0x7008, 1}, {kNone, 0x2094, 1}, {kNone, 0x18094, 1},
    {kNone, 0x20c0, 1}, {kNone, 0x180c0, 1}, {kNone, 0x2310, 2}, {kNone, 0x18310, 2}, {kNone, 0x2318, 2},
    {kNone, 0x18318, 2}, {kNone, 0x2320, 2}, {kNone, 0x18320, 2}, {kNone, 0x2300, 2}, {kNone, 0x2308, 2},
    {kNone, 0x2328, 2}, {kNone, 0x2330, 2}, {kNone, 0x5200, 2}, {kNone, 0x5208, 2}, {kNone, 0x5210, 2},
    {kNone, 0x5218, 2}, {kNone, 0x5240, 2}, {kNone, 0x5248, 2}, {kNone, 0x5250, 2}, {kNone, 0x5258, 2},
    {kNone, 0x5280, 1}, {kNone, 0x5284, 1}, {kNone, 0x5288, 1}, {kNone, 0x528c, 1}, {kNone, 0x2338, 2},
    {kNone, 0x18338, 2}, {kNone, 0x2340, 2}, {kNone, 0x18340, 2}, {kNone, 0x2348, 2}, {kNone, 0x2350, 2},
    {kNone, 0x22c8, 2}, {kNone, 0x22d8, 2}, {kNone, 0x22f0, 2}, {kNone, 0x22f8, 2}, {kNone, 0x2448, 2},
    {kNone, 0x2450, 2}, {kNone, 0x2458, 2}, {kNone, 0x2460, 2}, {kNone, 0x2468, 2}, {kNone, 0x2470, 2},
    {kNone, 0x24a0, 2}, {kNone, 0x24a8, 2}, {kNone, 0x25d0, 2}, {kNone, 0x25b0, 2}, {kNone, 0x25d8, 2},
    {kNone, 0x25b8, 2}, {kNone, 0x2478, 2}, {kNone, 0x2500, 1}, {kNone, 0x2504, 1}, {kNone, 0x2508, 1},
    {kNone, 0x2400, 1}, {kNone, 0x18400, 1}, {kNone, 0x2404, 1}, {kNone, 0x18404, 1}, {kNone, 0x2408, 1},
    {kNone, 0x18408, 1}, {kNone, 0x240c, 1}, {kNone, 0x1840c, 1}, {kNone, 0x2410, 1}, {kNone, 0x18410, 1},
    {kNone, 0x2414, 1}, {kNone, 0x18414, 1}, {kNone, 0x2418, 1}, {kNone, 0x18418, 1}, {kNone, 0x241c, 1},
    {kNone, 0x1841c, 1}, {kNone, 0x23bc, 1}, {kNone, 0x183bc, 1}, {kNone, 0x2420, 1}, {kNone, 0x18420, 1},
    {kNone, 0x2430, 1}, {kNone, 0x18430, 1}, {kNone, 0x2434, 1}, {kNone, 0x18434, 1}, {kNone, 0x2438, 1},
    {kNone, 0x18438, 1}, {kNone, 0x243c, 1}, {kNone, 0x1843c, 1}, {kNone, 0x2440, 1}, {kNone, 0x18440, 1},
    {kNone, 0x2690, 1}, {kNone, 0x18690, 1}, {kNone, 0x2694, 1}, {kNone, 0x18694, 1}, {kNone, 0x2698, 1},
    {kNone, 0x18698, 1}, {kNone, 0x2290, 2}, {kNone, 0x2158, 1}, {kNone, 0x18158, 1}, {kNone, 0x2600, 32},
    {kNone, 0x18600, 32}, {kNone, 0x2360, 1}, {kNone, 0x2aa0, 1}, {kNone, 0x2364, 1}, {kNone, 0x2960, 1},
    {kNone, 0x2968, 1}, {kNone, 0x2178, 1}, {kNone, 0x217c, 1}, {kNone, 0xe518, 1}, {kNone, 0x18590, 1},
    {kNone, 0x7038, 1}, {kNone, 0x2084, 1}, {kNone, 0x7040, 1}, {kNone, 0x4200, 1}, {kNone, 0x4204, 1},
    {kNone, 0x4208, 1}, {kNone, 0x4400, 1}, {kNone, 0x4404, 1}, {kNone, 0x4408, 1}, {kNone, 0x440c, 1},
    {kNone, 0x4410, 1}, {kNone, 0x4414, 1}, {kNone, 0xb100, 1}, {kNone, 0xb118, 1}, {kNone, 0xb158, 1},
    {kNone, 0xb15c, 1}, {kNone, 0xb134, 1}, {kNone, 0xb138, 1},
};
constexpr Row kWriteCompute[] = {  // DG1-WL-02
    {kNone, 0x1a094, 1}, {kNone, 0x1a0c0, 1}, {kNone, 0x1a500, 1}, {kNone, 0x1a504, 1}, {kNone, 0x1a508, 1},
    {kNone, 0x1a400, 1}, {kNone, 0x1a404, 1}, {kNone, 0x1a408, 1}, {kNone, 0x1a40c, 1}, {kNone, 0x1a410, 1},
    {kNone, 0x1a414, 1}, {kNone, 0x1a418, 1}, {kNone, 0x1a41c, 1}, {kNone, 0x1a3bc, 1}, {kNone, 0x1a290, 2},
    {kNone, 0x1a158, 1}, {kNone, 0x1a600, 32}, {kNone, 0x1a178, 1}, {kNone, 0x1a17c, 1}, {kNone, 0x1a084, 1},
    {kNone, 0x42c0, 1}, {kNone, 0x42c4, 1}, {kNone, 0x42c8, 1}, {kNone, 0x4580, 1}, {kNone, 0x4584, 1},
    {kNone, 0x4588, 1}, {kNone, 0x458c, 1}, {kNone, 0x4590, 1}, {kNone, 0x4594, 1},
};
constexpr Row kWriteBlit[] = {  // DG1-WL-03
    {kNone, 0x22600, 32}, {kNone, 0x22200, 1}, {kNone, 0x22204, 1}, {kNone, 0x22178, 1}, {kNone, 0x2217c, 1},
    {kNone, 0x4480, 1}, {kNone, 0x4484, 1}, {kNone, 0x4488, 1}, {kNone, 0x448c, 1}, {kNone, 0x4490, 1},
    {kNone, 0x4494, 1}, {kNone, 0x22094, 1}, {kNone, 0x2241c, 1}, {kNone, 0x223bc, 1}, {kNone, 0x220c0, 1},
};
constexpr Row kWriteVebox[] = {  // DG1-WL-04
    {kEngine, 0x600, 32}, {kEngine, 0x178, 1}, {kEngine, 0x17c, 1}, {kEngine, 0x94, 1}, {kEngine, 0x41c, 1},
    {kEngine, 0x3bc, 1}, {kEngine, 0xc0, 1},
};
constexpr Row kWriteVideo[] = {  // DG1-WL-05
    {kEngine, 0x600, 32}, {kEngine, 0x178, 1}, {kEngine, 0x17c, 1}, {kEngine, 0x800, 512}, {kHevc, 0x0, 64},
    {kVdenc, 0x0, 64}, {kEngine, 0x94, 1}, {kEngine, 0x41c, 1}, {kEngine, 0x3bc, 1}, {kEngine, 0xc0, 1},
};
constexpr Row kWriteVebox1[] = {  // DG1-WL-06
    {kNone, 0x42b0, 1}, {kNone, 0x42b4, 1}, {kNone, 0x42b8, 1}, {kNone, 0x4560, 1}, {kNone, 0x4564, 1},
    {kNone, 0x4568, 1}, {kNone, 0x456c, 1}, {kNone, 0x4570, 1}, {kNone, 0x4574, 1},
};
constexpr Row kWriteVideo2[] = {  // DG1-WL-07
    {kNone, 0x4290, 1}, {kNone, 0x4294, 1}, {kNone, 0x4298, 1}, {kNone, 0x4520, 1}, {kNone, 0x4524, 1},
    {kNone, 0x4528, 1}, {kNone, 0x452c, 1}, {kNone, 0x4530, 1}, {kNone, 0x4534, 1},
};
constexpr Row kWriteVideo3[] = {  // DG1-WL-08
    {kNone, 0x42a0, 1}, {kNone, 0x42a4, 1}, {kNone, 0x42a8, 1}, {kNone, 0x4540, 1}, {kNone, 0x4544, 1},
    {kNone, 0x4548, 1}, {kNone, 0x454c, 1}, {kNone, 0x4550, 1}, {kNone, 0x4554, 1},
};
constexpr Row kReadAll[] = {  // DG1-WL-09
    {kNone, 0x2700, 64}, {kNone, 0x2b00, 320}, {kNone, 0xd900, 192},
};
constexpr Row kReadRender[] = {  // DG1-WL-10
    {kNone, 0x2358, 2}, {kNone, 0x18358, 2}, {kNone, 0x1808c, 1}, {kNone, 0xa01c, 1}, {kNone, 0x2800, 192},
    {kNone, 0x145040, 7}, {kNone, 0x145828, 13}, {kNone, 0x145928, 24}, {kNone, 0xa288, 1}, {kNone, 0xa28c, 1},
    {kNone, 0xa538, 1}, {kNone, 0xa53c, 1}, {kNone, 0xa058, 1}, {kNone, 0xa064, 1}, {kNone, 0xa068, 1},
    {kNone, 0xa06c, 1}, {kNone, 0x138108, 1}, {kNone, 0x13810c, 1}, {kNone, 0x23a8, 1}, {kNone, 0xdafc, 1},
    {kNone, 0xdb00, 1}, {kNone, 0xdb04, 1},
};
constexpr Row kReadCompute[] = {  // DG1-WL-11
    {kEngine, 0x358, 2}, {kNone, 0xa01c, 1}, {kNone, 0x145040, 7}, {kNone, 0x145828, 13}, {kNone, 0x145928, 24},
    {kNone, 0xa288, 1}, {kNone, 0xa28c, 1}, {kNone, 0xa538, 1}, {kNone, 0xa53c, 1}, {kNone, 0xa058, 1},
    {kNone, 0xa064, 1}, {kNone, 0xa068, 1}, {kNone, 0xa06c, 1}, {kNone, 0x138108, 1}, {kNone, 0x13810c, 1},
    {kEngine, 0x3a8, 1}, {kNone, 0xdafc, 1}, {kNone, 0xdb00, 1}, {kNone, 0xdb04, 1}, {kNone, 0x15000, 160},
};
constexpr Row kReadBlit[] = {  // DG1-WL-12
    {kNone, 0x22358, 2}, {kNone, 0xa01c, 1}, {kNone, 0x91b8, 1}, {kNone, 0x91bc, 1}, {kNone, 0x91c0, 1},
    {kNone, 0x91c4, 1}, {kNone, 0x145040, 7}, {kNone, 0x145828, 13}, {kNone, 0x145928, 24}, {kNone, 0xa288, 1},
    {kNone, 0xa28c, 1}, {kNone, 0xa538, 1}, {kNone, 0xa53c, 1}, {kNone, 0xa058, 1}, {kNone, 0xa064, 1},
    {kNone, 0xa068, 1}, {kNone, 0xa06c, 1}, {kNone, 0x138108, 1}, {kNone, 0x13810c, 1}, {kNone, 0xdafc, 1},
    {kNone, 0xdb00, 1}, {kNone, 0xdb04, 1},
};
constexpr Row kReadVideo[] = {  // DG1-WL-13
    {kHuc, 0x0, 1}, {kEngine, 0x358, 2}, {kNone, 0xa01c, 1}, {kNone, 0x91b8, 1}, {kNone, 0x91bc, 1},
    {kNone, 0x91c0, 1}, {kNone, 0x91c4, 1}, {kNone, 0x145040, 7}, {kNone, 0x145828, 13}, {kNone, 0x145928, 24},
    {kNone, 0xa288, 1}, {kNone, 0xa28c, 1}, {kNone, 0xa538, 1}, {kNone, 0xa53c, 1}, {kNone, 0xa058, 1},
    {kNone, 0xa064, 1}, {kNone, 0xa068, 1}, {kNone, 0xa06c, 1}, {kNone, 0x138108, 1}, {kNone, 0x13810c, 1},
    {kHuc, 0x14, 1}, {kHuc, 0x3b0, 1}, {kEngine, 0x8c, 1}, {kNone, 0xdafc, 1}, {kNone, 0xdb00, 1}, {kNone, 0xdb04, 1},
    {kNone, 0xd00, 1},
};
constexpr Row kReadVebox[] = {  // DG1-WL-14
    {kEngine, 0x358, 2}, {kNone, 0xa01c, 1}, {kNone, 0x91b8, 1}, {kNone, 0x91bc, 1}, {kNone, 0x91c0, 1},
    {kNone, 0x91c4, 1}, {kNone, 0x145040, 7}, {kNone, 0x145828, 13}, {kNone, 0x145928, 24}, {kNone, 0xa288, 1},
    {kNone, 0xa28c, 1}, {kNone, 0xa538, 1}, {kNone, 0xa53c, 1}, {kNone, 0xa058, 1}, {kNone, 0xa064, 1},
    {kNone, 0xa068, 1}, {kNone, 0xa06c, 1}, {kNone, 0x138108, 1}, {kNone, 0x13810c, 1}, {kEngine, 0x8c, 1},
    {kNone, 0xdafc, 1}, {kNone, 0xdb00, 1}, {kNone, 0xdb04, 1},
};
// clang-format on

// DG1-WL-08: the manual has no lists of VDBOX-0 and VEBOX-0; these follow the context images.
constexpr Row kWriteVideo0[] = {{kNone, 0x4210, 3}, {kNone, 0x4420, 6}};
constexpr Row kWriteVebox0[] = {{kNone, 0x4230, 3}, {kNone, 0x4460, 6}};

// Unit bases of DG1 PRM vol. 13, "Register Access and User Mode Privileges" (seed 000).
struct Unit {
  EngineModel engine;
  uint32_t hevc;
  uint32_t vdenc;
  uint32_t huc;
};
constexpr Unit kRcs = {{"rcs0", EngineClass::render, 0, 0x2000, "render"}, 0, 0, 0};
constexpr Unit kPocs = {{"pocs0", EngineClass::posh, 0, 0x18000, "render"}, 0, 0, 0};
constexpr Unit kCcs = {{"ccs0", EngineClass::compute, 0, 0x1a000, "render"}, 0, 0, 0};
constexpr Unit kBcs = {{"bcs0", EngineClass::blit, 0, 0x22000, "gt"}, 0, 0, 0};
constexpr Unit kVcs0 = {{"vcs0", EngineClass::video, 0, 0x1c0000, "vd0"}, 0x1c2800, 0x1c2d00, 0x1c2000};
constexpr Unit kVcs1 = {{"vcs1", EngineClass::video, 1, 0x1c4000, "vd1"}, 0x1c6800, 0x1c6d00, 0x1c6000};
constexpr Unit kVcs2 = {{"vcs2", EngineClass::video, 2, 0x1d0000, "vd2"}, 0x1d2800, 0x1d2d00, 0x1d2000};
constexpr Unit kVcs3 = {{"vcs3", EngineClass::video, 3, 0x1d4000, "vd3"}, 0x1d6800, 0x1d6d00, 0x1d6000};
constexpr Unit kVecs0 = {{"vecs0", EngineClass::vebox, 0, 0x1c8000, "ve0"}, 0, 0, 0};
constexpr Unit kVecs1 = {{"vecs1", EngineClass::vebox, 1, 0x1d8000, "ve1"}, 0, 0, 0};

using Set = std::set<uint32_t>;

uint32_t base_of(const Unit& unit, Base base) {
  switch (base) {
    case kNone:
      return 0;
    case kEngine:
      return unit.engine.mmio_base;
    case kHevc:
      return unit.hevc;
    case kVdenc:
      return unit.vdenc;
    case kHuc:
      return unit.huc;
  }
  return 0;
}

Set registers_of(const Unit& unit, std::initializer_list<std::span<const Row>> lists) {
  Set out;
  for (const std::span<const Row> list : lists) {
    for (const Row& row : list) {
      for (uint32_t i = 0; i < row.dwords; ++i) {
        out.insert(base_of(unit, row.base) + row.offset + 4 * i);
      }
    }
  }
  return out;
}

uint32_t dwords_of(std::span<const Row> list) {
  uint32_t sum = 0;
  for (const Row& row : list) {
    sum += row.dwords;
  }
  return sum;
}

// Returns the registers that a unit may access. They are looked up once for each unit.
const Set& allowed(const Unit& unit, RegisterAccess access) {
  static std::map<std::pair<std::string_view, RegisterAccess>, Set> known;
  const auto [place, unknown] = known.try_emplace({unit.engine.name, access});
  Set& out = place->second;
  if (!unknown) {
    return out;
  }
  const Privilege privilege(DeviceId::dg1, unit.engine);
  const Privilege same(DeviceId::tgl, unit.engine);  // the chips share the manual's tables
  for (uint32_t offset = 0; offset < 0x240000; offset += 4) {
    EXPECT_EQ(same.allows(offset, access, {}), privilege.allows(offset, access, {}));
    if (privilege.allows(offset, access, {})) {
      out.insert(offset);
    }
  }
  return out;
}

void expect_writable(const Unit& unit, std::initializer_list<std::span<const Row>> lists) {
  EXPECT_EQ(allowed(unit, RegisterAccess::write), registers_of(unit, lists)) << unit.engine.name;
}

void expect_readable(const Unit& unit, std::initializer_list<std::span<const Row>> lists) {
  EXPECT_EQ(allowed(unit, RegisterAccess::read), registers_of(unit, lists)) << unit.engine.name;
}

// Checks the number of rows and dwords of a list in spec/.
void expect_size(std::string_view name, size_t rows, uint32_t dwords) {
  for (const spec::PrivilegeList& list : spec::privilege_lists()) {
    if (list.name == name) {
      EXPECT_EQ(list.rows.size(), rows) << name;
      uint32_t sum = 0;
      for (const spec::PrivilegeRow& row : list.rows) {
        sum += row.dwords;
      }
      EXPECT_EQ(sum, dwords) << name;
      return;
    }
  }
  ADD_FAILURE() << "no list " << name;
}

TEST(Dg1PrivilegeLists, WriteRenderAndPositionListMatchesTheLedger) {
  COVERS("DG1-WL-01");
  expect_size("gen12_write_rcs_pocs", 123, 227);
  EXPECT_EQ(dwords_of(kWriteRender), 227u);
  expect_writable(kRcs, {kWriteRender});
  expect_writable(kPocs, {kWriteRender});
}

TEST(Dg1PrivilegeLists, WriteComputeListMatchesTheLedger) {
  COVERS("DG1-WL-02");
  expect_size("gen12_write_ccs", 29, 61);
  expect_writable(kCcs, {kWriteCompute});
}

TEST(Dg1PrivilegeLists, WriteBlitListMatchesTheLedger) {
  COVERS("DG1-WL-03");
  expect_size("gen12_write_bcs", 15, 46);
  expect_writable(kBcs, {kWriteBlit});
}

TEST(Dg1PrivilegeLists, WriteVeboxListMatchesTheLedger) {
  COVERS("DG1-WL-04");
  expect_size("gen12_write_vecs", 7, 38);
  expect_writable(kVecs0, {kWriteVebox, kWriteVebox0});
}

TEST(Dg1PrivilegeLists, WriteVideoListMatchesTheLedger) {
  COVERS("DG1-WL-05");
  expect_size("gen12_write_vcs", 10, 678);
  expect_writable(kVcs0, {kWriteVideo, kWriteVideo0});
  expect_writable(kVcs1, {kWriteVideo});
}

TEST(Dg1PrivilegeLists, WriteVebox1OnlyListMatchesTheLedger) {
  COVERS("DG1-WL-06");
  expect_size("gen12_write_vecs1", 9, 9);
  expect_writable(kVecs1, {kWriteVebox, kWriteVebox1});
}

TEST(Dg1PrivilegeLists, WriteVideo2OnlyListMatchesTheLedger) {
  COVERS("DG1-WL-07");
  expect_size("gen12_write_vcs2", 9, 9);
  expect_writable(kVcs2, {kWriteVideo, kWriteVideo2});
}

TEST(Dg1PrivilegeLists, WriteVideo3OnlyListMatchesTheLedger) {
  COVERS("DG1-WL-08");
  expect_size("gen12_write_vcs3", 9, 9);
  expect_writable(kVcs3, {kWriteVideo, kWriteVideo3});
  expect_writable(kVcs0, {kWriteVideo, kWriteVideo0});
  expect_writable(kVecs0, {kWriteVebox, kWriteVebox0});
}

TEST(Dg1PrivilegeLists, ReadAllListMatchesTheLedger) {
  COVERS("DG1-WL-09");
  expect_size("gen12_read_all", 3, 576);
  for (const Unit& unit : {kRcs, kPocs, kCcs, kBcs, kVcs0, kVcs2, kVecs0}) {
    const Set& readable = allowed(unit, RegisterAccess::read);
    for (const uint32_t offset : registers_of(unit, {kReadAll})) {
      EXPECT_TRUE(readable.contains(offset)) << unit.engine.name << std::hex << " " << offset;
    }
  }
}

TEST(Dg1PrivilegeLists, ReadRenderAndPositionListMatchesTheLedger) {
  COVERS("DG1-WL-10");
  expect_size("gen12_read_rcs_pocs", 22, 256);
  expect_readable(kRcs, {kWriteRender, kReadAll, kReadRender});
  expect_readable(kPocs, {kWriteRender, kReadAll, kReadRender});
}

TEST(Dg1PrivilegeLists, ReadComputeListMatchesTheLedger) {
  COVERS("DG1-WL-11");
  expect_size("gen12_read_ccs", 20, 221);
  expect_readable(kCcs, {kWriteCompute, kReadAll, kReadCompute});
}

TEST(Dg1PrivilegeLists, ReadBlitListMatchesTheLedger) {
  COVERS("DG1-WL-12");
  expect_size("gen12_read_bcs", 22, 64);
  expect_readable(kBcs, {kWriteBlit, kReadAll, kReadBlit});
}

TEST(Dg1PrivilegeLists, ReadVideoListMatchesTheLedger) {
  COVERS("DG1-WL-13");
  expect_size("gen12_read_vcs", 27, 69);
  expect_readable(kVcs0, {kWriteVideo, kWriteVideo0, kReadAll, kReadVideo});
  expect_readable(kVcs2, {kWriteVideo, kWriteVideo2, kReadAll, kReadVideo});
}

TEST(Dg1PrivilegeLists, ReadVeboxListMatchesTheLedger) {
  COVERS("DG1-WL-14");
  expect_size("gen12_read_vecs", 23, 65);
  expect_readable(kVecs0, {kWriteVebox, kWriteVebox0, kReadAll, kReadVebox});
}

// In the manual the titles of three tables are printed below them; the addresses show the engine.
TEST(Dg1PrivilegeLists, ListsBelongToTheEngineOfTheirAddresses) {
  COVERS("DG1-WL-15");
  const struct {
    const Unit& unit;
    uint32_t nopid;
  } rows[] = {{kRcs, 0x2094}, {kCcs, 0x1a094}, {kBcs, 0x22094}, {kVcs0, 0x1c0094}, {kVecs0, 0x1c8094}};
  for (const auto& mine : rows) {
    for (const auto& other : rows) {
      const Privilege privilege(DeviceId::dg1, mine.unit.engine);
      EXPECT_EQ(privilege.listed(other.nopid, RegisterAccess::write), &mine == &other)
          << mine.unit.engine.name << std::hex << " " << other.nopid;
    }
  }
}

TEST(Dg1PrivilegeLists, GlobalObservabilityIsReadOnly) {
  COVERS("DG1-WL-16");
  for (const Unit& unit : {kRcs, kPocs, kCcs, kBcs, kVcs0, kVecs0}) {
    const Privilege privilege(DeviceId::dg1, unit.engine);
    for (const uint32_t offset : registers_of(unit, {kReadAll})) {
      EXPECT_TRUE(privilege.allows(offset, RegisterAccess::read, {}));
      EXPECT_FALSE(privilege.allows(offset, RegisterAccess::write, {})) << unit.engine.name;
    }
  }
}

}  // namespace
}  // namespace halogen::mmio
