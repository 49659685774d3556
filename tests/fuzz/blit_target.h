// The BLT engine of every chip with random streams. If the manual defines the result of a stream, memory must match the
// slow reference. Otherwise only pages of the destination may change, and a reset must recover the engine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "blit/blit_commands.h"
#include "fuzz/input.h"
#include "fuzz/memory_host.h"
#include "hw/blt.h"
#include "hw/blt_gen9.h"
#include "support/blit_reference.h"
#include "support/blit_stream.h"

namespace halogen::fuzz {

class BlitFuzz final : private Input {
 public:
  explicit BlitFuzz(const spec::DeviceModel& model) : model_(model), memory_(kArea, kAreaBytes) {
    device::DeviceOptions options;
    options.power_gating = false;
    options.local_tables = false;
    auto created = device::Device::create(model, host_, options);
    if (!created) std::abort();
    chip_ = std::move(*created);
    chip_->config_write(4, 2, 7);
    map_pages();
    for (const spec::EngineModel& each : model.engines) {
      if (each.engine_class == spec::EngineClass::blit || engine_ == nullptr) engine_ = &each;
    }
    rules_ = rules_of(model);
    std::mt19937 random(4);
    for (std::byte& byte : host_.memory()) byte = static_cast<std::byte>(random());
    fresh_ = chip_->snapshot();
    fresh_memory_.assign(host_.memory().begin(), host_.memory().end());
  }

  void run(std::span<const uint8_t> data) {
    std::ranges::copy(fresh_memory_, host_.memory().begin());
    chip_->restore(fresh_);
    std::memcpy(memory_.bytes().data(), fresh_memory_.data() + kArea, kAreaBytes);
    start(data);
    mix_ = 0;
    const bool wild = (take<uint32_t>() & 1) != 0;
    start_ring();
    if (wild) {
      run_wild();
    } else {
      run_defined();
    }
    for (uint64_t at = 0; at < kHostBytes; ++at) {
      if (at == kArea) at = kEnd;
      expect(host_.memory()[at] == fresh_memory_[at], "unmapped memory was written");
    }
  }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kArea = 0x4'0000, kAreaBytes = 0x8'0000, kRing = 0xc'0000, kBatch = 0xc'8000,
                            kEnd = 0xe'0000;
  static constexpr uint64_t kHostBytes = 1 << 20;
  static constexpr size_t kCommands = 32;

  // Returns the forms of the commands according to the specification.
  static blit_reference::Rules rules_of(const spec::DeviceModel& model) {
    constexpr uint16_t kDwordBits = 32;
    blit_reference::Rules rules;
    for (const spec::FieldDesc& field : hw::XY_COLOR_BLT::kDesc.layout(model.gen)->fields) {
      if (field.name == "destination_base_address") rules.wide = field.width > kDwordBits;
    }
    rules.fast_copy = hw::XY_FAST_COPY_BLT::kDesc.layout(model.gen) != nullptr;
    rules.address_bits = static_cast<unsigned>(std::popcount(blit::address_mask(model.gen)));
    return rules;
  }

  // Checks a condition. A failure prints the stream, command by command.
  void expect(bool right, const char* what) const {
    if (right) return;
    std::fprintf(stderr, "%s: %s", std::string(model_.name).c_str(), what);
    for (size_t at = 0, next = 0; at < stream_.size(); ++at) {
      if (at == next) {
        const bool linear = (stream_[at] >> 22 & 0x7f) == 0x40 || (stream_[at] >> 22 & 0x7f) == 0x43;
        next = at + (stream_[at] & (linear ? 0x1f : 0xff)) + 2;
        std::fputc('\n', stderr);
      }
      std::fprintf(stderr, " %08x", stream_[at]);
    }
    std::fputc('\n', stderr);
    std::abort();
  }

  // Makes a number from few input bytes, so that small inputs make long streams.
  uint32_t number() {
    mix_ = mix_ * 1664525 + 1013904223;
    if (empty()) return mix_;
    const bool last = left() < 2;
    const auto two = ahead<uint16_t>();
    mix_ += take<uint8_t>() * 0x9e37'79b9u;
    return (last ? mix_ : mix_ ^ two) >> 3;
  }

  void map_pages() {
    if (const mmio::RegisterSlot* const control = chip_->mmio().bank().map().find("PGTBL_CTL")) {
      chip_->bar_write(0, control->offset, 4, chip_->bar_read(0, control->offset, 4) | 1);
    }
    const unsigned entry = Generation(model_).ggtt_format() == GgttFormat::pte64 ? 8 : 4;
    for (uint64_t page = kArea / kPage; page < kEnd / kPage; ++page) {
      chip_->bar_write(0, model_.gtt_offset + page * entry, entry, page * kPage | 1);
    }
  }
  // Resets the engine as a driver does. Gen4 needs a full reset after a page fault.
  void reset() {
    if (rules_.address_bits == 29) {
      chip_->config_write(0xc0, 1, 1);
      map_pages();
    } else {
      chip_->reset_engine(*engine_);
    }
  }

