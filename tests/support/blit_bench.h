// A device that draws: an area of graphics memory, a batch buffer, and a ring for BLT commands, with the reference
// model on the same bytes.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/blit_reference.h"
#include "support/engine_bench.h"

namespace halogen {

using Dwords = std::vector<uint32_t>;

inline blit_reference::Rules blit_rules(const spec::DeviceModel& model) {
  blit_reference::Rules rules;
  const bool gen4 = model.gen == spec::GenId::gen4 || model.gen == spec::GenId::gen4_5;
  rules.wide = model.gen >= spec::GenId::gen8;
  rules.address_bits = gen4 ? 29 : rules.wide ? 48 : 32;
  rules.fast_copy = model.gen >= spec::GenId::gen9;
  return rules;
}

// Returns MI_STORE_DATA_IMM through the global table.
inline Dwords store_dword(bool wide, uint64_t address, uint32_t value) {
  const auto low = static_cast<uint32_t>(address);
  return wide ? Dwords{0x1040'0002, low, 0, value} : Dwords{0x1040'0002, 0, low, value};
}

struct JudgedBench : EngineBench {
  static constexpr size_t kBatchPages = 64;

  explicit JudgedBench(std::string_view name, size_t pages = 128)
      : EngineBench(name), area(allocate(pages)), pages_(pages) {
    batch_ = allocate(kBatchPages);
    sentinel_ = allocate(1);
    start_ring(engine());
  }

  std::string_view engine() const { return is_gen4() ? "rcs0" : "bcs0"; }
  blit_reference::Rules rules() const { return blit_rules(model); }
  size_t bytes() const { return pages_ * kPage; }

  void load(std::span<const uint8_t> from) {
    for (size_t page = 0; page < pages_; ++page) std::memcpy(view(page).data(), from.data() + page * kPage, kPage);
  }
  std::vector<uint8_t> content() {
    std::vector<uint8_t> all(bytes());
    for (size_t page = 0; page < pages_; ++page) std::memcpy(all.data() + page * kPage, view(page).data(), kPage);
    return all;
  }

  // Runs a stream from the batch buffer, followed by a flush as a driver writes it. Returns whether the engine reached
  // the end and the ring stored a number after it. (The head alone is not enough: it advances when the batch starts.)
  bool draw(Dwords stream) {
    if (is_gen4()) {
      stream.push_back(0x0200'0000);  // MI_FLUSH
    } else {
      const uint32_t more = rules().wide ? 3 : 2;  // MI_FLUSH_DW
      stream.push_back(0x1300'0000 | more);
      stream.insert(stream.end(), more + 1, 0);
    }
    stream.push_back(0x0500'0000);  // MI_BATCH_BUFFER_END
    EXPECT_LE(stream.size() * 4, kBatchPages * kPage);
    poke(batch_, stream);
    const auto low = static_cast<uint32_t>(batch_);
    if (rules().wide) {
      emit(engine(), {0x1880'0001, low, 0});
    } else {
      emit(engine(), {0x1880'0000u | (is_gen4() ? 0x80u : 0u), low});
    }
    ++draws_;
    emit(engine(), store_dword(rules().wide, sentinel_, draws_));
    submit(engine());
    EXPECT_TRUE(device->settle(uint64_t{1} << 40));
    return (reg(engine(), kHead) & 0x1f'fffc) == reg(engine(), kTail) && peek(sentinel_) == draws_;
  }

  uint64_t area;

 private:
  std::span<std::byte> view(size_t page) { return host.map_memory(PhysAddr(host_address(area + page * kPage)), kPage); }
  size_t pages_;
  uint64_t batch_ = 0;
  uint64_t sentinel_ = 0;
  uint32_t draws_ = 0;
};

// Runs a hand-written case on the reference or on a chip. Offsets are relative to the start of the area.
class BlitTarget {
 public:
  explicit BlitTarget(const std::string& name, size_t pages = 128, bool wide = false)
      : memory_(0x10'0000, pages * 4096) {
    if (name != "reference") {
      bench_ = std::make_unique<JudgedBench>(name, pages);
      EXPECT_EQ(bench_->area, memory_.base());
      rules_ = bench_->rules();
    } else {
      rules_.wide = wide;
      rules_.address_bits = wide ? 48 : 29;
      rules_.fast_copy = wide;
    }
  }

  uint32_t at(uint64_t offset) const { return static_cast<uint32_t>(memory_.base() + offset); }
  std::vector<uint8_t>& bytes() { return bytes_; }
  bool wide() const { return rules_.wide; }
  JudgedBench* bench() { return bench_.get(); }
  // Returns the reported accesses to unmapped memory; the reference reports none.
  size_t misses() const {
    return bench_ == nullptr
               ? 0
               : bench_->host.log.count(EventKind::fault) + bench_->host.log.count(EventKind::unmapped_memory);
  }

  uint32_t pixel(uint64_t offset, unsigned bytes) const {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint32_t{bytes_[offset + i]} << (8 * i);
    return value;
  }
  void put(uint64_t offset, uint32_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_[offset + i] = static_cast<uint8_t>(value >> (8 * i));
  }

  void draw(const Dwords& stream) {
    if (bench_) {
      bench_->load(bytes_);
      EXPECT_TRUE(bench_->draw(stream));
      bytes_ = bench_->content();
      return;
    }
    std::ranges::copy(bytes_, memory_.bytes().begin());
    blit_reference::Blitter blitter(memory_, rules_);
    for (size_t at = 0; at < stream.size();) {
      const auto outcome = blitter.run(std::span(stream).subspan(at));
      EXPECT_EQ(outcome.verdict, blit_reference::Verdict::done) << (outcome.why != nullptr ? outcome.why : "");
      at += outcome.dwords;
    }
    bytes_.assign(memory_.bytes().begin(), memory_.bytes().end());
  }

 private:
  blit_reference::Memory memory_;
  blit_reference::Rules rules_;
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(memory_.bytes().size());
  std::unique_ptr<JudgedBench> bench_;
};

inline std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i + 4 <= count; i += 4) {
    const auto value = static_cast<uint32_t>(random());
    std::memcpy(bytes.data() + i, &value, 4);
  }
  return bytes;
}

// Describes the first byte that differs.
inline std::string difference(std::span<const uint8_t> got, std::span<const uint8_t> expected) {
  const auto [a, b] = std::ranges::mismatch(got, expected);
  if (a == got.end()) return "";
  const auto count = [&] {
    size_t n = 0;
    for (size_t i = 0; i < got.size(); ++i) n += got[i] != expected[i] ? 1u : 0u;
    return n;
  };
  char text[120];
  std::snprintf(text, sizeof text, "offset %#zx: %#x instead of %#x; %zu bytes differ", size_t(a - got.begin()),
                unsigned{*a}, unsigned{*b}, count());
  return text;
}

// The chips on which the differential tests run.
inline const std::vector<std::string>& blit_chips() {
  static const std::vector<std::string> kChips = {"i965", "g45", "snb", "bdw", "skl", "icl", "dg1"};
  return kChips;
}

inline std::vector<std::string> with_reference(std::vector<std::string> chips) {
  chips.insert(chips.begin(), "reference");
  return chips;
}

}  // namespace halogen
