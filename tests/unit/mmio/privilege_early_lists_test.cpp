// The registers of non-privileged batches before Gen12, over every dword that a command can name. The sets are typed
// from intel-gpu-tools (gem_ctx_isolation.c), Linux 6.1 (intel_workarounds.c, i915_cmd_parser.c, and the accesses that
// its driver makes) and the rules of each generation, independent of spec/.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mmio/privilege.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;
using spec::EngineClass;
using spec::EngineModel;
using Set = std::set<uint32_t>;

constexpr uint32_t kReach = 0x80'0000;  // a command names 23 bits of an offset

// First and last dword, both included.
using Runs = std::vector<std::pair<uint32_t, uint32_t>>;

Set set_of(const Runs& runs, uint32_t base = 0) {
  Set out;
  for (const auto& [first, last] : runs) {
    for (uint32_t offset = first; offset <= last; offset += 4) out.insert(base + offset);
  }
  return out;
}

Set operator+(Set left, const Set& right) {
  left.insert(right.begin(), right.end());
  return left;
}

const Runs kRender{{0x2094, 0x2094}, {0x20c0, 0x20c0}, {0x2158, 0x2158}, {0x2290, 0x2294}, {0x22c8, 0x22cc},
                   {0x22d8, 0x22dc}, {0x22f0, 0x22fc}, {0x2300, 0x2344}, {0x2360, 0x2364}, {0x23bc, 0x23bc},
                   {0x2400, 0x2420}, {0x2430, 0x2440}, {0x2448, 0x2454}, {0x2500, 0x2508}, {0x2600, 0x267c},
                   {0x2b00, 0x2b00}, {0x5200, 0x521c}, {0x5240, 0x525c}, {0x5280, 0x528c}, {0x7000, 0x7008},
                   {0x7034, 0x7034}, {0x91b8, 0x91c4}, {0xe400, 0xe404}};
const Runs kGeneral{{0x600, 0x67c}};

bool is_gen8(DeviceId id) {
  return id == DeviceId::bdw || id == DeviceId::chv;
}

Set writable(DeviceId id, const EngineModel& engine) {
  const bool later = id == DeviceId::skl || id == DeviceId::icl;
  if (!is_gen8(id) && !later) {
    return {};  // Gen4 to Gen6: no register write at all
  }
  const uint32_t base = engine.mmio_base;
  const Set general = later ? set_of(kGeneral, base) : Set{};
  switch (engine.engine_class) {
    case EngineClass::render: {
      Set out = set_of(kRender);
      if (later) out.insert(0x20d8);
      if (id == DeviceId::icl) out.insert({0x2090, 0x2580, 0xb0a4});
      return out;
    }
    case EngineClass::blit:
      return general + set_of({{0x200, 0x200}}, base);
    case EngineClass::video:
      return general + set_of({{0x800, 0x8fc}}, base);
    default:
      return general;
  }
}

// Returns the registers that may be read. No value: all may, because the hardware does not check reads.
std::optional<Set> readable(DeviceId id, const EngineModel& engine) {
  const uint32_t base = engine.mmio_base;
  if (id == DeviceId::skl && engine.engine_class == EngineClass::blit) {  // i915's command parser
    return set_of({{0x2358, 0x235c}, {0x12358, 0x1235c}, {0x22358, 0x2235c}, {0x223a8, 0x223a8}});
  }
  if (id != DeviceId::icl) {
    return std::nullopt;
  }
  Set out = set_of({{0x358, 0x35c}}, base) +
            set_of({{0x2700, 0x27fc}, {0x2b00, 0x2ffc}, {0xa01c, 0xa01c}, {0x91b8, 0x91c4}, {0x138108, 0x138108}});
  if (engine.engine_class == EngineClass::render) {
    out = out + set_of({{0x23a8, 0x23a8}, {0x2800, 0x28fc}});
  }
  return out;
}

Set allowed(const Privilege& privilege, RegisterAccess access) {
  Set out;
  for (uint32_t offset = 0; offset < kReach; offset += 4) {
    if (privilege.allows(offset, access, {})) out.insert(offset);
  }
  return out;
}

class EarlyPrivilegeLists : public ::testing::TestWithParam<std::string> {};

TEST_P(EarlyPrivilegeLists, EveryDwordIsWritableOrRefusedAsTheSourcesSay) {
  const DeviceId id = spec::find_device(GetParam())->id;
  for (const EngineModel& engine : spec::model(id).engines) {
    const Privilege privilege(id, engine);
    EXPECT_EQ(allowed(privilege, RegisterAccess::write), writable(id, engine)) << engine.name;
  }
}

