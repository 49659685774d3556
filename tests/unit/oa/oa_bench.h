// A device with an observation unit, configured as drivers do: metric sets through registers, a report buffer in the
// global table, reports of commands in the ring. Offsets are those of Linux i915, i915_perf_oa_regs.h; the sets are
// those of Mesa's OA metrics.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "support/context_bench.h"

namespace halogen {

// The registers that differ between one unit (Gen8 to Gen11) and the global unit of Gen12.
struct OaOffsets {
  uint32_t control, debug, status, head, tail, buffer;
  uint32_t start_trigger, report_trigger, events;
  uint32_t a, ticks, b, c;
};
inline constexpr OaOffsets kOneUnit{.control = 0x2b00,
                                    .debug = 0x2b04,
                                    .status = 0x2b08,
                                    .head = 0x2b0c,
                                    .tail = 0x2b10,
                                    .buffer = 0x2b14,
                                    .start_trigger = 0x2710,
                                    .report_trigger = 0x2740,
                                    .events = 0x2770,
                                    .a = 0x2800,
                                    .ticks = 0x2910,
                                    .b = 0x2920,
                                    .c = 0x2940};
inline constexpr OaOffsets kGlobalUnit{.control = 0xdaf4,
                                       .debug = 0xdaf8,
                                       .status = 0xdafc,
                                       .head = 0xdb00,
                                       .tail = 0xdb04,
                                       .buffer = 0xdb08,
                                       .start_trigger = 0xd900,
                                       .report_trigger = 0xd920,
                                       .events = 0xd940,
                                       .a = 0xd980,
                                       .ticks = 0xda90,
                                       .b = 0xda94,
                                       .c = 0xdab4};

using OaWrites = std::vector<std::pair<uint32_t, uint32_t>>;

// The content of a report, by dword as in the manual's tables (DG1 PRM, Performance Counter Report Formats, seed 000).
struct OaReport {
  std::vector<uint32_t> dwords;

  uint32_t id() const { return dwords[0]; }
  uint32_t timestamp() const { return dwords[1]; }
  uint32_t context() const { return dwords[2]; }
  uint32_t ticks() const { return dwords[3]; }
  // The counters of the format A36_B8_C8.
  uint64_t a(unsigned n) const {
    const uint64_t high = n < 32 ? dwords[40 + n / 4] >> (8 * (n % 4)) & 0xff : 0;
    return high << 32 | dwords[4 + n];
  }
  uint32_t b(unsigned n) const { return dwords[48 + n]; }
  uint32_t c(unsigned n) const { return dwords[56 + n]; }
};

template <class Base>
struct OaBenchOn : Base {
  static constexpr uint32_t kA12 = 0, kA12B8C8 = 2, kA36B8C8 = 5, kC4B8 = 7;
  static constexpr uint32_t kSmallest = 128 * 1024;
  static constexpr uint32_t kReasonTimer = 1, kReasonTrigger1 = 2, kReasonTrigger2 = 4, kReasonSwitch = 8;

  using Base::Base;

