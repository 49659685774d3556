// Draws that a guest makes very long: a part does a bounded amount of work, a demanded stop ends it within a bounded
// number of instructions, and a draw that is stopped between objects and pieces continues to the same picture.
#include <gtest/gtest.h>

#include <algorithm>

#include "pipe3d/geometry/hull_stage.h"
#include "sandy_draw.h"
#include "support/mapped_memory.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint64_t kPart = 1 << 18;      // instructions of a part, as in pipeline.cpp
constexpr uint64_t kReaction = 1 << 12;  // instructions between two looks at the flag, with some room

// Raises the flag at a look.
class StopAt {
 public:
  explicit StopAt(uint64_t look) : look_(look) {
    flag.set_watch([this] {
      if (++looks_ >= look_) {
        flag.raise();
      }
      return looks_ >= look_;
    });
  }
  void next(uint64_t look) {
    looks_ = 0;
    look_ = look;
    flag.clear();
  }

  StopFlag flag;

 private:
  uint64_t look_;
  uint64_t looks_ = 0;
};

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

// Points on Gen6. Geometry threads output each point some times.
class LongDraw : public ::testing::Test {
 protected:
  static constexpr uint32_t kFirst = 2;  // register of the first vertex
  static constexpr uint32_t kPoints = 64 * 4;
  static constexpr uint32_t kLongGs = 0x4000;  // long kernels, behind all others

  void place(uint32_t points) {
    std::vector<std::vector<uint32_t>> all;
    for (uint32_t i = 0; i < points; ++i) {
      const float x = static_cast<float>(i * 7 % 64), y = static_cast<float>(i * 5 % 64);
      all.push_back({0, 0, 0, bits(1.0f), bits(x), bits(y), 0, bits(1.0f), bits(static_cast<float>(i + 1)), bits(2),
                     bits(3), bits(4), 0, 0, 0, 0});
    }
    world_.entries(all);
    world_.paint();
  }
  void amplify(uint32_t times) {
    constexpr uint32_t kStartAndEnd = 3, kPointList = static_cast<uint32_t>(Topology::POINTLIST) << 2;
    constexpr uint32_t kNext = SandyDraw::kComplete | SandyDraw::kUsed | SandyDraw::kAllocate;
    constexpr uint32_t kLast = SandyDraw::kComplete | SandyDraw::kUsed;
    std::string text = SandyDraw::ask_for_entry();
    for (uint32_t i = 1; i <= times; ++i) {
      text += SandyDraw::write_entry(kFirst, 2, 0, kPointList | kStartAndEnd, i == times ? kLast : kNext, i == times);
    }
    world_.geometry.enable = world_.geometry.rendering_enabled = true;
    world_.geometry.kernel_start_pointer = kLongGs;
    world_.geometry.dispatch_grf_start_register_for_urb_data = kFirst;
    world_.geometry.vertex_urb_entry_read_length = 2;
    world_.kernel(kLongGs, text);
  }
  std::vector<float> picture() {
    std::vector<float> all;
    for (uint32_t y = 0; y < 64; ++y) {
      for (uint32_t x = 0; x < 64; ++x) {
        all.push_back(world_.pixel_at(x, y));
      }
    }
    return all;
  }
  void clear() {
    for (uint32_t y = 0; y < 64; ++y) {
      for (uint32_t x = 0; x < 64; ++x) {
        world_.pixel_at(x, y) = 0;
      }
    }
  }

  SandyDraw world_;
};

TEST_F(LongDraw, PartEndsBetweenObjectsThatAreAmplified) {
  constexpr uint32_t kTimes = 400;
  place(kPoints);
  amplify(kTimes);
  world_.send_state();
  Progress progress;
  progress.call = {.topology = Topology::POINTLIST, .vertices = kPoints, .instances = 8};
  uint64_t primitives = 0;
  uint32_t parts = 0;
  Outcome outcome;
  do {
    outcome = world_.part(progress);
    primitives += outcome.counts.clip_in;
    ++parts;
    EXPECT_LE(outcome.instructions, kPart + kPart / 2) << "part " << parts;
  } while (outcome.stop == Stop::unfinished);
  EXPECT_EQ(outcome.stop, Stop::finished);
  EXPECT_EQ(primitives, uint64_t{kTimes} * kPoints * 8);
  EXPECT_GT(parts, 4u);
}

