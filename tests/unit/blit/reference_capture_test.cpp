// Captured streams of intel-gpu-tools (gem_blt and intel_upload_blit), loaded at their addresses, run on the engine
// that they name, and compared byte by byte with the reference. Objects that were empty when the stream was captured
// are filled here, so that a copy is visible.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/blit_bench.h"
#include "support/paths.h"
#include "trace/capture.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;

class CaptureBench : public EngineBench {
 public:
  explicit CaptureBench(const trace::Capture& capture) : EngineBench(*capture.model()) {
    uint64_t first = ~uint64_t{0}, end = 0;
    for (const trace::CaptureObject& object : capture.objects) {
      first = std::min(first, object.gpu.value);
      end = std::max(end, object.gpu.value + object.bytes);
    }
    memory_.emplace(first, end - first);
    for (const trace::CaptureObject& object : capture.objects) load(object);
    before_.assign(memory_->bytes().begin(), memory_->bytes().end());
  }

  // Runs only the stream on the reference. Returns the number of BLT commands.
  size_t run_reference(const trace::Capture& capture) {
    const uint64_t start = capture.batch_gpu.value + capture.batch_start;
    blit_reference::Blitter blitter(*memory_, blit_rules(model));
    Dwords stream;
    const uint64_t bytes = capture.batch_bytes != 0 ? capture.batch_bytes : 4096 - capture.batch_start;
    for (uint64_t at = start; at < start + bytes; at += 4) stream.push_back(peek(at));
    size_t blits = 0;
    for (size_t at = 0; at < stream.size();) {
      if (stream[at] >> 29 == 0) {  // MI commands: flushes and the batch end
        if (stream[at] >> 23 == 0x0a) break;
        at += stream[at] >> 23 < 0x10 ? 1 : (stream[at] & 0x3f) + 2;
        continue;
      }
      const auto outcome = blitter.run(std::span(stream).subspan(at));
      EXPECT_EQ(outcome.verdict, blit_reference::Verdict::done) << (outcome.why != nullptr ? outcome.why : "");
      at += outcome.dwords;
      ++blits;
    }
    return blits;
  }

  void run_device(const trace::Capture& capture) {
    const uint64_t start = capture.batch_gpu.value + capture.batch_start;
    const std::string_view engine = capture.engine_class == spec::EngineClass::blit ? "bcs0" : "rcs0";
    start_ring(engine);
    const uint64_t sentinel = allocate(1);
    const bool wide = blit_rules(model).wide;
    if (wide) {
      emit(engine, {0x1880'0001, static_cast<uint32_t>(start), static_cast<uint32_t>(start >> 32), 0});
    } else {
      emit(engine, {0x1880'0000u | (is_gen4() ? 0x80u : 0u), static_cast<uint32_t>(start)});
    }
    emit(engine, store_dword(wide, sentinel, 0x600d));
    submit(engine);
    EXPECT_TRUE(device->settle());
    EXPECT_EQ(reg(engine, kHead) & 0x1f'fffc, reg(engine, kTail)) << "the stream did not end";
    EXPECT_EQ(peek(sentinel), 0x600du) << "the stream did not end";
  }

  std::vector<uint8_t> content() {
    std::vector<uint8_t> all(memory_->bytes().size());
    for (size_t i = 0; i < all.size(); i += 4) {
      const uint32_t value = peek(memory_->base() + i);
      std::memcpy(&all[i], &value, 4);
    }
    return all;
  }
  std::span<const uint8_t> expected() { return memory_->bytes(); }
  bool changed() { return !std::ranges::equal(before_, memory_->bytes()); }

 private:
  void load(const trace::CaptureObject& object) {
    for (uint64_t at = 0; at < object.bytes; at += kPage) {
      const uint64_t page = (object.gpu.value + at) / kPage;
      map(page, host_address(page * kPage));
    }
    std::vector<uint32_t> content = object.content;
    if (content.empty()) {
      std::mt19937 random(object.handle);
      content.resize(object.bytes / 4);
      for (uint32_t& dword : content) dword = static_cast<uint32_t>(random());
    }
    content.resize(object.bytes / 4);
    poke(object.gpu.value, content);
    std::memcpy(memory_->bytes().data() + (object.gpu.value - memory_->base()), content.data(), object.bytes);
  }

  std::optional<blit_reference::Memory> memory_;
  std::vector<uint8_t> before_;
};

class Streams : public ::testing::TestWithParam<const char*> {};

TEST_P(Streams, IntelGpuToolsStreamsMatchTheReference) {
  const fs::path archive = test::data_folder() / "execbuffers" / fmt::format("{}.tar.xz", GetParam());
  if (!fs::exists(archive)) {
    GTEST_SKIP() << archive << " does not exist; set HALOGEN_DATA to the folder of captured data";
  }
  const fs::path folder = test::binary_folder() / "captures_igt" / GetParam();
  if (!fs::exists(folder)) {
    const fs::path partial = folder.string() + ".part";
    fs::remove_all(partial);
    fs::create_directories(partial);
    const std::string command =
        fmt::format("tar -xJf '{}' -C '{}' --wildcards '*/igt_*'", archive.string(), partial.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    fs::rename(partial, folder);
  }
  const auto found = trace::find_captures(folder);
  ASSERT_TRUE(found.ok()) << found.message();
  std::map<std::string, size_t> drawn;
  for (const fs::path& each : *found) {
    SCOPED_TRACE(each.string());
    const auto capture = trace::read_capture(each);
    ASSERT_TRUE(capture.ok()) << capture.message();
    CaptureBench bench(*capture);
    const size_t blits = bench.run_reference(*capture);
    bench.run_device(*capture);
    EXPECT_EQ(difference(bench.content(), bench.expected()), "");
    EXPECT_EQ(bench.changed(), blits != 0);
    drawn[capture->program] += blits;
  }
  EXPECT_GE(drawn["igt_gem_blt"], 2u);
  EXPECT_GE(drawn["igt_intel_upload_blit_small"], 2u);
  EXPECT_EQ(drawn["igt_gem_exec_nop"], 0u);
}

INSTANTIATE_TEST_SUITE_P(On, Streams, ::testing::Values("g45", "snb", "bdw", "icl", "dg1"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace halogen
