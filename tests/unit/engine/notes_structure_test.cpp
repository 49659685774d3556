// Generations of chips, and the structure of Gen11 and its execution units, with the figures of the notes (seed 004).
#include <map>
#include <string>

#include "compute/commands.h"
#include "eu/thread.h"
#include "flow_bench.h"
#include "gen/generation.h"
#include "message/issue_cost.h"

namespace halogen {
namespace {

// Lines 3 to 27. Each chip that the model has is of the generation of the notes, and the instructions of all
// generations that they name are known, except the one that was skipped.
TEST(NotesStructure, ChipsAreOfTheGenerationsOfTheNotes) {
  COVERS("NOTES-GEN-01");
  const std::map<std::string, std::string> kChips = {{"snb", "gen6"},  {"bdw", "gen8"},  {"skl", "gen9"},
                                                     {"icl", "gen11"}, {"tgl", "gen12"}, {"dg1", "gen12"}};
  for (const auto& [chip, gen] : kChips) {
    ASSERT_NE(spec::find_device(chip), nullptr) << chip;
    EXPECT_EQ(spec::name_of(spec::find_device(chip)->gen), gen) << chip;
  }
  std::vector<std::string> known;
  for (size_t i = 0; i < spec::kGenCount; ++i) {
    known.emplace_back(spec::name_of(static_cast<spec::GenId>(i)));
  }
  EXPECT_EQ(known, (std::vector<std::string>{"gen4", "gen4.5", "gen5", "gen6", "gen7", "gen7.5", "gen8", "gen9",
                                             "gen11", "gen12"}));
}

// Lines 35 to 44: the units outside of slices. Each has a ring of its own, except thread dispatch and geometry, which
// belong to the command streamer's engine.
TEST(NotesStructure, IceLakeHasTheUnitsOutsideOfItsSlice) {
  COVERS("NOTES-GEN-02");
  using spec::EngineClass;
  constexpr uint32_t kRingStart = 0x38;
  FlowBench bench("icl");
  std::map<EngineClass, unsigned> engines;
  for (const spec::EngineModel& engine : bench.model.engines) {
    ++engines[engine.engine_class];
    bench.write(engine.mmio_base + kRingStart, 0x0012'3000);
    EXPECT_EQ(bench.read(engine.mmio_base + kRingStart), 0x0012'3000u) << engine.name;
    bench.write(engine.mmio_base + kRingStart, 0);
  }
  EXPECT_EQ(engines[EngineClass::render], 1u) << "command streamer, thread dispatch, geometry";
  EXPECT_EQ(engines[EngineClass::blit], 1u) << "blitter";
  EXPECT_EQ(engines[EngineClass::posh], 1u) << "tiler";
  EXPECT_EQ(engines[EngineClass::video], 2u) << "media";
  EXPECT_EQ(engines[EngineClass::vebox], 1u) << "media";
  EXPECT_EQ(engines.size(), 5u);
}

// Lines 45 to 65: one slice of eight subslices with eight execution units each. The fuses say the same.
TEST(NotesStructure, IceLakeIsASliceOfEightSubslicesOfEightUnits) {
  COVERS("NOTES-GEN-03");
  FlowBench bench("icl");
  constexpr uint32_t kUnitsOff = 0x9134, kSlicesOn = 0x9138, kSubslicesOff = 0x913c;
  EXPECT_EQ(bench.read(kSlicesOn) & 0xff, 1u);
  EXPECT_EQ(bench.read(kSubslicesOff) & 0xff, 0u) << "none of eight is off";
  EXPECT_EQ(bench.read(kUnitsOff) & 0xff, 0u) << "none of eight is off";
  EXPECT_EQ(bench.model.topology.slices, 1u);
  EXPECT_EQ(bench.model.topology.subslices, 8u);
  EXPECT_EQ(bench.model.topology.eus, 8u);
  // Shared local memory of a subslice: the largest code gives all of it to one group.
  EXPECT_EQ(compute::local_bytes(Generation(bench.model), 7), 64u * 1024);
  // The L3 is divided by software between URB, read-only clients, data and all of them.
  constexpr uint32_t kL3Control = 0x7034, kDivision = 16u << 25 | 8u << 18 | 4u << 11 | 32u << 1;
  bench.write(kL3Control, kDivision);
  EXPECT_EQ(bench.read(kL3Control) & 0xffff'f8fe, kDivision);
}

// Lines 65 to 76: seven threads, each with 128 registers of eight dwords; two pipes of four lanes, and one that sends.
TEST(NotesStructure, ExecutionUnitsHaveSevenThreadsAndPipesOfFourLanes) {
  COVERS("NOTES-GEN-04");
  EXPECT_EQ(spec::find_device("icl")->topology.threads, 7u);
  EXPECT_EQ(eu::kGrfs, 128u);
  EXPECT_EQ(eu::kGrfBytes, 8u * 32 / 8);
  eu::Thread thread;
  EXPECT_EQ(thread.grf.size(), 4096u);
  for (const unsigned lanes : {1u, 4u, 8u, 16u, 32u}) {
    eu::Instruction add{.op = eu::Op::add, .exec_size = static_cast<uint8_t>(lanes)};
    add.dst.type = add.src[0].type = add.src[1].type = eu::Type::f;
    EXPECT_EQ(message::issue_cost(add).clocks, (lanes + 3) / 4) << lanes;
    EXPECT_EQ(message::issue_cost(add).pipe, oa::Pipe::fpu0);
    add.op = eu::Op::math;
    EXPECT_EQ(message::issue_cost(add).pipe, oa::Pipe::fpu1);
    add.op = eu::Op::send;
    EXPECT_EQ(message::issue_cost(add).pipe, oa::Pipe::send);
  }
}

}  // namespace
}  // namespace halogen
