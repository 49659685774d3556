// Whole frames with compression enabled: whatever writes the surface, and whenever, every frame shows the written
// picture. The expected picture is an array that the test paints in parallel; it is never read from the device.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "covers.h"
#include "unit/display/dpfc_bench.h"

namespace halogen::display::fbc_test {
namespace {

using Bits = std::vector<uint32_t>;  // a picture, x:8:8:8

// Two buffers in one fenced region, a ring, and the expected contents of both.
template <class Kind>
class Painted {
 public:
  static constexpr uint32_t kWidth = 640;
  static constexpr uint32_t kLines = 480;
  static constexpr uint32_t kLinesApart = 512;
  static constexpr uint64_t kRing = 0xc00'0000;
  static constexpr uint32_t kRing_B = 4096;

  explicit Painted(uint32_t seed) : random_(seed) {
    bases_ = {bench.surface, bench.surface + uint64_t{kLinesApart} * bench.screen.pitch_B};
    pictures_.fill(Bits(size_t{kWidth} * kLines, 0));
    place_fences();
    bench.map(kRing >> 12, 0x800'0000);
    bench.write(0x2038, static_cast<uint32_t>(kRing));
    bench.write(0x2034, 0);
    bench.write(0x203c, 1);
  }

  Kind bench;

  unsigned front() const { return front_; }
  unsigned back() const { return 1 - front_; }
  uint64_t base(unsigned buffer) const { return bases_[buffer]; }
  uint32_t number(uint32_t limit) { return static_cast<uint32_t>(random_()) % limit; }

  // Writes as the CPU does, through the fence.
  void write_pixel(unsigned buffer, uint32_t x, uint32_t y, uint32_t color) {
    bench.device->bar_write(2, base(buffer) + uint64_t{y} * bench.screen.pitch_B + 4 * x, 4, color);
    pictures_[buffer][y * kWidth + x] = color;
  }
  // Fills a rectangle with XY_COLOR_BLT on the ring.
  void fill(unsigned buffer, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t color) {
    emit({2u << 29 | 0x50u << 22 | 3u << 20 | 1u << 11 | 4, 3u << 24 | 0xf0u << 16 | bench.screen.pitch_B / 4,
          y0 << 16 | x0, y1 << 16 | x1, static_cast<uint32_t>(base(buffer)), color});
    for (uint32_t y = y0; y < y1; ++y) {
      std::fill_n(pictures_[buffer].begin() + y * kWidth + x0, x1 - x0, color);
    }
  }
  // Copies lines from one buffer to the other with XY_SRC_COPY_BLT.
  void copy_lines(unsigned from, unsigned to, uint32_t y0, uint32_t y1) {
    const uint32_t pitch = bench.screen.pitch_B / 4;
    emit({2u << 29 | 0x53u << 22 | 3u << 20 | 1u << 15 | 1u << 11 | 6, 3u << 24 | 0xccu << 16 | pitch, y0 << 16,
          y1 << 16 | kWidth, static_cast<uint32_t>(base(to)), y0 << 16, pitch, static_cast<uint32_t>(base(from))});
    std::copy(pictures_[from].begin() + y0 * kWidth, pictures_[from].begin() + y1 * kWidth,
              pictures_[to].begin() + y0 * kWidth);
  }
  // Flips; shown after the next vertical blank.
  void flip(bool command) {
    const auto to = static_cast<uint32_t>(base(back()));
    if (command) {
      emit({0x14u << 23 | bench.screen.plane << 20 | 1, bench.screen.pitch_B, to | 1});
    } else {
      bench.write_plane(bench.control_bits(), to);
    }
    flipped_ = true;
  }
  // Draws random operations at random positions.
  void scribble(unsigned buffer) {
    switch (number(3)) {
      case 0:
        for (int i = 0; i < 20; ++i) {
          write_pixel(buffer, number(kWidth), number(kLines), number(0x100'0000));
        }
        break;
      case 1: {
        const uint32_t y = number(kLines);
        for (uint32_t x = 0; x < kWidth; ++x) {
          write_pixel(buffer, x, y, x * 0x01'0203 & 0xff'ffff);  // too many runs to fit
        }
        break;
      }
      default: {
        const uint32_t x = number(kWidth - 1);
        const uint32_t y = number(kLines - 1);
        fill(buffer, x, y, x + 1 + number(kWidth - x - 1), y + 1 + number(std::min(40u, kLines - y - 1)),
             number(0x100'0000));
      }
    }
  }

  void pass_time(uint64_t nanoseconds) { bench.device->advance(nanoseconds); }
  // Advances to the vertical blank; all streams are complete by then.
  void to_vblank() {
    wait_for_ring();
    bench.next_vblank();
    if (std::exchange(flipped_, false)) {
      front_ = back();
      place_fences();
    }
  }
  void wait_for_ring() {
    for (int i = 0; i < 100 && (bench.read(0x2034) & 0x1f'fffc) != tail_; ++i) {
      bench.device->advance(10'000);
    }
    ASSERT_EQ(bench.read(0x2034) & 0x1f'fffc, tail_) << "the ring does not advance";
  }

  void expect_frame(std::string_view when) {
    wait_for_ring();
    const auto image = bench.device->take_frame(bench.screen.plane);
    ASSERT_TRUE(image.has_value());
    ASSERT_EQ(image->width, kWidth);
    ASSERT_EQ(image->height, kLines);
    const Bits& wanted = pictures_[front_];
    unsigned wrong = 0;
    for (uint32_t y = 0; y < kLines; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const picture::Rgba pixel = image->row(y)[x];
        const uint32_t shown = uint32_t{pixel.red} << 16 | uint32_t{pixel.green} << 8 | pixel.blue;
        if (shown != wanted[y * kWidth + x] && wrong++ == 0) {
          ADD_FAILURE() << when << ": pixel " << x << " of line " << y << " is " << std::hex << shown << ", not "
                        << wanted[y * kWidth + x];
        }
      }
    }
    ASSERT_EQ(wrong, 0u) << when;
    std::vector<std::byte> line(size_t{kWidth} * 4);
    for (uint32_t y = 0; y < kLines; ++y) {
      from_buffer += bench.compressor().read_line(bench.screen.plane, y, line) ? 1u : 0u;
    }
    ++frames;
  }

  unsigned from_buffer = 0;  // lines that came from the compressor
  unsigned frames = 0;

 private:
  // The compressor watches one fence and counts lines from its start, so the fence moves with the picture, as drivers
  // do.
  void place_fences() {
    bench.write(0x3000 + 8 * Kind::kFenceNumber, 0);
    bench.write(0x3000 + 8 * (Kind::kFenceNumber + 1), 0);
    for (const unsigned buffer : {0u, 1u}) {
      const uint64_t start = base(buffer) - uint64_t{Kind::kLinesBefore} * bench.screen.pitch_B;
      const uint64_t pages = uint64_t{Kind::kLinesBefore + kLines} * bench.screen.pitch_B / 4096;
      bench.set_fence(buffer == front_ ? Kind::kFenceNumber : Kind::kFenceNumber + 1, start, start / 4096 + pages - 1,
                      bench.screen.pitch_B, false);
    }
  }

  void emit(std::vector<uint32_t> dwords) {
    dwords.push_back(0x04u << 23);  // MI_FLUSH
    if (dwords.size() % 2 != 0) {
      dwords.push_back(0);
    }
    const auto put = [&](uint32_t dword) {
      bench.put_aperture(kRing + tail_, dword);
      tail_ = (tail_ + 4) % kRing_B;
    };
    wait_for_ring();
    while (kRing_B - tail_ < dwords.size() * 4) {
      put(0);
    }
    std::ranges::for_each(dwords, put);
    bench.write(0x2030, tail_);
  }

  std::mt19937 random_;
  std::array<uint64_t, 2> bases_{};
  std::array<Bits, 2> pictures_;
  unsigned front_ = 0;
  bool flipped_ = false;
  uint32_t tail_ = 0;
};

constexpr uint64_t kFrame_ns = 16'666'667;

// The scenario of both chips: frames with writers at random times, and flips between them.
template <class Kind>
void course(Painted<Kind>& screen, unsigned frames, const std::function<void()>& at_vblank) {
  for (unsigned buffer = 0; buffer < 2; ++buffer) {
    screen.fill(buffer, 0, 0, screen.kWidth, screen.kLines, 0x20'4060 + buffer);
    screen.fill(buffer, 100, 100, 500, 300, 0xc0'8010);
  }
  for (unsigned frame = 0; frame < frames; ++frame) {
    SCOPED_TRACE(frame);
    at_vblank();
    screen.to_vblank();
    screen.expect_frame("at the vertical blank");
    // During a pass, or just behind the beam.
    screen.pass_time(screen.number(1'200'000));
    if (frame % 4 != 3) {
      screen.scribble(screen.front());
    }
    screen.expect_frame("after a write");
    screen.pass_time(kFrame_ns / 4 + screen.number(kFrame_ns / 3));
    if (frame % 4 != 3) {
      screen.scribble(frame % 3 == 0 ? screen.back() : screen.front());
    }
    screen.expect_frame("in the middle of the screen");
    if (frame % 5 == 4) {
      screen.flip(/*command=*/frame % 2 == 0);
      screen.expect_frame("before the flip is done");
    }
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) {
      return;
    }
  }
  EXPECT_EQ(screen.bench.events(), 0u) << screen.bench.host.log.events().front().to_string();
}

TEST(WholeFrames, Gm965ShowsTheWrittenPixelsInEveryMode) {
  struct Mode {
    uint32_t flags;
    uint32_t modifications;
    bool requests;
  };
  const Mode modes[] = {
      {0, 0, true},
      {FbcBench::kUncompressible | FbcBench::kStopOnModification, 0, true},
      {FbcBench::kPeriodic | 1u << 16, 0, false},
      {FbcBench::kPeriodic | 2u << 16 | FbcBench::kUncompressible, 20u << 1 | 1, false},
  };
  for (const Mode& mode : modes) {
    SCOPED_TRACE(mode.flags);
    Painted<FbcBench> screen(mode.flags ^ mode.modifications);
    screen.bench.write(FbcBench::kModifications, mode.modifications);
    screen.bench.enable(1024, mode.flags);
    course(screen, 20, [&] {
      if (mode.requests) {
        screen.bench.request();
      }
    });
    EXPECT_GT(screen.from_buffer / screen.frames, 100u) << "lines of an average frame come from the compressed buffer";
  }
}

TEST(WholeFrames, Gm45ShowsTheWrittenPixelsAtEveryLimit) {
  for (const uint32_t limit : {0u, DpfcBench::kHalf, DpfcBench::kQuarter}) {
    SCOPED_TRACE(limit);
    Painted<DpfcBench> screen(limit + 7);
    screen.bench.enable(limit);
    course(screen, 20, [] {});
    EXPECT_GT(screen.from_buffer / screen.frames, 200u);
  }
}

// The same scenario without compression gives the same pictures. The array is the reference in both cases.
TEST(WholeFrames, FramesAreTheSameWithoutCompression) {
  Painted<FbcBench> first(1);
  course(first, 6, [] {});
  EXPECT_EQ(first.from_buffer, 0u);
  Painted<DpfcBench> second(1);
  course(second, 6, [] {});
  EXPECT_EQ(second.from_buffer, 0u);
}

// Persistent mode tracks the back buffer, which is painted and flipped to; then the other buffer is brought up to date.
TEST(WholeFrames, Gm45PersistentModeTracksTheBackBuffer) {
  Painted<DpfcBench> screen(3);
  for (unsigned buffer = 0; buffer < 2; ++buffer) {
    screen.fill(buffer, 0, 0, screen.kWidth, screen.kLines, 0x10'3050);
  }
  screen.wait_for_ring();
  screen.bench.enable(DpfcBench::kPersistent | DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke);
  uint32_t first = 0;
  uint32_t last = 0;
  for (unsigned frame = 0; frame < 20; ++frame) {
    SCOPED_TRACE(frame);
    if (last > first) {
      screen.copy_lines(screen.front(), screen.back(), first, last);
    }
    first = screen.number(400);
    last = first + 1 + screen.number(60);
    screen.fill(screen.back(), screen.number(300), first, 301 + screen.number(300), last, screen.number(0x100'0000));
    screen.expect_frame("while the back buffer is painted");
    screen.flip(frame % 3 != 0);
    screen.pass_time(screen.number(kFrame_ns / 2));
    screen.to_vblank();
    screen.expect_frame("after the flip");
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) {
      return;
    }
  }
  EXPECT_GT(screen.from_buffer / screen.frames, 300u) << "most lines stay compressed across flips";
  EXPECT_EQ(screen.bench.events(), 0u) << screen.bench.host.log.events().front().to_string();
}

// Checks that the picture comes from compressed lines: an untracked change of memory is not visible.
template <class Kind>
void expect_copy(Painted<Kind>& screen) {
  screen.expect_frame("compressed");
  EXPECT_EQ(screen.from_buffer, screen.kLines);
  screen.bench.poke(5, 5, 0x12'3456);
  screen.expect_frame("poked");
}

TEST(WholeFrames, FramesComeFromTheCompressedLines) {
  Painted<FbcBench> first(1);
  first.bench.enable();
  first.bench.pass();
  expect_copy(first);
  Painted<DpfcBench> second(1);
  second.bench.enable();
  expect_copy(second);
}

}  // namespace
}  // namespace halogen::display::fbc_test