  bool split() const { return this->model.gen == spec::GenId::gen12; }
  const OaOffsets& at() const { return split() ? kGlobalUnit : kOneUnit; }
  // The clock of the model (src/gen/clock_rules.h) and the timestamp of the chip, for expected values.
  static uint64_t clocks(uint64_t ns) { return ns * 9 / 20; }
  uint64_t now() { return this->device->clock().nanoseconds; }
  uint64_t timestamp_ticks(uint64_t ns) const {
    __extension__ using Product = unsigned __int128;
    return static_cast<uint64_t>(Product{ns} * this->model.timestamp_hz / 1'000'000'000);
  }

  void put(const OaWrites& writes) {
    for (const auto& [offset, value] : writes) {
      this->write(offset, value);
    }
  }
  // Timer exponent, timer enable and counter resume: of the context, or of the global unit.
  void set_timer(int exponent, bool resume = true) {
    const uint32_t value = (exponent < 0 ? 0 : static_cast<uint32_t>(exponent) << 2 | 2) | (resume ? 1 : 0);
    this->write(split() ? 0x2b28 : 0x2360, value);
  }
  void set_buffer(uint64_t base, unsigned size_code) {
    buffer_ = base;
    buffer_bytes_ = uint64_t{kSmallest} << size_code;
    if (!split()) {
      this->write(0x23b4, 0);
    }
    this->write(at().status, 0);
    this->write(at().head, static_cast<uint32_t>(base));
    this->write(at().buffer, static_cast<uint32_t>(base) | size_code << 3 | 1);
    this->write(at().tail, static_cast<uint32_t>(base));
  }
  // Maps a buffer of pages at an aligned address.
  void map_buffer(uint64_t base, unsigned size_code) {
    const uint64_t pages = (uint64_t{kSmallest} << size_code) / 4096;
    for (uint64_t page = 0; page < pages; ++page) {
      this->map(base / 4096 + page, kBufferMemory + page * 4096);
    }
    set_buffer(base, size_code);
  }
  void enable(uint32_t format = kA36B8C8) { this->write(at().control, format << 2 | 1); }
  void disable() { this->write(at().control, 0); }
  // The render engine's own unit of Gen12: enable, resume, and the enable of the running context.
  void enable_context_unit(uint32_t format = kA36B8C8) {
    this->write(0x2360, 1);
    this->write(0x2960, format << 1 | 1);
    this->write(0x2244, 0x0100'0100);
  }
  static size_t dwords_of(uint32_t format) { return format == kA36B8C8 ? 64 : (format == kA12B8C8 ? 32 : 16); }

  uint64_t tail() { return this->read(at().tail); }
  uint32_t status() { return this->read(at().status); }
  void set_head(uint64_t address) { this->write(at().head, static_cast<uint32_t>(address)); }
  uint64_t buffer() const { return buffer_; }
  uint64_t buffer_bytes() const { return buffer_bytes_; }
  // The report at an offset of a mapped buffer.
  OaReport report_at(uint64_t offset, uint32_t format = kA36B8C8) {
    OaReport report;
    for (size_t dword = 0; dword < dwords_of(format); ++dword) {
      report.dwords.push_back(
          this->host.template value_at<uint32_t>(kBufferMemory + (offset + 4 * dword) % buffer_bytes_));
    }
    return report;
  }
  std::vector<OaReport> reports(uint32_t format = kA36B8C8) {
    std::vector<OaReport> all;
    const uint64_t end = tail() - buffer_;
    for (uint64_t offset = 0; offset < end; offset += 4 * dwords_of(format)) {
      all.push_back(report_at(offset, format));
    }
    return all;
  }
  uint32_t reason(const OaReport& report) const { return report.id() >> 19 & (split() ? 0x7f : 0x3f); }
  bool context_valid(const OaReport& report) const {
    return (report.id() >> (this->model.gen == spec::GenId::gen8 ? 25 : 16) & 1) != 0;
  }

  uint32_t b(unsigned n) { return this->read(at().b + 4 * n); }
  uint32_t c(unsigned n) { return this->read(at().c + 4 * n); }
  uint64_t a(unsigned n) {
    const uint32_t offset = n < 32 ? at().a + 8 * n : at().a + 0x100 + 4 * (n - 32);
    return n < 32 ? this->read(offset) | uint64_t{this->read(offset + 4)} << 32 : this->read(offset);
  }

  // A report of MI_REPORT_PERF_COUNT, in the global table.
  std::vector<uint32_t> report_command(uint64_t address, uint32_t id) const {
    return {0x1400'0002, static_cast<uint32_t>(address) | 1, static_cast<uint32_t>(address >> 32), id};
  }
  OaReport report_in(uint64_t address, uint32_t format = kA36B8C8) {
    OaReport report;
    for (size_t dword = 0; dword < dwords_of(format); ++dword) {
      report.dwords.push_back(this->peek(address + 4 * dword));
    }
    return report;
  }

 private:
  static constexpr uint64_t kBufferMemory = 0x4000'0000;

  uint64_t buffer_ = 0;
  uint64_t buffer_bytes_ = 0;
};

using OaBench = OaBenchOn<EngineBench>;
using OaContextBench = OaBenchOn<ContextBench>;

// The metric set TestOa of a chip (Mesa, OA metrics): the words of the signal network, then triggers and events.
inline OaWrites test_oa_network(std::string_view chip) {
  OaWrites writes;
  const auto words = [&writes](std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values) {
      writes.emplace_back(0x9888, value);
    }
  };
  const auto gen12_tail = [&](uint32_t routed) {
    writes.emplace_back(0x9884, 3);
    words({0x49110000, 0x5d101400, 0x1d140020, 0x1d1103a3, 0x01110000});
    words({chip == "dg1" ? 0x61112000u : 0x61111000u});
    if (chip == "tgl") {
      words({0x1f128000});
    }
    words({0x17100000, routed, 0x57100000, 0x31100000});
    writes.emplace_back(0x9884, 3);
    words({0x65100002});
    writes.emplace_back(0x9884, 0);
    words({0x42000001});
  };
  if (chip == "chv") {
    writes.emplace_back(0x9840, 0xa0);
    words({0x59800000, 0x59800001, 0x338b0000, 0x258b0066, 0x058b0000, 0x038b0000, 0x03844000, 0x47800080, 0x57800000});
    writes.emplace_back(0x1823a4, 0);
    words({0x59800000});
    writes.emplace_back(0x9840, 0x80);
  } else if (chip == "bdw") {
    writes.emplace_back(0x9840, 0xa0);
    words({0x198b0000, 0x078b0066, 0x118b0000, 0x258b0000, 0x21850008, 0x0d834000, 0x07844000, 0x17804000, 0x21800000,
           0x4f800000, 0x41800000, 0x31800000});
    writes.emplace_back(0x9840, 0x80);
  } else if (chip == "skl") {
    writes.emplace_back(0x9840, 0x80);
    words({0x11810000, 0x07810016, 0x1f810000, 0x1d810000, 0x1b930040, 0x07e54000, 0x1f908000, 0x11900000, 0x37900000,
           0x53900000, 0x45900000, 0x33900000});
  } else if (chip == "icl") {
    writes = {{0x0d04, 0x200}, {0x9840, 0}, {0x9884, 3}};
    words({0x16130000, 0x24000001, 0x0e130056, 0x10130000, 0x1a130000, 0x541f0001, 0x181f0000, 0x4c1f0000, 0x301f0000});
  } else if (chip == "tgl") {
    writes = {{0x0d04, 0x200}, {0x9840, 0}, {0x9884, 0}};
    words({0x280e0000, 0x1e0e0147, 0x180e0000, 0x160e0000, 0x1e0f1000, 0x1e104000, 0x2e020100, 0x2c030004, 0x38003000,
           0x1e0a8000});
    gen12_tail(0x55100630);
  } else if (chip == "dg1") {
    writes = {{0x0d04, 0x200}, {0x9840, 0}, {0x9884, 0}};
    words({0x04100000, 0x36000001, 0x2c010004, 0x26050003, 0x26060040, 0x1c090200, 0x0e0c8000, 0x200d8000, 0x1e0f8000,
           0x1e100017, 0x00100000, 0x1e0b4000});
    gen12_tail(0x55100230);
  }
  return writes;
}

inline OaWrites test_oa_counters(std::string_view chip) {
  const bool split = chip == "tgl" || chip == "dg1";
  const uint32_t start = split ? 0xd900 : 0x2710;
  const uint32_t report = split ? 0xd920 : 0x2740;
  OaWrites writes{{report, 0}, {start, 0}, {start + 4, 0xf0800000}, {start + 0x10, 0}, {start + 0x14, 0xf0800000}};
  if (chip == "chv" || chip == "bdw") {
    writes.insert(writes.begin() + 1, {report + 4, 0x00800000});
  }
  const uint32_t free_mask = chip == "icl" || split ? 0xffff : 0;
  const std::array<std::pair<uint32_t, uint32_t>, 8> events{{{0x00000004, free_mask},
                                                             {0x00000003, free_mask},
                                                             {0x00000007, free_mask},
                                                             {0x00100002, 0xfff7},
                                                             {0x00100002, 0xffcf},
                                                             {0x00100082, 0xffef},
                                                             {0x001000c2, 0xffe7},
                                                             {0x00100001, 0xffe7}}};
  for (const uint32_t base : split ? std::vector<uint32_t>{0xd940, 0xdc00} : std::vector<uint32_t>{0x2770}) {
    for (uint32_t n = 0; n < events.size(); ++n) {
      writes.emplace_back(base + 8 * n, events[n].first);
      writes.emplace_back(base + 8 * n + 4, events[n].second);
    }
  }
  if (split) {
    writes.emplace_back(0xdc40, 0x00ff0000);
  }
  return writes;
}

inline constexpr const char* kOaChips[] = {"bdw", "chv", "skl", "icl", "tgl", "dg1"};

}  // namespace halogen
