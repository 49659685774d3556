// Limits of what a trace may request: repeated patterns and dumps.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aub_builder.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kSystem = 2;
constexpr uint32_t kIcl = 19;

void play(Player& player, const AubBuilder& aub) {
  const std::unique_ptr<ByteSource> source = open_memory(aub.bytes());
  aub::Reader reader(*source, "trace");
  const Result<void> read = reader.read_all(player);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.message());
}

// A few bytes may request a large pattern, so the limit holds for the whole trace, and an error message states it.
TEST(PlayLimits, RepeatedPatternsAreLimited) {
  const auto fill = [](uint32_t mb) { return std::vector<uint32_t>{0, 0, kSystem << 28 | 2, mb << 20, 0x5555'5555}; };
  AubBuilder huge;
  huge.version(kIcl).trace(0x06, {0x1000, 0, kSystem << 28 | 2, 0xffff'fff0, 0x5555'5555});
  Player alone;
  play(alone, huge);
  EXPECT_NE(alone.failure().find("repeats a pattern over 4294967280 bytes"), std::string::npos) << alone.failure();
  EXPECT_EQ(alone.simulator()->host().pages(), 0u);
  // Small patterns add up, including those of comparisons.
  AubBuilder many;
  many.version(kIcl).trace(0x06, fill(16));
  for (int i = 0; i < 15; ++i) many.trace(0x04, fill(16));
  Player allowed;
  play(allowed, many);
  EXPECT_EQ(allowed.failure(), "");
  EXPECT_EQ(allowed.counts().checks, 15u);
  EXPECT_EQ(allowed.counts().failed_checks, 0u);
  many.trace(0x04, fill(1));
  Player refused;
  play(refused, many);
  EXPECT_NE(refused.failure().find("limit for one trace is 256 MB"), std::string::npos) << refused.failure();
}

// Dumps of X- and Y-tiled surfaces hold the rows in linear order. Dumps of W-tiled surfaces are skipped.
TEST(PlayLimits, DumpsAreDetiled) {
  const fs::path folder = fs::temp_directory_path() / ("halogen_play_tiles_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  constexpr uint32_t kPitch = 1024, kRows = 40, kBytes = kPitch * 64;
  std::vector<uint32_t> memory(kBytes / 4);
  for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i;
  AubBuilder aub;
  aub.version(kIcl).write_memory(kSystem, 0x10'0000, memory);
  for (const uint32_t tiling : {0u, 1u, 2u, 3u}) {
    std::vector<uint32_t> dump{0x10'0000, 0, kPitch, 600, kRows, kSystem | tiling << 4};
    AubBuilder::append_text(dump, "t.bin");
    aub.trace(0x0a, dump);
  }
  Player player;
  player.allow_dumps(folder);
  play(player, aub);
  EXPECT_EQ(player.counts().dumps, 3u);
  EXPECT_EQ(player.skipped().count("dump of a W-tiled surface"), 1u);
  for (const uint32_t tiling : {0u, 1u, 2u}) {
    std::ifstream in(folder / ("000" + std::to_string(tiling) + "_t.bin"), std::ios::binary);
    std::vector<char> seen(600 * kRows);
    in.read(seen.data(), static_cast<std::streamsize>(seen.size()));
    ASSERT_EQ(in.gcount(), static_cast<std::streamsize>(seen.size()));
    for (uint32_t y = 0; y < kRows; ++y) {
      for (uint32_t x = 0; x < 600; x += 4) {
        // Tiles of 4 KB in rows; X: rows of 512 bytes, 8 high; Y: columns of 16 bytes, 32 high.
        const uint32_t byte =
            tiling == 0   ? y * kPitch + x
            : tiling == 1 ? (y / 8 * (kPitch / 512) + x / 512) * 4096 + y % 8 * 512 + x % 512
                          : (y / 32 * (kPitch / 128) + x / 128) * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
        uint32_t value = 0;
        std::memcpy(&value, &seen[y * 600 + x], 4);
        ASSERT_EQ(value, byte / 4) << tiling << " " << x << " " << y;
      }
    }
  }
  fs::remove_all(folder);
}

TEST(PlayLimits, DumpsReplaceNoFileUnlessTheyMay) {
  const fs::path folder = fs::temp_directory_path() / ("halogen_play_old_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto content = [&](const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::ofstream(folder / "victim") << "kept";
  std::ofstream(folder / "0000_s") << "old";
  AubBuilder aub;
  aub.version(kIcl);
  std::vector<uint32_t> dump{0, 0, 4, 4, 1, kSystem};
  AubBuilder::append_text(dump, "s");
  aub.trace(0x0a, dump);
  for (const bool is_link : {false, true}) {
    if (is_link) {
      fs::remove(folder / "0000_s");
      fs::create_symlink("victim", folder / "0000_s");
    }
    Player player;
    player.allow_dumps(folder);
    const auto source = open_memory(aub.bytes());
    aub::Reader reader(*source, "dumps");
    static_cast<void>(reader.read_all(player));
    EXPECT_NE(player.failure().find("0000_s: exists"), std::string::npos) << player.failure();
    EXPECT_EQ(player.counts().dumps, 0u);
    EXPECT_EQ(content("0000_s"), is_link ? "kept" : "old");
  }
  fs::remove(folder / "0000_s");
  std::ofstream(folder / "0000_s") << "old";
  Player replacing;
  replacing.allow_dumps(folder, true);
  play(replacing, aub);
  EXPECT_EQ(content("0000_s"), std::string(4, '\0'));
  EXPECT_EQ(content("victim"), "kept");
  fs::remove_all(folder);
}

TEST(PlayLimits, TotalSizeOfDumpsIsLimited) {
  const fs::path folder = fs::temp_directory_path() / ("halogen_play_many_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  AubBuilder aub;
  aub.version(kIcl);
  std::vector<uint32_t> dump{0, 0, 4, 4, 1, kSystem};
  AubBuilder::append_text(dump, "s");
  for (int i = 0; i < 4100; ++i) aub.trace(0x0a, dump);
  Player player;
  player.allow_dumps(folder);
  play(player, aub);
  EXPECT_EQ(player.counts().dumps, 4096u);
  EXPECT_EQ(player.counts().skipped, 4u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace halogen::trace