  void write(uint32_t offset, uint32_t value) { chip_->bar_write(0, engine_->mmio_base + offset, 4, value); }
  uint32_t read(uint32_t offset) { return static_cast<uint32_t>(chip_->bar_read(0, engine_->mmio_base + offset, 4)); }
  void start_ring() {
    write(0x3c, 0);
    write(0x38, kRing);
    write(0x34, 0);
    write(0x30, 0);
    write(0x3c, 1);
  }
  // Runs a stream. Returns whether the ring was parsed to its end.
  bool submit(std::vector<uint32_t> stream) {
    stream_ = stream;
    stream.push_back(0x0500'0000);
    expect(stream.size() * 4 <= kEnd - kBatch, "internal error: stream too long for the target");
    std::memcpy(host_.memory().data() + kBatch, stream.data(), stream.size() * 4);
    const uint32_t tail = read(0x30);
    const bool gen4 = rules_.address_bits == 29;
    const uint32_t start[] = {rules_.wide ? 0x1880'0001u
                              : gen4      ? 0x1880'0080u
                                          : 0x1880'0000u,
                              static_cast<uint32_t>(kBatch), 0, 0};
    std::memcpy(host_.memory().data() + kRing + tail, start, sizeof start);
    write(0x30, tail + sizeof start);
    static_cast<void>(chip_->settle(uint64_t{1} << 36));
    return (read(0x34) & 0x1f'fffc) == tail + sizeof start;
  }

  blit_reference::RandomBlits blits() {
    return {[this] { return number(); }, rules_, kArea, kAreaBytes};
  }

  // Compares defined results: memory must match the reference, also with a snapshot between the two halves.
  void run_defined() {
    blit_reference::Blitter blitter(memory_, rules_);
    blit_reference::RandomBlits source = blits();
    for (unsigned half = 0; half < 2; ++half) {
      std::vector<uint32_t> stream;
      for (size_t i = 0; i < kCommands / 2 && !empty(); ++i) {
        const std::vector<uint32_t> piece = source.next();
        for (size_t at = 0; at < piece.size();) {
          const auto rest = std::span(piece).subspan(at);
          const auto outcome = blitter.run(rest);
          at += outcome.dwords;
          if (outcome.verdict == blit_reference::Verdict::fault) memory_.take_back();
          if (outcome.verdict != blit_reference::Verdict::done) continue;
          stream.insert(stream.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(outcome.dwords));
        }
      }
      expect(submit(stream), "the engine did not reach the end of the stream");
      chip_->restore(chip_->snapshot());
    }
    compare();
  }
  void compare() {
    for (uint64_t at = 0; at < kAreaBytes; ++at) {
      if (memory_.bytes()[at] == static_cast<uint8_t>(host_.memory()[kArea + at])) continue;
      std::fprintf(stderr, "offset %#llx: %#x instead of %#x\n", static_cast<unsigned long long>(at),
                   static_cast<unsigned>(host_.memory()[kArea + at]), unsigned{memory_.bytes()[at]});
      expect(false, "memory differs from the reference");
    }
  }

  void run_wild() {
    blit_reference::Blitter blitter(memory_, rules_);
    blit_reference::RandomBlits source = blits();
    std::vector<uint32_t> stream;
    bool all_placed = true;
    for (size_t i = 0; i < kCommands && !empty(); ++i) {
      const std::vector<uint32_t> piece = source.next_wild();
      for (size_t at = 0; at < piece.size();) {
        const auto outcome = blitter.run(std::span(piece).subspan(at));
        at += outcome.dwords;
        all_placed = all_placed && outcome.placed;
      }
      stream.insert(stream.end(), piece.begin(), piece.end());
    }
    static_cast<void>(submit(stream));
    if (all_placed) check_pages(blitter.pages());
    reset();
    std::memcpy(host_.memory().data() + kRing, fresh_memory_.data() + kRing, kEnd - kRing);
    start_ring();
    std::vector<uint32_t> fill = {0x5400'0000, 0x00f0'0040, 0, 0x0001'0001, static_cast<uint32_t>(kArea), 0x5a};
    if (rules_.wide) fill.insert(fill.begin() + 5, 0);
    fill[0] |= static_cast<uint32_t>(fill.size() - 2);
    host_.memory()[kArea] = std::byte{0};
    expect(submit(fill), "the engine does not run after a reset");
    expect(host_.memory()[kArea] == std::byte{0x5a}, "the engine does not draw after a reset");
  }
  void check_pages(const std::set<uint64_t>& pages) {
    for (uint64_t page = kArea / kPage; page < kEnd / kPage; ++page) {
      // If the stream wrote to its own pages, it may have changed itself, so every result is possible.
      if (page >= kRing / kPage && pages.contains(page)) return;
    }
    for (uint64_t page = kArea / kPage; page < kRing / kPage; ++page) {
      if (pages.contains(page)) continue;
      expect(std::memcmp(host_.memory().data() + page * kPage, fresh_memory_.data() + page * kPage, kPage) == 0,
             "a page that is no destination was written");
    }
  }

  const spec::DeviceModel& model_;
  MemoryHost host_{kHostBytes};
  std::unique_ptr<device::Device> chip_;
  const spec::EngineModel* engine_ = nullptr;
  blit_reference::Rules rules_;
  blit_reference::Memory memory_;
  device::DeviceState fresh_;
  std::vector<std::byte> fresh_memory_;
  std::vector<uint32_t> stream_;  // the last stream
  uint32_t mix_ = 0;
};

// Input: one byte for the chip, four bytes for the mode, then numbers.
inline void blit(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<BlitFuzz>> chips(models.size());
  std::unique_ptr<BlitFuzz>& chip = chips[data[0] % models.size()];
  if (!chip) chip = std::make_unique<BlitFuzz>(models[data[0] % models.size()]);
  chip->run(data.subspan(1));
}

}  // namespace halogen::fuzz
