// Counts of whole draws, from vertices to targets, as performance counters see them.
#include "base/worker_pool.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

constexpr uint32_t kWidth = 800, kHeight = 600;

struct Observed {
  oa::WorkCounts work;
  uint64_t vertex_threads = 0;
  uint64_t pixel_threads = 0;
  PixelCounts pixels;
  uint64_t shaded = 0;  // vertices
};

class RenderCopy : public ::testing::Test {
 protected:
  // A rectangle over a target of 800 x 600 bytes. Each vertex passes the vertex shader unchanged.
  RenderCopy() {
    constexpr uint32_t kR8 = 0x140, kPitch = 832;
    std::vector<std::vector<uint32_t>> corners;
    for (const auto& [x, y] : {std::pair(kWidth, kHeight), std::pair(0u, kHeight), std::pair(0u, 0u)}) {
      corners.push_back({0, 0, 0, 0, bits(static_cast<float>(x)), bits(static_cast<float>(y)), 0, bits(1), bits(0.5f),
                         bits(0.5f), bits(0.5f), bits(1), 0, 0, 0, 0});
    }
    world_.entries(corners);
    world_.paint();
    world_.bind(1, {1u << 29 | kR8 << 18, SandyDraw::kTarget, (kHeight - 1) << 19 | (kWidth - 1) << 6,
                    (kPitch - 1) << 3, 0, 0});
    hw::_3DSTATE_DRAWING_RECTANGLE whole;
    whole.clipped_drawing_rectangle_x_max = kWidth - 1;
    whole.clipped_drawing_rectangle_y_max = kHeight - 1;
    world_.send(whole, 4);
    world_.vertex.enable = true;
    world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
    world_.vertex.vertex_urb_entry_read_length = 2;
    world_.kernel(SandyDraw::kVs, SandyDraw::write_pair(1, 4));
  }
  // The same colour for all pixels lets one thread stand for others. `looks`: the kernel reads its coordinates as well,
  // so that every thread runs.
  Observed draw(bool looks, unsigned host_threads, const oa::CountsWanted& wanted = {.work = true, .activity = true}) {
    world_.kernel(SandyDraw::kPs, std::string(looks ? "(W) and (1|M0) r20.0<1>:ud r1.2<0;1,0>:ud 0x0:ud\n"
                                                      "(W) or (1|M0) r2.3<1>:ud r2.3<0;1,0>:ud r20.0<0;1,0>:ud\n"
                                                    : "") +
                                      SandyDraw::paint_with(2));
    world_.send_state();
    WorkerPool pool(host_threads);
    world_.set_pool(&pool);
    Observed all;
    world_.set_work(wanted, &all.work);
    Progress progress;
    progress.call = {.topology = hw::PrimitiveTopology::RECTLIST, .vertices = 3};
    Outcome outcome;
    do {
      outcome = world_.part(progress);
      all.vertex_threads += outcome.threads.vertex;
      all.pixel_threads += outcome.threads.pixel;
      all.pixels.invocations += outcome.counts.pixels.invocations;
      all.pixels.passed += outcome.counts.pixels.passed;
      all.pixels.replayed += outcome.counts.pixels.replayed;
      all.shaded += outcome.counts.vertex_threads;
      EXPECT_EQ(outcome.instructions_of.sum(), outcome.instructions);
    } while (outcome.stop == Stop::unfinished);
    EXPECT_EQ(outcome.stop, Stop::finished);
    world_.set_pool(nullptr);
    return all;
  }

  SandyDraw world_;
};

TEST_F(RenderCopy, EachBlockIsRasterisedAndWrittenOnce) {
  for (const bool looks : {false, true}) {
    const Observed one = draw(looks, 1);
    EXPECT_EQ(one.pixels.replayed != 0, !looks);
    EXPECT_EQ(one.work.blocks_rasterised * oa::kBlockStep, uint64_t{kWidth} * kHeight);
    EXPECT_EQ(one.work.blocks_written * oa::kBlockStep, uint64_t{kWidth} * kHeight);
    EXPECT_EQ(one.work.blocks_blended + one.work.blocks_killed + one.work.blocks_failed_fast +
                  one.work.blocks_failed_early + one.work.blocks_failed_late,
              0u);
    EXPECT_EQ(one.work.blocks_written * oa::kBlockStep, one.pixels.invocations) << "no block is partly covered";
    EXPECT_EQ(one.work.blocks_written * oa::kBlockStep, one.pixels.passed);
    EXPECT_EQ(one.pixel_threads, kWidth * kHeight / 8u);
    EXPECT_EQ(one.shaded, 3u);
    EXPECT_EQ(one.vertex_threads, 2u) << "two vertices in a thread";
    const auto sends = [&](oa::Stage stage) { return one.work.activity[static_cast<size_t>(stage)].sends; };
    EXPECT_EQ(sends(oa::Stage::vertex), one.vertex_threads);
    EXPECT_EQ(sends(oa::Stage::pixel), one.pixel_threads);
    for (const unsigned host_threads : {2u, 4u}) {
      EXPECT_TRUE(draw(looks, host_threads).work == one.work) << host_threads;
    }
  }
}

TEST_F(RenderCopy, UnwantedCountsStayZero) {
  EXPECT_TRUE(draw(true, 1, {}).work == oa::WorkCounts{});
  const Observed work = draw(true, 1, {.work = true});
  EXPECT_TRUE(work.work.activity == oa::WorkCounts{}.activity);
  EXPECT_NE(work.work.blocks_written, 0u);
  const Observed activity = draw(true, 1, {.activity = true});
  EXPECT_EQ(activity.work.blocks_written + activity.work.blocks_rasterised, 0u);
  EXPECT_TRUE(activity.work.activity == draw(true, 1).work.activity);
}

}  // namespace
}  // namespace halogen::pipe3d
