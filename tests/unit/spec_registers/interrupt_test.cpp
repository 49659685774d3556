// Layout of the interrupt registers: ledger dg1.md rows IRQ (DG1 PRM vol. 13, Interrupts, seed 000), the Gen4 bank of
// G45 PRM vol. 1b chapter 5 (seed 003), and the banks of Gen6 and Gen8.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "covers.h"
#include "unit/spec_registers/registers.h"

namespace halogen::spec_registers {
namespace {

using spec::Access;

TEST(Gen12Interrupt, MasterPendingIdentityAndSelectorHaveTheirLayouts) {
  COVERS("DG1-IRQ-11");
  EXPECT_EQ(at(DeviceId::dg1, "GFX_MSTR_IRQ"), 0x190010u);
  EXPECT_EQ(bits(GenId::gen12, "GFX_MSTR_IRQ", "enable"), (Bits{31, 31}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MSTR_IRQ", "gt_dw0"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MSTR_IRQ", "gt_dw1"), (Bits{1, 1}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MSTR_IRQ", "display"), (Bits{16, 16}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MSTR_IRQ", "gu_misc"), (Bits{29, 29}));
  EXPECT_EQ(at(DeviceId::dg1, "MSTR_TILE_INTR"), 0x190008u);
  EXPECT_EQ(at(DeviceId::tgl, "MSTR_TILE_INTR"), kNowhere);
  EXPECT_EQ(at(DeviceId::dg1, "GT_INTR_DW0"), 0x190018u);
  EXPECT_EQ(at(DeviceId::dg1, "GT_INTR_DW1"), 0x19001cu);
  EXPECT_EQ(at(DeviceId::dg1, "INTR_IDENTITY_REG0"), 0x190060u);
  EXPECT_EQ(at(DeviceId::dg1, "INTR_IDENTITY_REG1"), 0x190064u);
  EXPECT_EQ(at(DeviceId::dg1, "IIR_REG_SELECTOR0"), 0x190070u);
  EXPECT_EQ(at(DeviceId::dg1, "IIR_REG_SELECTOR1"), 0x190074u);
  for (const std::string_view reg : {"INTR_IDENTITY_REG0", "INTR_IDENTITY_REG1"}) {
    EXPECT_EQ(bits(GenId::gen12, reg, "valid"), (Bits{31, 31}));
    EXPECT_EQ(bits(GenId::gen12, reg, "engine_class"), (Bits{18, 16}));
    EXPECT_EQ(bits(GenId::gen12, reg, "instance"), (Bits{25, 20}));
    EXPECT_EQ(bits(GenId::gen12, reg, "data"), (Bits{15, 0}));
  }
  struct Source {
    std::string_view name;
    int bit;
  };
  for (const std::string_view reg : {"GT_INTR_DW0", "IIR_REG_SELECTOR0"}) {
    for (const Source& s : {Source{"rcs0", 0},
                            {"ccs0", 4},
                            {"ccs1", 5},
                            {"ccs2", 6},
                            {"ccs3", 7},
                            {"bcs", 15},
                            {"gtpm", 16},
                            {"kcr", 19},
                            {"wdperf", 20},
                            {"guc", 25},
                            {"gunit", 28},
                            {"csme", 31}}) {
      EXPECT_EQ(bits(GenId::gen12, reg, s.name), (Bits{s.bit, s.bit})) << reg << ' ' << s.name;
    }
  }
  for (const std::string_view reg : {"GT_INTR_DW1", "IIR_REG_SELECTOR1"}) {
    for (int n = 0; n < 8; ++n) {
      EXPECT_EQ(bits(GenId::gen12, reg, "vcs" + std::to_string(n)), (Bits{n, n})) << reg;
    }
    for (int n = 0; n < 4; ++n) {
      EXPECT_EQ(bits(GenId::gen12, reg, "vecs" + std::to_string(n)), (Bits{31 - n, 31 - n})) << reg;
    }
  }
}

struct Pair {
  std::string_view name;
  uint32_t offset;
  std::string_view upper;
  std::string_view lower;
};

void expect_pairs(std::span<const Pair> pairs) {
  for (const Pair& pair : pairs) {
    EXPECT_EQ(at(DeviceId::dg1, pair.name), pair.offset) << pair.name;
    EXPECT_EQ(bits(GenId::gen12, pair.name, pair.upper), (Bits{31, 16})) << pair.name;
    if (!pair.lower.empty()) {
      EXPECT_EQ(bits(GenId::gen12, pair.name, pair.lower), (Bits{15, 0})) << pair.name;
    }
  }
}

TEST(Gen12Interrupt, EnablesArePerClassAndMasksPerInstance) {
  COVERS("DG1-IRQ-12");
  constexpr std::array enables = {Pair{"RENDER_COPY_INTR_ENABLE", 0x190030, "render", "copy"},
                                  Pair{"VCS_VECS_INTR_ENABLE", 0x190034, "vcs", "vecs"},
                                  Pair{"GUC_SG_INTR_ENABLE", 0x190038, "guc", ""},
                                  Pair{"GPM_WGBOXPERF_INTR_ENABLE", 0x19003c, "gpm", "wgboxperf"},
                                  Pair{"CRYPTO_RSVD_INTR_ENABLE", 0x190040, "crypto", ""},
                                  Pair{"GUNIT_CSME_INTR_ENABLE", 0x190044, "gunit", "csme"},
                                  Pair{"CCS_RSVD_INTR_ENABLE", 0x190048, "ccs", ""}};
  expect_pairs(enables);
  for (const Pair& pair : enables) {
    EXPECT_EQ(reset(DeviceId::dg1, pair.name), 0u) << "nothing is enabled after reset";
  }
  constexpr std::array masks = {Pair{"RCS0_RSVD_INTR_MASK", 0x190090, "rcs0", ""},
                                Pair{"BCS_RSVD_INTR_MASK", 0x1900a0, "bcs", ""},
                                Pair{"VCS0_VCS1_INTR_MASK", 0x1900a8, "vcs0", "vcs1"},
                                Pair{"VCS2_VCS3_INTR_MASK", 0x1900ac, "vcs2", "vcs3"},
                                Pair{"VCS4_VCS5_INTR_MASK", 0x1900b0, "vcs4", "vcs5"},
                                Pair{"VCS6_VCS7_INTR_MASK", 0x1900b4, "vcs6", "vcs7"},
                                Pair{"VECS0_VECS1_INTR_MASK", 0x1900d0, "vecs0", "vecs1"},
                                Pair{"VECS2_VECS3_INTR_MASK", 0x1900d4, "vecs2", "vecs3"},
                                Pair{"GUC_SG_INTR_MASK", 0x1900e8, "guc", ""},
                                Pair{"GPM_WGBOXPERF_INTR_MASK", 0x1900ec, "gpm", "wgboxperf"},
                                Pair{"CRYPTO_RSVD_INTR_MASK", 0x1900f0, "crypto", ""},
                                Pair{"GUNIT_CSME_INTR_MASK", 0x1900f4, "gunit", "csme"},
                                Pair{"CCS0_CCS1_INTR_MASK", 0x190100, "ccs0", "ccs1"},
                                Pair{"CCS2_CCS3_INTR_MASK", 0x190104, "ccs2", "ccs3"}};
  expect_pairs(masks);
  for (const Pair& pair : masks) {
    EXPECT_EQ(reset(DeviceId::dg1, pair.name), 0xffff'ffffu) << "everything is masked after reset";
  }
}

TEST(Gen12Interrupt, EngineEventsHaveTheirBits) {
  COVERS("DG1-IRQ-13");
  EXPECT_EQ(bits(GenId::gen12, "IMR", "user_interrupt"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen12, "IMR", "master_error"), (Bits{3, 3}));
  EXPECT_EQ(bits(GenId::gen12, "IMR", "flush_notify"), (Bits{4, 4}));
  EXPECT_EQ(bits(GenId::gen12, "IMR", "context_switch"), (Bits{8, 8}));
  EXPECT_EQ(bits(GenId::gen12, "IMR", "semaphore_wait"), (Bits{11, 11}));
}

const spec::EnumDesc* enumeration(std::string_view name) {
  for (const spec::EnumDesc* e : spec::enums()) {
    if (e->name == name) return e;
  }
  return nullptr;
}

TEST(Gen12Interrupt, ClassesAndInstancesAreNumberedAsInTheManual) {
  COVERS("DG1-IRQ-01");
  const spec::EnumDesc* classes = enumeration("InterruptClass");
  ASSERT_NE(classes, nullptr);
  constexpr std::array<std::string_view, 8> names = {
      "RENDER", "VIDEO_DECODE", "VIDEO_ENHANCEMENT", "COPY", "OTHER", "COMPUTE", "", ""};
  for (uint64_t n = 0; n < names.size(); ++n) {
    EXPECT_EQ(classes->name_of(n, GenId::gen12), names[n]) << n;
  }
  const spec::EnumDesc* others = enumeration("InterruptOtherInstance");
  ASSERT_NE(others, nullptr);
  constexpr std::array<std::string_view, 8> instances = {"GUC", "GTPM",  "WDOAPERF", "SCTRG",
                                                         "KCR", "GUNIT", "CSME",     ""};
  for (uint64_t n = 0; n < instances.size(); ++n) {
    EXPECT_EQ(others->name_of(n, GenId::gen12), instances[n]) << n;
  }
}

TEST(Gen12Interrupt, MessageHasItsFields) {
  COVERS("DG1-IRQ-02");
  const spec::StructDesc* message = spec::find_struct("INTERRUPT_MESSAGE");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(bits_of(message, GenId::gen12, "vf_id"), (Bits{29, 27}));
  EXPECT_EQ(bits_of(message, GenId::gen12, "instance"), (Bits{25, 20}));
  EXPECT_EQ(bits_of(message, GenId::gen12, "engine_class"), (Bits{18, 16}));
  EXPECT_EQ(bits_of(message, GenId::gen12, "data"), (Bits{15, 0}));
  // Reserved: 31:30, 26, 19.
  for (int bit = 0; bit < 32; ++bit) {
    const std::array<uint32_t, 1> dword = {1u << bit};
    const bool reserved = bit == 31 || bit == 30 || bit == 26 || bit == 19;
    EXPECT_EQ(spec::has_reserved_set(*message, GenId::gen12, dword), reserved) << bit;
  }
}

TEST(Gen12Interrupt, PendingBitsClearWithOnesAndMasterLevelsAreReadOnly) {
  EXPECT_EQ(access(GenId::gen12, "GT_INTR_DW0", "rcs0"), spec::Access::w1c);
  EXPECT_EQ(access(GenId::gen12, "GT_INTR_DW1", "vcs0"), spec::Access::w1c);
  EXPECT_EQ(access(GenId::gen12, "INTR_IDENTITY_REG0", "valid"), spec::Access::w1c);
  EXPECT_EQ(access(GenId::gen12, "GFX_MSTR_IRQ", "gt_dw0"), spec::Access::ro);
  EXPECT_EQ(access(GenId::gen12, "GFX_MSTR_IRQ", "enable"), spec::Access::rw);
}

TEST(Gen4Interrupt, OneBankIsMaskedAfterReset) {
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(at(device, "IER"), 0x20a0u);
    EXPECT_EQ(at(device, "IIR"), 0x20a4u);
    EXPECT_EQ(at(device, "IMR", "rcs0"), 0x20a8u);
    EXPECT_EQ(at(device, "ISR"), 0x20acu);
    EXPECT_EQ(reset(device, "IMR"), 0xffff'ffffu);
    EXPECT_EQ(reset(device, "IER"), 0u);
    EXPECT_EQ(reset(device, "HWSTAM"), 0xffff'ffffu);
    EXPECT_EQ(reset(device, "HWS_PGA"), 0x1fff'f000u);
  }
  EXPECT_EQ(bits(GenId::gen4, "ISR", "user_interrupt"), (Bits{1, 1}));
  EXPECT_EQ(bits(GenId::gen4, "ISR", "sync_status"), (Bits{12, 12}));
  EXPECT_EQ(bits(GenId::gen4, "ISR", "master_error"), (Bits{15, 15}));
  EXPECT_EQ(bits(GenId::gen4_5, "ISR", "bsd_user_interrupt"), (Bits{25, 25}));
}

TEST(Gen6Interrupt, ThreeBanksShareAMasterEnable) {
  EXPECT_EQ(at(DeviceId::snb, "DEISR"), 0x44000u);
  EXPECT_EQ(at(DeviceId::snb, "DEIER"), 0x4400cu);
  EXPECT_EQ(at(DeviceId::snb, "GTISR"), 0x44010u);
  EXPECT_EQ(at(DeviceId::snb, "GTIIR"), 0x44018u);
  EXPECT_EQ(at(DeviceId::snb, "PMISR"), 0x44020u);
  EXPECT_EQ(at(DeviceId::snb, "PMIER"), 0x4402cu);
  EXPECT_EQ(bits(GenId::gen6, "DEIER", "master_interrupt_control"), (Bits{31, 31}));
  EXPECT_EQ(bits(GenId::gen6, "GTIIR", "user_interrupt"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen6, "GTIIR", "bsd_user_interrupt"), (Bits{12, 12}));
  EXPECT_EQ(bits(GenId::gen6, "GTIIR", "blt_user_interrupt"), (Bits{22, 22}));
}

TEST(Gen8Interrupt, FourBanksOfTheGtAreBelowTheMaster) {
  for (const DeviceId device : {DeviceId::bdw, DeviceId::chv, DeviceId::skl}) {
    EXPECT_EQ(at(device, "MASTER_IRQ"), 0x44200u);
    for (uint32_t n = 0; n < 4; ++n) {
      const std::string tail = "_" + std::to_string(n);
      EXPECT_EQ(at(device, "GTISR" + tail), 0x44300 + 0x10 * n);
      EXPECT_EQ(at(device, "GTIMR" + tail), 0x44304 + 0x10 * n);
      EXPECT_EQ(at(device, "GTIIR" + tail), 0x44308 + 0x10 * n);
      EXPECT_EQ(at(device, "GTIER" + tail), 0x4430c + 0x10 * n);
    }
    EXPECT_EQ(at(device, "PCU_IIR"), 0x444e8u);
  }
  EXPECT_EQ(bits(GenId::gen8, "GTIIR_0", "bcs_user_interrupt"), (Bits{16, 16}));
  EXPECT_EQ(bits(GenId::gen8, "GTIIR_1", "vcs0_context_switch"), (Bits{8, 8}));
  EXPECT_EQ(at(DeviceId::chv, "VLV_IIR"), 0x1820a4u);
  EXPECT_EQ(at(DeviceId::chv, "DE_PIPE_IIR"), kNowhere);
  EXPECT_EQ(at(DeviceId::bdw, "DE_PIPE_IIR", {}, 2), 0x44428u);
  EXPECT_EQ(at(DeviceId::icl, "DISPLAY_INT_CTL"), 0x44200u);
}

}  // namespace
}  // namespace halogen::spec_registers
