// Exceptions in a dispatch: which threads enter the system routine, the state that it sees, and its return; and kernels
// that break rules of the instruction set.
#include <fmt/format.h>

#include "dispatch_bench.h"
#include "eu/isa/assembler.h"

namespace halogen::compute {
namespace {

constexpr uint32_t kRoutine = 0x400, kOut = 0x2'0000;
constexpr uint32_t kIllegalEnable = 1u << 13, kSoftwareEnable = 1u << 7;  // bits of an interface descriptor

// Stores r11 at the address in r10.
constexpr std::string_view kEnd = R"(
    (W) mov (8|M0) r10.0<1>:ud 0x0:ud
    (W) mov (8|M0) r11.0<1>:ud r20.0<0;1,0>:ud
    STORE
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    END
)";
// Stores cr0 to memory from dword 1 on and returns. A test can replace AHEAD with an instruction that moves the return
// ip.
constexpr std::string_view kSystem = R"(
    (W) mov (1|M0) r12.0<1>:ud cr0.0<0;1,0>:ud
    (W) mov (1|M0) r12.1<1>:ud cr0.1<0;1,0>:ud
    (W) mov (1|M0) r12.2<1>:ud cr0.2<0;1,0>:ud
    (W) mov (8|M0) r13.0<1>:uw 0x76543210:v
    (W) mov (8|M0) r10.0<1>:ud r13.0<8;8,1>:uw
    (W) shl (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x2:ud
    (W) add (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x4:ud
    (W) mov (8|M0) r11.0<1>:ud r12.0<8;8,1>:ud
    STORE
    (W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 0x10:ud
    (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x0000ffff:ud
    AHEAD
    (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7ffffffd:ud
    (W) mov (1|M0) r20.0<1>:ud 0xdead:ud
)";

class Exceptions : public DispatchBench {
 protected:
  Exceptions() {
    settings_.system_routine = kRoutine;
    bind_raw(0, kOut, 0x1000);
  }
  void put(uint32_t offset, std::string text, std::string_view ahead = "") {
    const bool split = GetParam() == "tgl";
    const auto replace = [&](std::string_view what, const std::string& by) {
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
      }
    };
    replace("STORE",
            split ? "(W) send.dc1 (8|M0) null r10 r11 0x40 0x02026e00" : "(W) send.dc1 (8|M0) null r10 0x0 0x04026e00");
    replace("END", split ? "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}"
                         : "(W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}");
    replace("AHEAD", std::string(ahead));
    const auto code = eu::assemble(model_.gen, text);
    ASSERT_TRUE(code.ok()) << code.message() << text;
    std::memcpy(memory_.bytes().data() + kCode + offset, code.value().data(), code.value().size());
  }
  Stop run(uint32_t flags) {
    const uint32_t descriptor[8] = {0, 0, flags, 0, kTable, 0, 1, 0};
    std::copy(std::begin(descriptor), std::end(descriptor), &word(kDescriptors));
    Dispatcher dispatcher(kernels_);
    dispatcher.set_events(&log_, "gpu0.rcs0");
    Walk walk;
    const std::vector<uint32_t> command = {0x7105'000d, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0xff, ~0u};
    EXPECT_EQ(prepare(command, walk.job), JobFault::none);
    return dispatcher.run(generation_, settings_, walk, memory_.space(), true).stop;
  }
  uint32_t shown(uint32_t dword) { return word(kOut + dword * 4); }

  static constexpr std::string_view kBehind = "(W) add (1|M0) cr0.2<1>:ud cr0.2<0;1,0>:ud 0x10:ud";
};

TEST_P(Exceptions, IllegalOpcodeEntersTheSystemRoutine) {
  const std::string kernel =
      "(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n"
      ".bytes 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n" +
      std::string(kEnd);
  put(0, kernel);
  put(kRoutine, std::string(kSystem), kBehind);
  EXPECT_EQ(run(kIllegalEnable), Stop::finished);
  EXPECT_EQ(shown(1) >> 31, 1u) << "the master bit";
  EXPECT_EQ(shown(1) & 2, 2u) << "implicit accumulator writes are disabled";
  EXPECT_EQ(shown(2), 1u << 28 | 1u << 12) << "the illegal opcode bit and its enable";
  EXPECT_EQ(shown(3), 16u) << "ip of the illegal instruction";
  EXPECT_EQ(shown(0), 0x11u) << "execution continued after the instruction";
  // Without the enable bit or without a routine the exception stops the dispatch.
  EXPECT_EQ(run(0), Stop::illegal);
  settings_.system_routine = 0;
  EXPECT_EQ(run(kIllegalEnable), Stop::illegal);
}

TEST_P(Exceptions, BreakpointEntersTheSystemRoutine) {
  put(0, "(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n(W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 0x2:ud {Breakpoint}\n" +
             std::string(kEnd));
  put(kRoutine, std::string(kSystem), "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x8000:ud");
  EXPECT_EQ(run(0), Stop::finished);
  EXPECT_EQ(shown(2), 1u << 31);
  EXPECT_EQ(shown(3), 16u);
  EXPECT_EQ(shown(0), 0x13u) << "the routine runs, then the instruction itself";
  settings_.system_routine = 0;
  EXPECT_EQ(run(0), Stop::finished);
  EXPECT_EQ(shown(0), 3u) << "breakpoints are disabled";
}

TEST_P(Exceptions, SoftwareExceptionEntersTheSystemRoutine) {
  put(0, "(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud\n" +
             std::string(kEnd));
  put(kRoutine, std::string(kSystem), "");
  EXPECT_EQ(run(kSoftwareEnable), Stop::finished);
  EXPECT_EQ(shown(2), 1u << 29 | 1u << 13);
  EXPECT_EQ(shown(3), 32u) << "ip after the instruction";
  EXPECT_EQ(shown(0), 0x11u);
  word(kOut + 8) = 0;
  EXPECT_EQ(run(0), Stop::finished);
  EXPECT_EQ(shown(2), 0u);
  EXPECT_EQ(shown(0), 1u);
}

TEST_P(Exceptions, KernelThatBreaksARuleRunsAndIsReported) {
  put(0,
      "(W) mov (1|M0) r20.0<1>:ud 0x1:ud\nadd (8|M0) r30.0<1>:f r31.0<8;8,1>:f r32.0<8;4,1>:f\n"
      "add (8|M0) r30.0<1>:f r31.0<8;8,1>:f r32.0<4;8,1>:f\n" +
          std::string(kEnd));
  EXPECT_EQ(run(0), Stop::finished);
  EXPECT_EQ(shown(0), 1u) << "the kernel runs";
  ASSERT_EQ(log_.events().size(), 1u);
  EXPECT_EQ(log_.events()[0].kind, EventKind::undefined_behaviour);
  EXPECT_EQ(log_.events()[0].address, 32u);
  EXPECT_NE(log_.events()[0].detail.find("row_stride_mismatch"), std::string::npos) << log_.events()[0].detail;
}

INSTANTIATE_TEST_SUITE_P(Chips, Exceptions, testing::Values("skl", "tgl"), [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::compute
