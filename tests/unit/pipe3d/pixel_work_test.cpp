// Pixels in pieces. On one and on several host threads, memory, counts, faults and Events must be the same, and work
// that stops between two pieces must continue with the same result. The expected picture follows from the rectangles.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/worker_pool.h"
#include "eu/isa/assembler.h"
#include "pipe3d/pixel/pixel_work.h"
#include "unit/message/message_bench.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kWidth = 256, kHeight = 320;
constexpr uint32_t kTarget = 0, kCode = 0x18'0000, kRaw = 0x17'0000;
constexpr uint8_t kData = 4;  // register of the set-up data
constexpr uint32_t kUint = 0xd7, kFloat = 0xd8;

struct Box {
  int32_t x0, y0, x1, y1;  // x1 and y1 are exclusive
};

struct Result {
  std::vector<std::byte> memory;
  std::vector<uint64_t> nexts;  // progress after each part
  std::vector<uint64_t> instructions;
  PixelCounts counts;
  oa::WorkCounts work;
  ThreadEnd end = ThreadEnd::done;
  size_t faults = 0;
  std::vector<uint64_t> first_faults;
  std::vector<std::string> events;
  std::string report;
};

class PixelPiecesAtWork : public message::MessageBench {
 protected:
  PixelPiecesAtWork() {
    state_.bases = environment_.bases;
    state_.bases.instruction = kVa + kCode;
    state_.raster.drawing = {.x_min = 0, .y_min = 0, .x_max = kWidth - 1, .y_max = kHeight - 1};
    state_.setup.count = 1;
    state_.setup.attributes[0].override_mask = 0xf;
    state_.setup.attributes[0].constant = hw::AttributeConstant::PRIM_ID;
    state_.wanted = {.work = true, .activity = true};
    PixelShader& pixel = state_.pixel;
    pixel.dispatch = true;
    pixel.attributes = true;
    pixel.shader.enabled = true;
    pixel.shader.binding_table = environment_.binding_table;
    pixel.simd8 = {.enabled = true, .start = 0, .first_grf = kData};
    bind_target(kUint);
    bind_raw(1, kRaw, 0x1000);
    bind_raw(2, kTarget, kWidth * kHeight * 4);
  }
  // Binds a target whose rows are contiguous.
  void bind_target(uint32_t format, uint32_t pitch_B = kWidth * 4, uint32_t offset_B = 0) {
    const uint64_t at = kVa + kTarget + offset_B;
    bind(0, {1u << 29 | format << 18 | 1u << 16 | 1u << 14, 0, (kWidth - 1) | (kHeight - 1) << 16, pitch_B - 1, 0, 0, 0,
             0, static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0, 0, 0, 0, 0});
  }
  // Binds a buffer. Four bytes of each element are accessed.
  void bind_buffer(uint32_t elements, uint32_t stride_B) {
    bind(0, {4u << 29 | 0xc7u << 18, 0, ((elements - 1) & 0x7f) | (elements - 1) >> 7 << 16, stride_B - 1, 0, 0, 0, 0,
             static_cast<uint32_t>(kVa + kTarget), static_cast<uint32_t>((kVa + kTarget) >> 32), 0, 0, 0, 0, 0, 0});
  }
  bool split() const { return GetParam() == "tgl"; }
  // Loads a kernel. `body` leaves a colour in r120.
  void load(const std::string& body) {
    const std::string text =
        body + fmt::format("send.rc (8|M0) null r120 {} 0x0 0x08031400 {{EOT}}\n", split() ? "null" : "");
    const auto code = eu::assemble(model_.gen, text);
    ASSERT_TRUE(code.ok()) << code.message() << "\n" << text;
    std::memset(memory_.bytes().data() + kCode, 0, 0x1000);
    std::memcpy(memory_.bytes().data() + kCode, code.value().data(), code.value().size());
  }
  std::string write(uint8_t surface) const {  // r110: offsets, r111: data
    return split() ? fmt::format("send.dc1 (8|M0) null r110 r111 0x40 {:#x}\n", 0x0202'6e00 | surface)
                   : fmt::format("send.dc1 (8|M0) null r110 0x0 {:#x}\n", 0x0402'6e00 | surface);
  }
  std::string read(uint8_t surface) const {  // r110: offsets, to r120
    return fmt::format("send.dc1 (8|M0) r120 r110 {} 0x0 {:#x}\n", split() ? "null" : "", 0x0210'6e00 | surface);
  }
  static std::string loop(uint32_t turns) {
    return fmt::format(
        "(W) mov (8|M0) r100.0<1>:ud {:#x}:ud\nL0:\n"
        "(W) add (8|M0) r100.0<1>:d r100.0<8;8,1>:d -1:d\n"
        "(W) cmp (8|M0) (ne)f0.0 null<1>:d r100.0<8;8,1>:d 0:d\n"
        "(W&f0.0) jmpi L0\n",
        turns);
  }
  PrimitiveList list_of(const std::vector<Box>& boxes) {
    PrimitiveList list;
    list.begin(2);
    entries_.assign(2, {});
    for (size_t i = 0; i < boxes.size(); ++i) {
      ScreenPrimitive to;
      to.shape = Shape::rectangle;
      to.id = static_cast<uint32_t>(i + 1);
      to.bounds = state_.raster.drawing;
      to.flat = entries_.data();
      const Box& box = boxes[i];
      const std::array<std::array<int32_t, 2>, 3> corners{{{box.x1, box.y1}, {box.x0, box.y1}, {box.x0, box.y0}}};
      for (size_t v = 0; v < 3; ++v) {
        ScreenVertex& vertex = to.vertex[v];
        vertex.x = static_cast<float>(corners[v][0]);
        vertex.y = static_cast<float>(corners[v][1]);
        vertex.grid_x = corners[v][0] * kGrid;
        vertex.grid_y = corners[v][1] * kGrid;
        vertex.slots = entries_.data();
      }
      list.target().push_back(to);
    }
    return list;
  }
  static std::vector<Box> some_boxes(uint32_t seed, size_t count) {
    std::mt19937 random(seed);
    std::vector<Box> boxes(count);
    for (Box& box : boxes) {
      box.x0 = static_cast<int32_t>(random() % kWidth);
      box.y0 = static_cast<int32_t>(random() % kHeight);
      box.x1 = box.x0 + 1 + static_cast<int32_t>(random() % (kWidth - static_cast<uint32_t>(box.x0)));
      box.y1 = box.y0 + 1 + static_cast<int32_t>(random() % (kHeight - static_cast<uint32_t>(box.y0)));
    }
    return boxes;
  }

  // Runs each part with a new stage and a copy of the list, as after a snapshot.
  Result run(unsigned threads, const std::vector<Box>& boxes, uint64_t most = ~uint64_t{0}) {
    Result result;
    const std::vector<std::byte> before(memory_.bytes().begin(), memory_.bytes().end());
    memory_.space().invalidate();
    memory_.forget_faults();
    log_.clear();
    WorkerPool pool(threads);
    auto list = std::make_unique<PrimitiveList>(list_of(boxes).settled());
    uint64_t next = 0;
    FidelityReport report;
    for (bool done = false; !done && result.nexts.size() < 10000;) {
      eu::KernelLibrary kernels(generation_.id());
      PixelWork work(kernels);
      work.set_pool(&pool);
      work.set_events(&log_, "gpu0.rcs0");
      work.begin(generation_, state_, 2, memory_.space());
      done = work.draw(*list, next, most);
      list = std::make_unique<PrimitiveList>(list->settled());
      result.nexts.push_back(next);
      result.instructions.push_back(work.instructions());
      result.counts.invocations += work.counts().invocations;
      result.counts.passed += work.counts().passed;
      result.counts.threads += work.counts().threads;
      result.counts.replayed += work.counts().replayed;
      result.counts.blocks.add(work.counts().blocks);
      work.take_work(result.work);
      work.report(report);
      result.end = work.end();
      if (result.end != ThreadEnd::done) {
        break;
      }
    }
    for (const Event& event : log_.events()) {
      result.events.push_back(event.to_string());
    }
    result.faults = memory_.faults();
    result.first_faults = memory_.first_faults();
    result.report = report.to_json("x");
    result.memory.assign(memory_.bytes().begin(), memory_.bytes().end());
    std::ranges::copy(before, memory_.bytes().begin());
    return result;
  }
  static void same(const Result& a, const Result& b) {
    EXPECT_TRUE(a.memory == b.memory);
    EXPECT_EQ(a.nexts, b.nexts);
    EXPECT_EQ(a.instructions, b.instructions);
    EXPECT_EQ(a.counts.invocations, b.counts.invocations);
    EXPECT_EQ(a.counts.passed, b.counts.passed);
    EXPECT_EQ(a.counts.threads, b.counts.threads);
    EXPECT_TRUE(a.counts.blocks == b.counts.blocks);
    EXPECT_TRUE(a.work == b.work);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.faults, b.faults);
    EXPECT_EQ(a.first_faults, b.first_faults);
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.report, b.report);
  }
  Result same_for_all(const std::vector<Box>& boxes, uint64_t most = ~uint64_t{0}) {
    Result one = run(1, boxes, most);
    for (const unsigned threads : {2u, 3u, 4u}) {
      SCOPED_TRACE(threads);
      same(one, run(threads, boxes, most));
    }
    return one;
  }
  template <class T>
  static T pixel(const Result& result, uint32_t x, uint32_t y) {
    T value{};
    std::memcpy(&value, result.memory.data() + kTarget + (y * kWidth + x) * 4, 4);
    return value;
  }
  static bool covers(const Box& box, uint32_t x, uint32_t y) {
    const auto column = static_cast<int32_t>(x);
    const auto row = static_cast<int32_t>(y);
    return column >= box.x0 && column < box.x1 && row >= box.y0 && row < box.y1;
  }
  static uint64_t area(const std::vector<Box>& boxes) {
    uint64_t sum = 0;
    for (const Box& box : boxes) {
      sum += static_cast<uint64_t>(box.x1 - box.x0) * static_cast<uint64_t>(box.y1 - box.y0);
    }
    return sum;
  }
  // Returns the number of 2x2 blocks with a pixel of the box, looking at each block.
  static uint64_t blocks(const Box& box) {
    uint64_t count = 0;
    for (uint32_t y = 0; y < kHeight; y += 2) {
      for (uint32_t x = 0; x < kWidth; x += 2) {
        count += covers(box, x, y) || covers(box, x + 1, y) || covers(box, x, y + 1) || covers(box, x + 1, y + 1);
      }
    }
    return count;
  }
  static uint64_t blocks(const std::vector<Box>& boxes) {
    uint64_t sum = 0;
    for (const Box& box : boxes) {
      sum += blocks(box);
    }
    return sum;
  }
  static void shows_last(const Result& result, const std::vector<Box>& boxes) {
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        uint32_t last = 0;
        for (uint32_t i = 0; i < boxes.size(); ++i) {
          last = covers(boxes[i], x, y) ? i + 1 : last;
        }
        ASSERT_EQ(pixel<uint32_t>(result, x, y), last) << x << " " << y;
      }
    }
  }

  // The number of the primitive.
  static constexpr std::string_view kId = "mov (8|M0) r120.0<1>:ud r4.3<0;1,0>:ud\n";

  PipelineState state_;
  std::vector<Slot> entries_;
};

