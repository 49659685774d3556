// Framing of DG1 streams according to the manual: the header determines the length, in one of three ways.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "covers.h"
#include "decode/decoder.h"
#include "decode/memory_image.h"
#include "engine/stream/command_stream.h"
#include "spec/device_model.h"

namespace halogen {
namespace {

// Collects names and addresses.
class Names final : public engine::CommandVisitor {
 public:
  engine::Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                          const engine::CommandPlace& place) override {
    seen.emplace_back(std::string(desc.name), place.address.value, dwords.size());
    return engine::Next::advance();
  }
  engine::Next on_unknown(std::span<const uint32_t> dwords, const engine::CommandPlace& place) override {
    seen.emplace_back("unknown", place.address.value, dwords.size());
    return engine::Next::advance();
  }
  void on_truncated(const spec::CommandDesc*, std::span<const uint32_t>, uint32_t,
                    const engine::CommandPlace&) override {
    truncated = true;
  }
  std::vector<std::tuple<std::string, uint64_t, size_t>> seen;
  bool truncated = false;
};

// DG1 PRM vol. 13, Command Streamer Command Formats (seed 000): a length is implied by the opcode, fixed but encoded,
// or variable; the sequence below is padded to a quadword.
TEST(Dg1Framing, LengthIsImpliedFixedOrVariable) {
  const std::vector<uint32_t> stream{
      0x05u << 23,  // MI_ARB_CHECK: implied, one dword
      (0x24u << 23) | 2,
      0x2358,
      0x1000,
      0,  // MI_STORE_REGISTER_MEM: fixed, encoded
      (0x22u << 23) | 5,
      0x2600,
      1,
      0x2604,
      2,
      0x2608,
      3,  // MI_LOAD_REGISTER_IMM: variable, three pairs
      (0x22u << 23) | 1,
      0x2600,
      1,  // one MI_NOOP follows
      0,  // MI_NOOP pads to a quadword
  };
  ASSERT_EQ(stream.size() % 2, 0u);
  decode::FlatImage image;
  image.add(GpuVa(0x1000), stream.size() * 4, stream);
  engine::CommandStream walker(spec::CommandTable::get(spec::find_device("dg1")->id, spec::EngineClass::render), image);
  walker.start(
      {.space = engine::StreamSpace::ppgtt, .address = GpuVa(0x1000), .end = GpuVa(0x1000 + stream.size() * 4)});
  Names names;
  EXPECT_EQ(walker.run(names), engine::StreamStop::exhausted);
  const std::vector<std::tuple<std::string, uint64_t, size_t>> expected{
      {"MI_ARB_CHECK", 0x1000, 1},
      {"MI_STORE_REGISTER_MEM", 0x1004, 4},
      {"MI_LOAD_REGISTER_IMM", 0x1014, 7},
      {"MI_LOAD_REGISTER_IMM", 0x1030, 3},
      {"MI_NOOP", 0x103c, 1},
  };
  EXPECT_EQ(names.seen, expected);
  EXPECT_FALSE(names.truncated);
}

// DG1 PRM vol. 13, Register Access and User Mode Privileges (seed 000): base addresses of the engines that DG1 has.
TEST(Dg1Framing, EnginesAreAtTheManualsBases) {
  const std::map<std::string, uint32_t> expected{{"rcs0", 0x2000},   {"pocs0", 0x18000}, {"bcs0", 0x22000},
                                                 {"ccs0", 0x1a000},  {"vcs0", 0x1c0000}, {"vcs2", 0x1d0000},
                                                 {"vecs0", 0x1c8000}};
  std::map<std::string, uint32_t> actual;
  for (const spec::EngineModel& engine : spec::find_device("dg1")->engines) {
    actual.emplace(engine.name, engine.mmio_base);
  }
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace halogen
