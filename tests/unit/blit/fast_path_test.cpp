// Differential test of the fast paths: the same random jobs run through a fast path and through the general path, on
// the same memory.
#include <cstring>
#include <random>

#include "blit/blitter.h"
#include "blit/raster_op.h"
#include "blit_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPages = 64;
constexpr uint64_t kBytes = kPages * 4096;

class FastPath : public ::testing::Test {
 protected:
  FastPath() {
    memory = bench.allocate(kPages);
    bench.set_entry(memory / 4096 + 40, 0);  // an unmapped page in the middle
    slow.set_fast_paths(false);
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
  std::span<std::byte> page(uint64_t number) {
    return bench.host.map_memory(PhysAddr{EngineBench::host_address(memory + number * 4096)}, 4096);
  }
  std::vector<std::byte> contents() {
    std::vector<std::byte> bytes;
    for (uint64_t number = 0; number < kPages; ++number) {
      bytes.insert(bytes.end(), page(number).begin(), page(number).end());
    }
    return bytes;
  }
  void set_contents(const std::vector<std::byte>& bytes) {
    for (uint64_t number = 0; number < kPages; ++number) {
      std::memcpy(page(number).data(), bytes.data() + number * 4096, 4096);
    }
  }
  blit::Surface surface() {
    static constexpr const surface::TilePattern* kTiles[] = {nullptr, nullptr, &surface::kTileX, &surface::kTileY};
    const surface::TilePattern* const tile = kTiles[below(4)];
    const auto base = memory + (tile == nullptr ? below(kBytes / 2) : below(kPages / 2) * 4096u);
    return {base, tile == nullptr ? static_cast<int64_t>(below(2000)) - 300 : 512 * (1 + below(3)), tile};
  }
  blit::BlitJob job() {
    static constexpr uint8_t kRops[] = {0xcc, 0xf0, 0x00, 0xff, 0x66};
    blit::BlitJob made;
    made.pixel_B = static_cast<uint8_t>(1u << below(3));
    made.rop = kRops[below(5)];
    made.destination = surface();
    const int x = static_cast<int>(below(60)) - 20;
    const int y = static_cast<int>(below(30)) - 10;
    made.rect = {x, y, x + static_cast<int>(below(1000)), y + static_cast<int>(below(30))};
    if (below(4) != 0) {
      made.source = blit::SourceKind::color;
      made.source_surface = surface();
      made.source_x = static_cast<int>(below(40)) - 10;
      made.source_y = static_cast<int>(below(20)) - 5;
    } else {
      made.source = blit::SourceKind::mono;
      made.mono.address = memory + below(kBytes / 2);
      made.mono.start = static_cast<uint8_t>(below(8));
      made.mono.colors = {static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
    }
    made.pattern.kind = blit::PatternKind::solid;
    made.pattern.solid[0] = static_cast<uint32_t>(random());
    made.address_mask = 0xffff'ffff;
    return made;
  }

  BlitBench bench{"snb"};
  uint64_t memory = 0;
  blit::Blitter fast;
  blit::Blitter slow;
  std::mt19937 random{7};
};

TEST_F(FastPath, AgreesWithTheGeneralPath) {
  std::vector<std::byte> before(kBytes);
  for (std::byte& byte : before) {
    byte = static_cast<std::byte>(random());
  }
  for (unsigned i = 0; i < 600; ++i) {
    const blit::BlitJob made = job();
    memory::AddressSpace& space = bench.device->space(0, memory::Stream::blit, memory::TableKind::global);
    set_contents(before);
    blit::Progress progress;
    const blit::Outcome first = fast.run(space, made, progress);
    const std::vector<std::byte> got = contents();
    set_contents(before);
    blit::Progress again;
    const blit::Outcome second = slow.run(space, made, again);
    ASSERT_EQ(first.end, second.end) << i;
    if (first.end != WorkEnd::fault) {  // the paths may differ in a line that stopped at a fault
      ASSERT_EQ(got, contents()) << "job " << i;
    }
    ASSERT_EQ(first.lines, second.lines) << i;
  }
}

}  // namespace
}  // namespace halogen