TEST_P(PixelPiecesAtWork, TheLastPrimitiveIsOnTop) {
  load(std::string(kId));
  for (const size_t count : {size_t{1}, size_t{3}, size_t{40}, size_t{200}}) {
    SCOPED_TRACE(count);
    const std::vector<Box> boxes = some_boxes(static_cast<uint32_t>(count), count);
    const Result result = same_for_all(boxes);
    shows_last(result, boxes);
    EXPECT_EQ(result.counts.invocations, area(boxes));
    EXPECT_EQ(result.counts.passed, area(boxes));
    EXPECT_TRUE(result.counts.blocks == (BlockCounts{.rasterised = blocks(boxes), .written = blocks(boxes)}));
    EXPECT_EQ(result.nexts.size(), 1u);
  }
}

TEST_P(PixelPiecesAtWork, SmallPrimitivesGiveTheSamePicture) {
  load(std::string(kId));
  std::vector<Box> boxes = some_boxes(7, 250);
  for (Box& box : boxes) {
    box.x1 = std::min(box.x1, box.x0 + 5);
    box.y1 = std::min(box.y1, box.y0 + 7);
  }
  shows_last(same_for_all(boxes), boxes);
}

// Values are added up, so that a pixel drawn twice or not at all is found.
TEST_P(PixelPiecesAtWork, WorkEndsInsideAPrimitive) {
  bind_target(kFloat);
  BlendTarget& blend = state_.output.blend.targets[0];
  blend.blend = true;
  blend.source_color = blend.source_alpha = blend.dest_color = blend.dest_alpha = hw::BlendFactor::ONE;
  load(loop(50) + "mov (8|M0) r120.0<1>:f 1.0:f\n");
  for (const std::vector<Box>& boxes : {std::vector<Box>{{0, 0, kWidth, kHeight}}, some_boxes(11, 12)}) {
    const Result whole = same_for_all(boxes);
    EXPECT_EQ(whole.nexts.size(), 1u);
    const Result parts = same_for_all(boxes, 20'000);
    EXPECT_GT(parts.nexts.size(), boxes.size() == 1 ? 30u : 3u);
    EXPECT_TRUE(whole.memory == parts.memory);
    EXPECT_EQ(parts.counts.invocations, area(boxes));
    EXPECT_TRUE(parts.counts.blocks ==
                (BlockCounts{.rasterised = blocks(boxes), .written = blocks(boxes), .blended = blocks(boxes)}));
    EXPECT_TRUE(parts.work == whole.work);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const auto count = std::ranges::count_if(boxes, [&](const Box& box) { return covers(box, x, y); });
        ASSERT_EQ(pixel<float>(parts, x, y), static_cast<float>(count)) << x << " " << y;
      }
    }
    if (boxes.size() == 1) {  // a part is two pieces of 32x32 pixels: 256 threads of 205 instructions
      EXPECT_LT(*std::ranges::max_element(parts.instructions), 60'000u);
    }
  }
}