TEST_F(LongDraw, StopBetweenObjectsNeitherRepeatsNorOmitsWork) {
  constexpr uint32_t kInstances = 3;
  place(kPoints);
  amplify(2);
  world_.geometry.rendering_enabled = false;
  world_.send_state();
  StopAt stop(1);
  world_.set_stop(stop.flag);
  for (uint64_t look = 2; look < 600; look = look * 3 / 2 + 1) {
    Progress progress;
    progress.call = {.topology = Topology::POINTLIST, .vertices = kPoints, .instances = kInstances};
    Outcome outcome;
    uint64_t invocations = 0, primitives = 0, vertices = 0, parts = 0;
    do {
      stop.next(look + parts++ % 5);
      Progress copy = progress;  // as if a snapshot were restored
      progress = std::move(copy);
      outcome = world_.part(progress);
      invocations += outcome.counts.geometry.invocations;
      primitives += outcome.counts.geometry.primitives;
      vertices += outcome.counts.vertices;
    } while (outcome.stop == Stop::unfinished && parts < 10'000);
    EXPECT_EQ(outcome.stop, Stop::finished);
    EXPECT_EQ(vertices, kPoints * kInstances);
    EXPECT_EQ(invocations, kPoints * kInstances);
    EXPECT_EQ(primitives, 2u * kPoints * kInstances);
    EXPECT_GT(parts, kPoints * kInstances / (look + 5));
  }
  static const StopFlag none;
  world_.set_stop(none);
}

TEST_F(LongDraw, DrawThatIsStoppedBetweenObjectsMakesTheSamePicture) {
  constexpr uint32_t kTimes = 40;
  place(kPoints);
  amplify(kTimes);
  const uint64_t expected = world_.draw(Topology::POINTLIST, kPoints).counts.clip_in;
  const std::vector<float> whole = picture();
  EXPECT_EQ(expected, uint64_t{kTimes} * kPoints);
  EXPECT_GT(std::ranges::count_if(whole, [](float each) { return each != 0; }), 60);
  StopAt stop(1);
  world_.set_stop(stop.flag);
  for (uint64_t look = 3; look < kPoints; look = look * 2 + 1) {
    clear();
    Progress progress;
    progress.call = {.topology = Topology::POINTLIST, .vertices = kPoints};
    stop.next(look);
    Outcome outcome = world_.part(progress);
    EXPECT_EQ(outcome.stop, Stop::unfinished);
    uint64_t primitives = outcome.counts.clip_in;
    stop.next(~uint64_t{0});
    while (outcome.stop == Stop::unfinished) {
      outcome = world_.part(progress);
      primitives += outcome.counts.clip_in;
    }
    EXPECT_EQ(outcome.stop, Stop::finished);
    EXPECT_EQ(primitives, expected);
    EXPECT_EQ(picture(), whole) << look;
  }
  static const StopFlag none;
  world_.set_stop(none);
}

// A stop in the middle of a piece ends the draw. The next draw is whole.
TEST_F(LongDraw, StopInsideAPieceEndsTheDraw) {
  place(kPoints);
  amplify(40);
  const uint64_t expected = world_.draw(Topology::POINTLIST, kPoints).counts.clip_in;
  const std::vector<float> whole = picture();
  StopAt stop(kPoints + 500);  // after all objects, in the list of 40 primitives for each
  world_.set_stop(stop.flag);
  Progress progress;
  progress.call = {.topology = Topology::POINTLIST, .vertices = kPoints};
  EXPECT_EQ(world_.part(progress).stop, Stop::stopped);
  static const StopFlag none;
  world_.set_stop(none);
  clear();
  EXPECT_EQ(world_.draw(Topology::POINTLIST, kPoints).counts.clip_in, expected);
  EXPECT_EQ(picture(), whole);
}

TEST_F(LongDraw, StopEndsAnEndlessThread) {
  place(kPoints);
  amplify(1);
  world_.kernel(kLongGs, "L0:\nadd (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x1:ud\n(W) jmpi L0\n");
  world_.send_state();
  StopAt stop(1);
  world_.set_stop(stop.flag);
  for (uint64_t look = 20; look < 60; ++look) {
    stop.next(look);
    Progress progress;
    progress.call = {.topology = Topology::POINTLIST, .vertices = kPoints};
    const Outcome outcome = world_.part(progress);
    EXPECT_TRUE(outcome.stop == Stop::stopped || outcome.stop == Stop::unfinished);
    EXPECT_LE(outcome.instructions, look * kReaction);
  }
  static const StopFlag none;
  world_.set_stop(none);
}

TEST_F(LongDraw, HugeCountsStopAtOnce) {
  place(kPoints);
  world_.send_state();
  for (const DrawCall& call : {DrawCall{.topology = Topology::POINTLIST, .vertices = ~0u, .instances = ~0u},
                               DrawCall{.topology = Topology::POINTLIST, .vertices = 1, .instances = ~0u},
                               DrawCall{.topology = Topology::TRIFAN, .vertices = ~0u, .instances = 1},
                               DrawCall{.topology = Topology::TRISTRIP_REVERSE, .vertices = ~0u, .instances = ~0u}}) {
    Progress progress;
    progress.call = call;
    const Outcome part = world_.part(progress);
    EXPECT_EQ(part.stop, Stop::unfinished);
    EXPECT_LE(part.counts.vertices, kPart / 16 + 256) << "work of a part without a stop";
    StopAt stop(1);
    world_.set_stop(stop.flag);
    const Progress before = progress;
    const Outcome stopped = world_.part(progress);
    EXPECT_EQ(stopped.stop, Stop::unfinished);
    EXPECT_EQ(stopped.counts.vertices, 0u);
    EXPECT_EQ(progress, before);
    static const StopFlag none;
    world_.set_stop(none);
  }
}

// A hull thread that passes barrier after barrier is endless, although it never uses up a turn.
TEST(LongHull, ThreadThatPassesBarriersForEverIsEndless) {
  constexpr uint64_t kBytes = 0x10000;
  for (const char* chip : {"bdw", "skl", "icl"}) {
    const Generation generation(*spec::find_device(chip));
    test::MappedMemory memory(kBytes);
    const auto code = eu::assemble(generation.id(),
                                   "L0:\n(W) send.gtwy (8|M0) null r0 0x0 0x02000004\n"
                                   "(W) wait (1|M0) n0.0<0;1,0>:ud\n(W) jmpi L0\n");
    ASSERT_TRUE(code) << code.message();
    std::ranges::copy(*code, memory.bytes().begin());
    PipelineState state;
    state.tessellation.enabled = true;
    state.tessellation.hull.enabled = true;
    state.tessellation.hull_instances = 2;
    eu::KernelLibrary library(generation.id());
    EntryStore input;
    const std::array<Object, 1> objects{};
    HullStage hull(library);
    hull.begin(generation, state, memory.space());
    EXPECT_EQ(hull.run(objects, input), ThreadEnd::endless) << chip;
    StopFlag stop;
    stop.raise();
    state.stop = &stop;
    const uint64_t before = hull.instructions();
    hull.begin(generation, state, memory.space());
    EXPECT_EQ(hull.run(objects, input), ThreadEnd::stopped) << chip;
    EXPECT_LE(hull.instructions() - before, kReaction) << chip;
  }
}

}  // namespace
}  // namespace halogen::pipe3d