TEST_P(EarlyPrivilegeLists, EveryDwordIsReadableOrRefusedAsTheSourcesSay) {
  const DeviceId id = spec::find_device(GetParam())->id;
  for (const EngineModel& engine : spec::model(id).engines) {
    const Privilege privilege(id, engine);
    if (const std::optional<Set> only = readable(id, engine)) {
      EXPECT_EQ(allowed(privilege, RegisterAccess::read), *only + writable(id, engine)) << engine.name;
      continue;
    }
    uint32_t refused = 0;
    for (uint32_t offset = 0; offset < kReach; offset += 4) {
      refused += privilege.allows(offset, RegisterAccess::read, {}) ? 0u : 1u;
    }
    EXPECT_EQ(refused, 0u) << engine.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, EarlyPrivilegeLists,
                         ::testing::Values("i965", "gm965", "g45", "gm45", "snb", "bdw", "chv", "skl", "icl"),
                         [](const auto& chip) { return chip.param; });

// No list of any chip opens a register that controls the engine, its tables or its interrupts.
TEST(PrivilegeLists, NeverOpenControlRegisters) {
  // Offsets from an engine's base: ring tail, head, start, control; HWS_PGA, IMR, EIR, EMR; execlist ports and page
  // directories; GFX_MODE; FORCE_TO_NONPRIV; RESET_CTL; MI_MODE.
  const Runs own{{0x30, 0x3c},   {0x80, 0x80},   {0x9c, 0x9c},   {0xa8, 0xa8},   {0xb0, 0xb8},   {0xd0, 0xd0},
                 {0x230, 0x230}, {0x244, 0x244}, {0x270, 0x28c}, {0x29c, 0x29c}, {0x4d0, 0x4fc}, {0x510, 0x550}};
  // Global table, faults, arbiters, force wake, resets, interrupts, display planes.
  const Runs others{{0x4090, 0x40fc},   {0x941c, 0x941c},   {0x9424, 0x9424},     {0xa188, 0xa188},
                    {0x44200, 0x444fc}, {0x70180, 0x7019c}, {0x100000, 0x100ffc}, {0x190010, 0x1900fc}};
  for (const spec::DeviceModel& model : spec::device_models()) {
    for (const EngineModel& engine : model.engines) {
      const Privilege privilege(model.id, engine);
      for (const EngineModel& other : model.engines) {
        for (const uint32_t offset : set_of(own, other.mmio_base) + set_of(others)) {
          ASSERT_FALSE(privilege.allows(offset, RegisterAccess::write, {}))
              << model.name << ' ' << engine.name << std::hex << ' ' << offset;
        }
      }
    }
  }
}

// The values that Linux 6.1 writes on Ice Lake and DG1, as its driver's accesses show them.
TEST(ForceToNonPriv, SlotsOfTheDriverAreThoseOfLinux) {
  const auto slots = [](DeviceId id, std::string_view name) {
    const auto& engines = spec::model(id).engines;
    return slots_of_driver(id, *std::ranges::find(engines, name, &EngineModel::name));
  };
  using Values = std::vector<uint32_t>;
  EXPECT_EQ(slots(DeviceId::icl, "rcs0"), (Values{0x731c, 0xe18c, 0xe194, 0x1000'2349}));
  EXPECT_EQ(slots(DeviceId::icl, "bcs0"), (Values{0x1002'23a8}));
  EXPECT_EQ(slots(DeviceId::icl, "vcs0"), (Values{0x101c'03a8, 0x101c'2000, 0x101c'2014, 0x101c'23b0}));
  EXPECT_EQ(slots(DeviceId::icl, "vcs2"), (Values{0x101d'03a8, 0x101d'2000, 0x101d'2014, 0x101d'23b0}));
  EXPECT_EQ(slots(DeviceId::icl, "vecs0"), (Values{0x101c'83a8}));
  EXPECT_EQ(slots(DeviceId::dg1, "rcs0"), (Values{0x7010, 0x7018, 0x1000'2349}));
  EXPECT_EQ(slots(DeviceId::tgl, "rcs0"), (Values{0x7010, 0x7018, 0x1000'2349}));
  EXPECT_EQ(slots(DeviceId::dg1, "vcs0"), (Values{0x101c'03a8}));
  EXPECT_EQ(slots(DeviceId::skl, "rcs0"), (Values{0x2248, 0x2580, 0x7304, 0x7014, 0xb118}));
  EXPECT_EQ(slots(DeviceId::skl, "bcs0"), Values{});
  EXPECT_EQ(slots(DeviceId::bdw, "rcs0"), Values{});
}

}  // namespace
}  // namespace halogen::mmio