// All threads write the same dword, so the result is that of the last write.
TEST_P(PixelPiecesAtWork, ShadersThatWriteKeepTheirOrder) {
  load("mov (8|M0) r110.0<1>:ud 0x0:ud\nmov (8|M0) r111.0<1>:ud r1.2<0;1,0>:ud\n" + write(1) + std::string(kId));
  const std::vector<Box> boxes = some_boxes(3, 5);
  const Result result = same_for_all(boxes);
  shows_last(result, boxes);
}

// A pixel reads the colour of another pixel.
TEST_P(PixelPiecesAtWork, ShadersThatReadWhatIsDrawnKeepTheirOrder) {
  load(fmt::format("mov (8|M0) r110.0<1>:ud {:#x}:ud\n", (40 * kWidth + 40) * 4) + read(2) +
       "add (8|M0) r120.0<1>:ud r120.0<8;8,1>:ud r4.3<0;1,0>:ud\n");
  const Result result = same_for_all({{0, 0, kWidth, kHeight}, {0, 0, kWidth, kHeight}});
  EXPECT_EQ(pixel<uint32_t>(result, 0, 0), 2u);  // the piece of the other pixel is drawn later
  EXPECT_GE(pixel<uint32_t>(result, kWidth - 1, kHeight - 1), 3u);
}

// The page of some rows is unmapped.
TEST_P(PixelPiecesAtWork, AFaultStopsAllPiecesAtTheSameRow) {
  load(std::string(kId));
  constexpr uint32_t kRow = 100;  // a page holds four rows
  memory_.take_away(kRow / 4);
  const std::vector<Box> boxes{{0, 0, kWidth, kHeight}};
  const Result result = same_for_all(boxes);
  EXPECT_EQ(result.end, ThreadEnd::fault);
  ASSERT_NE(result.faults, 0u);
  EXPECT_EQ(result.first_faults.at(0) >> 12, (kVa + kTarget + kRow * kWidth * 4) >> 12);
  EXPECT_EQ(pixel<uint32_t>(result, 0, kRow - 5), 1u);
  EXPECT_EQ(pixel<uint32_t>(result, 0, kRow + 40), 0u);
}

// Skipped faults are counted, whichever piece they are in.
TEST_P(PixelPiecesAtWork, SkippedFaultsAreCountedInEveryPiece) {
  load(std::string(kId));
  memory_.take_away(25);
  memory_.set_action(memory::FaultAction::skip);
  const Result result = same_for_all({{0, 0, kWidth, kHeight}, {10, 10, 200, 200}});
  EXPECT_EQ(result.end, ThreadEnd::done);
  EXPECT_NE(result.faults, 0u);
}

// Host memory of some pages is taken away between two parts (support/lent_pages.h). A late access ends the test.
TEST_P(PixelPiecesAtWork, LaterPartsDoNotReachRevokedPages) {
  load(loop(20) + fmt::format("mov (8|M0) r110.0<1>:ud {:#x}:ud\n", 0x40) + read(1) + std::string(kId));
  struct Gone {
    const char* name;
    uint64_t first, bytes;
  };
  for (const Gone& gone : {Gone{"target", kTarget, kWidth * kHeight * 4}, Gone{"code", kCode, 0x1000},
                           Gone{"buffer", kRaw, 0x1000}, Gone{"states", kStates, 0x1'0000}, Gone{"all", 0, kBytes}}) {
    for (const unsigned threads : {1u, 3u}) {
      SCOPED_TRACE(fmt::format("{}, {} threads", gone.name, threads));
      test::MappedMemory memory(kBytes, kVa);
      memory.set_action(memory::FaultAction::skip);
      std::ranges::copy(memory_.bytes(), memory.bytes().begin());
      WorkerPool pool(threads);
      eu::KernelLibrary kernels(generation_.id());
      PixelWork work(kernels);
      work.set_pool(&pool);
      work.set_events(&log_, "gpu0.rcs0");
      const PrimitiveList list = list_of({{0, 0, kWidth, kHeight}, {0, 0, kWidth, kHeight}}).settled();
      uint64_t next = 0;
      unsigned parts = 0;
      for (bool done = false; !done && parts < 1000; ++parts) {
        if (parts == 2) {
          EXPECT_EQ(memory.faults(), 0u);
          memory.take_back(gone.first / memory::kFrameBytes, gone.bytes / memory::kFrameBytes);
        }
        work.begin(generation_, state_, 2, memory.space());
        done = work.draw(list, next, 20'000);
        if (work.end() != ThreadEnd::done) break;
      }
      EXPECT_GE(parts, 2u);
      EXPECT_NE(memory.faults(), 0u);
    }
  }
}

// A message that is not implemented raises one Event.
TEST_P(PixelPiecesAtWork, EventsAreRaisedOnce) {
  load(fmt::format("send.vme (8|M0) r100 r110 {} 0x0 0x02100000\n", split() ? "null" : "") + std::string(kId));
  const Result result = same_for_all(some_boxes(5, 3));
  EXPECT_EQ(result.events.size(), 1u);
}

TEST_P(PixelPiecesAtWork, EndlessThreadIsReported) {
  load(loop(0) + std::string(kId));
  const Result result = run(2, {{0, 0, 8, 2}});
  EXPECT_EQ(result.end, ThreadEnd::endless);
}

// Threads that write the same values: one of them is replayed for all. The same kernel with an additional instruction
// that reads the pixel coordinates, and changes nothing, must give the same picture and the same counts.
class OneThreadForAll : public PixelPiecesAtWork {
 protected:
  static constexpr std::string_view kColour =
      "mov (8|M0) r120.0<1>:f 0.25:f\nmov (8|M0) r121.0<1>:f 0.5:f\n"
      "(W) mov (8|M0) r122.0<1>:f 0.75:f\nmov (8|M0) r123.0<1>:f 1.0:f\n";
  static std::string looks(std::string_view body) {  // reads r1.2, the coordinates of the first square
    return std::string(body) +
           "mov (8|M0) r119.0<1>:ud r1.2<0;1,0>:ud\nand (8|M0) r119.0<1>:ud r119.0<8;8,1>:ud 0x0:ud\n"
           "or (8|M0) r120.0<1>:ud r120.0<8;8,1>:ud r119.0<8;8,1>:ud\n";
  }
  static std::span<const std::byte> picture(const Result& result) {
    return std::span(result.memory).subspan(kTarget, kWidth * kHeight * 4);
  }
  // Runs with and without replay, compares the results, and returns the one with replay.
  Result both(std::string_view body, const std::vector<Box>& boxes) {
    load(looks(body));
    const Result slow = same_for_all(boxes);
    EXPECT_EQ(slow.counts.replayed, 0u);
    load(std::string(body));
    Result fast = same_for_all(boxes);
    EXPECT_TRUE(std::ranges::equal(picture(fast), picture(slow)));
    EXPECT_EQ(fast.counts.invocations, slow.counts.invocations);
    EXPECT_EQ(fast.counts.passed, slow.counts.passed);
    EXPECT_EQ(fast.counts.threads, slow.counts.threads);
    EXPECT_TRUE(fast.counts.blocks == slow.counts.blocks);
    EXPECT_EQ(fast.end, slow.end);
    EXPECT_EQ(fast.faults, slow.faults);
    EXPECT_EQ(fast.first_faults, slow.first_faults);
    EXPECT_EQ(fast.events, slow.events);
    return fast;
  }
  uint64_t replayed(const std::string& body) {
    load(body);
    return run(1, {{0, 0, kWidth, kHeight}}).counts.replayed;
  }
};

TEST_P(OneThreadForAll, ThePictureAndTheCountsAreTheSame) {
  for (const uint32_t format : {kUint, kFloat, 0xc7u /* four bytes */}) {
    SCOPED_TRACE(format);
    bind_target(format);
    for (const auto& boxes :
         {std::vector<Box>{{0, 0, kWidth, kHeight}}, std::vector<Box>{{3, 5, 254, 317}}, some_boxes(21, 30)}) {
      const Result fast = both(kColour, boxes);
      EXPECT_GT(fast.counts.replayed, fast.counts.threads / 2);
    }
  }
}

TEST_P(OneThreadForAll, InstructionsAreCountedAsIfTheyRan) {
  load(std::string(kColour));
  const Result result = same_for_all({{0, 0, kWidth, kHeight}});
  EXPECT_EQ(result.counts.threads, kWidth * kHeight / 8);
  EXPECT_EQ(result.counts.replayed, result.counts.threads);
  ASSERT_EQ(result.instructions.size(), 1u);
  EXPECT_EQ(result.instructions.front(), result.counts.threads * 5);
}

TEST_P(OneThreadForAll, BlendingReadsTheTarget) {
  bind_target(kFloat);
  BlendTarget& blend = state_.output.blend.targets[0];
  blend.blend = true;
  blend.source_color = blend.source_alpha = blend.dest_color = blend.dest_alpha = hw::BlendFactor::ONE;
  const std::vector<Box> boxes = some_boxes(22, 9);
  const Result fast = both(kColour, boxes);
  EXPECT_GT(fast.counts.replayed, 0u);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const auto count = std::ranges::count_if(boxes, [&](const Box& box) { return covers(box, x, y); });
      ASSERT_EQ(pixel<float>(fast, x, y), 0.25f * static_cast<float>(count)) << x << " " << y;
    }
  }
}

TEST_P(OneThreadForAll, EveryPrimitiveHasItsOwnReplay) {
  const std::vector<Box> boxes = some_boxes(23, 20);
  shows_last(both(kId, boxes), boxes);
}

TEST_P(OneThreadForAll, SkippedFaultsGiveTheSamePictureAsThreads) {
  memory_.take_away(25);
  memory_.set_action(memory::FaultAction::skip);
  const Result fast = both(kColour, {{0, 0, kWidth, kHeight}});
  EXPECT_EQ(fast.end, ThreadEnd::done);
}

TEST_P(OneThreadForAll, AFaultStopsReplayWhereItWouldStopThreads) {
  memory_.take_away(24);  // row 96, where a piece starts; with offset 2 also half of the last pixel of row 95
  memory_.set_action(memory::FaultAction::stop);
  for (const uint32_t offset_B : {0u, 2u}) {
    SCOPED_TRACE(offset_B);
    bind_target(0xc7, kWidth * 4, offset_B);
    const Result fast = both(kColour, {{0, 0, kWidth, kHeight}});
    EXPECT_EQ(fast.end, ThreadEnd::fault);
    EXPECT_GT(fast.counts.replayed, 0u);
  }
}

// Bytes between the elements of a buffer are not written. Elements may be larger than a page.
TEST_P(OneThreadForAll, GapsBetweenElementsAreNotWritten) {
  std::ranges::fill(memory_.bytes().subspan(kTarget, kStates), std::byte{0xa5});
  for (const auto& [elements, stride_B] : {std::pair(256u, 16u), std::pair(100u, 8192u)}) {
    SCOPED_TRACE(stride_B);
    bind_buffer(elements, stride_B);
    const Result fast = both(kColour, {{0, 0, kWidth, kHeight}});
    EXPECT_EQ(fast.end, ThreadEnd::done);
    EXPECT_GT(fast.counts.replayed, 0u);
    for (uint32_t at = 0; at < kStates; ++at) {
      const bool drawn = at / stride_B < elements && at % stride_B < 4;
      ASSERT_EQ(fast.memory[kTarget + at] != std::byte{0xa5}, drawn) << at;
    }
  }
}

TEST_P(OneThreadForAll, RowsThatShareBytesKeepTheirOrder) {
  bind_target(0, 264);  // four floats per pixel: each row starts inside a pixel of the previous row
  EXPECT_GT(both(kColour, {{0, 0, 65, kHeight}}).counts.replayed, 0u);
}

// Values that may differ between threads are not replayed.
TEST_P(OneThreadForAll, ThreadsThatDifferAreNotReplayed) {
  const std::string colour(kColour);
  EXPECT_NE(replayed(colour), 0u);
  EXPECT_EQ(replayed(looks(colour)), 0u);
  EXPECT_EQ(replayed(colour + "mov (1|M0) r121.0<1>:ud sr0.2<0;1,0>:ud\n"), 0u) << "reads the live channels";
  EXPECT_EQ(replayed(colour + "(W) cmp (8|M0) (eq)f0.0 null<1>:ud r1.2<0;1,0>:ud 0x0:ud\n"
                              "(f0.0) mov (8|M0) r120.0<1>:f 1.0:f\n"),
            0u)
      << "a predicate";
  EXPECT_EQ(replayed("mov (8|M0) r110.0<1>:ud 0x0:ud\n" + read(1) + colour), 0u) << "a message that reads";
  EXPECT_EQ(replayed("mov (8|M0) r110.0<1>:ud 0x0:ud\nmov (8|M0) r111.0<1>:ud 0x0:ud\n" + write(1) + colour), 0u)
      << "a message that writes elsewhere";
  EXPECT_EQ(replayed(loop(2) + colour), 0u) << "a loop";
  // The value of another channel, which exists only if that channel is enabled.
  EXPECT_EQ(replayed(colour + "mov (8|M0) r119.0<1>:f 0.5:f\nmov (8|M0) r120.0<1>:f r119.7<0;1,0>:f\n"), 0u);
  EXPECT_NE(replayed(colour + "(W) mov (8|M0) r119.0<1>:f 0.5:f\nmov (8|M0) r120.0<1>:f r119.7<0;1,0>:f\n"), 0u);
}

// Colours that differ between channels belong to the thread, not to the primitive, and are written per channel.
TEST_P(OneThreadForAll, ChannelsHaveTheirOwnColours) {
  const Result fast = both("(W) mov (8|M0) r118.0<1>:w 0x76543210:v\nmov (8|M0) r120.0<1>:f r118.0<8;8,1>:w\n",
                           {{0, 0, kWidth, kHeight}});
  EXPECT_NE(fast.counts.replayed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OneThreadForAll, testing::Values("skl", "tgl"));
INSTANTIATE_TEST_SUITE_P(Chips, PixelPiecesAtWork, testing::Values("skl", "tgl"));

TEST(PrimitiveList, SettledListsOwnTheirEntries) {
  std::vector<Slot> entry(2, Slot{1, 2, 3, 4});
  PrimitiveList list;
  list.begin(2);
  ScreenPrimitive primitive;
  primitive.vertex[0].slots = primitive.vertex[2].slots = primitive.flat = entry.data();
  primitive.vertex[1].slots = list.keep(std::span(entry).first(1));
  list.target().push_back(primitive);
  const PrimitiveList settled = list.settled();
  entry.assign(2, {});
  list.begin(2);
  list.keep(entry);
  const ScreenPrimitive& one = settled.primitives().front();
  EXPECT_EQ(one.vertex[0].slots[1], (Slot{1, 2, 3, 4}));
  EXPECT_EQ(one.vertex[0].slots, one.flat);
  EXPECT_EQ(one.vertex[1].slots[0], (Slot{1, 2, 3, 4}));
  EXPECT_EQ(one.vertex[1].slots[1], Slot{}) << "short entries are padded with zeros";
}

}  // namespace
}  // namespace halogen::pipe3d
