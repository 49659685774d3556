// Graphics memory against raw memory, one thread, in one run: streams through a 48-bit per-process table and through
// the global table, random reads, and the costs of a TLB hit and of a miss. Goals: streaming 0.7 of memcpy, random
// 64-byte reads one by one 0.3 of the same loop on raw memory, fewer than 20 entry loads per miss. Raw and modelled
// loops alternate; each ratio is the median of the rounds, in CPU time, so that a busy machine affects both
// equally.
// Usage: memory_bench [rounds] [stream MiB] [random MiB] [part of a name: only these]
#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"

namespace {

using namespace halogen;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kLine = 64;
constexpr unsigned kTlbEntries = 768;  // the largest TLB of Ice Lake
constexpr uint64_t kVa = 0x1234'4000'0000;

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class NoFaults final : public memory::FaultHandler {
 public:
  memory::FaultAction on_fault(const memory::Fault& fault) override {
    fmt::print(stderr, "unexpected fault: {} at 0x{:x}\n", name_of(fault.reason), fault.address);
    std::exit(1);
  }
};

// One piece of host memory: data first, then the page tables.
class Setup {
 public:
  explicit Setup(uint64_t data_bytes)
      : data_bytes_(data_bytes), bytes_(data_bytes + data_bytes / 128 + 16 * kMiB), next_table_(data_bytes) {
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      fmt::print(stderr, "cannot get {} MiB of memory\n", bytes_ / kMiB);
      std::exit(2);
    }
    madvise(mapped, bytes_, MADV_HUGEPAGE);
    raw_ = static_cast<std::byte*>(mapped);
    for (uint64_t at = 0; at < data_bytes; at += 8) {
      const uint64_t value = at * 0x9e37'79b9'7f4a'7c15u;
      std::memcpy(raw_ + at, &value, sizeof(value));
    }
    frames_ = memory::FlatFrames({raw_, bytes_});
    memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, bytes_, &frames_});
    root_ = new_table();
    for (uint64_t at = 0; at < data_bytes; at += memory::kFrameBytes) {
      map(kVa + at, at);
    }
    ggtt_ = next_table_;
    for (uint64_t at = 0; at < std::min(data_bytes, 1024 * kMiB); at += memory::kFrameBytes) {
      entry(ggtt_ + at / memory::kFrameBytes * 8) = at | 1;
    }
    ggtt_space_.load({.format = formats_.find(memory::WalkMode::ggtt), .roots = {ggtt_}, .entries = 1 << 20});
    space_.load({.format = formats_.find(memory::WalkMode::legacy48), .roots = {root_}});
  }

  std::byte* raw() { return raw_; }
  uint64_t data_bytes() const { return data_bytes_; }
  memory::AddressSpace& space() { return space_; }
  memory::AddressSpace& ggtt() { return ggtt_space_; }
  const memory::Tlb& tlb() const { return tlb_; }

 private:
  uint64_t& entry(uint64_t address) { return *reinterpret_cast<uint64_t*>(raw_ + address); }
  uint64_t new_table() {
    const uint64_t table = next_table_;
    next_table_ += memory::kFrameBytes;
    return table;
  }
  uint64_t below(uint64_t table, uint64_t index) {
    uint64_t& stored = entry(table + index * 8);
    if (stored == 0) {
      stored = new_table() | 3;
    }
    return stored & ~uint64_t{0xfff};
  }
  void map(uint64_t va, uint64_t address) {
    const uint64_t pdp = below(root_, (va >> 39) & 511);
    const uint64_t directory = below(pdp, (va >> 30) & 511);
    const uint64_t table = below(directory, (va >> 21) & 511);
    entry(table + ((va >> 12) & 511) * 8) = address | 3;
  }

  uint64_t data_bytes_;
  uint64_t bytes_;
  uint64_t next_table_;
  std::byte* raw_ = nullptr;
  memory::FlatFrames frames_{{}};
  memory::PhysicalMemory memory_;
  memory::PageFormats formats_{*spec::find_device("icl"), 39};
  NoFaults faults_;
  memory::Tlb tlb_{kTlbEntries};
  memory::AddressSpace space_{memory_, tlb_, 1, faults_};
  memory::AddressSpace ggtt_space_{memory_, tlb_, memory::kGlobalSpace, faults_};
  uint64_t root_ = 0;
  uint64_t ggtt_ = 0;
};

uint64_t g_sink = 1;
std::string_view g_only;

struct Random {
  uint64_t state = 88'172'645'463'325'252u;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

bool wanted(std::string_view name) {
  return name.find(g_only) != std::string_view::npos;
}

// Prints "ratio NAME r", where r is the speed relative to raw memory.
void compare(const std::string& name, unsigned rounds, double units, const char* unit, const std::function<void()>& raw,
             const std::function<void()>& modelled) {
  if (!wanted(name)) {
    return;
  }
  std::vector<double> ratios;
  std::vector<double> raw_seconds;
  std::vector<double> modelled_seconds;
  for (unsigned i = 0; i < rounds; ++i) {
    raw_seconds.push_back(seconds_of(raw));
    modelled_seconds.push_back(seconds_of(modelled));
    ratios.push_back(raw_seconds.back() / modelled_seconds.back());
  }
  fmt::print("ratio {:<24} {:.2f}   raw {:.2f} {}, modelled {:.2f} {}\n", name, median(ratios),
             units / median(raw_seconds), unit, units / median(modelled_seconds), unit);
}

void stream(Setup& setup, unsigned rounds, uint64_t bytes, uint64_t chunk, memory::Direction direction, bool global) {
  const bool write = direction == memory::Direction::write;
  std::vector<std::byte> buffer(chunk);
  memory::AddressSpace& space = global ? setup.ggtt() : setup.space();
  const uint64_t base = global ? 0 : kVa;
  const auto raw = [&] {
    for (uint64_t at = 0; at < bytes; at += chunk) {
      if (write) {
        std::memcpy(setup.raw() + at, buffer.data(), chunk);
      } else {
        std::memcpy(buffer.data(), setup.raw() + at, chunk);
        g_sink += std::to_integer<uint64_t>(buffer[chunk / 2]);
      }
    }
  };
  const auto modelled = [&] {
    for (uint64_t at = 0; at < bytes; at += chunk) {
      if (write) {
        static_cast<void>(space.write(GpuVa(base + at), buffer));
      } else {
        static_cast<void>(space.read(GpuVa(base + at), buffer));
        g_sink += std::to_integer<uint64_t>(buffer[chunk / 2]);
      }
    }
  };
  const std::string size = chunk >= 1024 ? fmt::format("{}K", chunk / 1024) : fmt::format("{}B", chunk);
  compare(fmt::format("{}_{}_{}", global ? "ggtt" : "ppgtt48", write ? "write" : "read", size), rounds,
          1e-9 * static_cast<double>(bytes), "GB/s", raw, modelled);
}

// `together` accesses are made by one call, as a SIMD message makes them; 0: one by one.
void random_reads(Setup& setup, unsigned rounds, uint64_t bytes, size_t together) {
  constexpr uint64_t kReads = 4'000'000;
  constexpr size_t kMax = 32;
  const uint64_t mask = bytes / kLine - 1;
  memory::AddressSpace& space = setup.space();
  const auto raw = [memory = setup.raw(), mask] {
    Random random;
    for (uint64_t i = 0; i < kReads; ++i) {
      uint64_t line[kLine / 8];
      std::memcpy(line, memory + (random.next() & mask) * kLine, kLine);
      g_sink += line[0] ^ line[7];
    }
  };
  const auto one_by_one = [&space, mask] {
    Random random;
    for (uint64_t i = 0; i < kReads; ++i) {
      uint64_t line[kLine / 8];
      static_cast<void>(
          space.read(GpuVa(kVa + (random.next() & mask) * kLine), std::as_writable_bytes(std::span(line))));
      g_sink += line[0] ^ line[7];
    }
  };
  const auto many_at_once = [&space, mask, together] {
    Random random;
    GpuVa addresses[kMax];
    uint64_t lines[kMax][kLine / 8];
    for (uint64_t i = 0; i < kReads; i += together) {
      for (size_t k = 0; k < together; ++k) {
        addresses[k] = GpuVa(kVa + (random.next() & mask) * kLine);
      }
      static_cast<void>(
          space.read_each(std::span(addresses).first(together), kLine, reinterpret_cast<std::byte*>(lines)));
      for (size_t k = 0; k < together; ++k) {
        g_sink += lines[k][0] ^ lines[k][7];
      }
    }
  };
  const double units = 1e-6 * kReads;
  if (together == 0) {
    compare("random_read_64B", rounds, units, "M/s", raw, one_by_one);
  } else {
    compare(fmt::format("random_read_64B_x{}", together), rounds, units, "M/s", raw, many_at_once);
  }
}

// Each address depends on the line read before it, so this measures the latency of an access.
void chase(Setup& setup, unsigned rounds, uint64_t bytes) {
  constexpr uint64_t kReads = 1'000'000;
  const uint64_t mask = bytes / kLine - 1;
  const auto loop = [&](const auto& read) {
    Random random;
    uint64_t carried = 0;
    for (uint64_t i = 0; i < kReads; ++i) {
      uint64_t line[kLine / 8];
      read(((random.next() + carried) & mask) * kLine, line);
      carried = line[0] & 1;
    }
    g_sink += carried + 1;
  };
  compare(
      "chase_64B", rounds, 1e-6 * kReads, "M/s",
      [&] { loop([&](uint64_t at, uint64_t* line) { std::memcpy(line, setup.raw() + at, kLine); }); },
      [&] {
        loop([&](uint64_t at, uint64_t* line) {
          static_cast<void>(setup.space().read(GpuVa(kVa + at), std::as_writable_bytes(std::span(line, kLine / 8))));
        });
      });
}

void report_cold_walk(Setup& setup) {
  if (!wanted("miss_after_invalidation")) {
    return;
  }
  constexpr uint64_t kAccesses = 20'000;
  const memory::WalkStatistics before = setup.space().walk_statistics();
  for (uint64_t n = 0; n < kAccesses; ++n) {
    setup.space().invalidate();
    g_sink += setup.space().load_value<uint32_t>(GpuVa(kVa + n * 7919 * memory::kFrameBytes % setup.data_bytes()));
  }
  const memory::WalkStatistics& after = setup.space().walk_statistics();
  fmt::print(
      "cost  {:<24} {:.2f} entry loads a miss\n", "miss_after_invalidation",
      static_cast<double>(after.entry_loads - before.entry_loads) / static_cast<double>(after.walks - before.walks));
}

void report_cost(const char* name, unsigned rounds, uint64_t pages, uint64_t stride_pages, Setup& setup) {
  if (!wanted(name)) {
    return;
  }
  constexpr uint64_t kAccesses = 2'000'000;
  std::vector<double> nanoseconds;
  memory::TlbStatistics used;
  memory::WalkStatistics walked;
  for (unsigned i = 0; i < rounds; ++i) {
    const memory::TlbStatistics before = setup.tlb().statistics();
    const memory::WalkStatistics walks_before = setup.space().walk_statistics();
    const double seconds = seconds_of([&] {
      uint64_t page = 0;
      for (uint64_t n = 0; n < kAccesses; ++n) {
        g_sink += setup.space().load_value<uint32_t>(GpuVa(kVa + page * memory::kFrameBytes + (n * 4 & 0xff0)));
        page = (page + stride_pages) % pages;
      }
    });
    nanoseconds.push_back(1e9 * seconds / kAccesses);
    const memory::TlbStatistics& after = setup.tlb().statistics();
    used.hits += after.hits - before.hits;
    used.misses += after.misses - before.misses;
    walked.walks += setup.space().walk_statistics().walks - walks_before.walks;
    walked.entry_loads += setup.space().walk_statistics().entry_loads - walks_before.entry_loads;
  }
  fmt::print("cost  {:<24} {:.1f} ns an access, {:.1f} % hits", name, median(nanoseconds),
             100.0 * static_cast<double>(used.hits) / static_cast<double>(used.hits + used.misses));
  if (walked.walks != 0) {
    fmt::print(", {:.2f} entry loads a miss",
               static_cast<double>(walked.entry_loads) / static_cast<double>(walked.walks));
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int index, unsigned long fallback) {
    return argc > index ? std::strtoul(argv[index], nullptr, 0) : fallback;
  };
  const auto rounds = static_cast<unsigned>(argument(1, 5));
  const uint64_t stream_bytes = argument(2, 1024) * kMiB;
  const uint64_t random_bytes = argument(3, 4096) * kMiB;
  if (rounds == 0 || stream_bytes == 0 || random_bytes == 0 || (random_bytes & (random_bytes - 1)) != 0) {
    fmt::print(stderr, "memory_bench [rounds] [stream MiB] [random MiB, a power of two] [part of a name]\n");
    return 2;
  }
  g_only = argc > 4 ? argv[4] : "";
  Setup setup(std::max(stream_bytes, random_bytes));
  for (const uint64_t chunk : {uint64_t{65536}, uint64_t{4096}, uint64_t{256}, uint64_t{64}}) {
    stream(setup, rounds, stream_bytes, chunk, memory::Direction::read, false);
  }
  stream(setup, rounds, stream_bytes, 65536, memory::Direction::write, false);
  stream(setup, rounds, std::min(stream_bytes, 1024 * kMiB), 65536, memory::Direction::read, true);
  for (const size_t together : {size_t{0}, size_t{8}, size_t{16}, size_t{32}}) {
    random_reads(setup, rounds, random_bytes, together);
  }
  chase(setup, rounds, random_bytes);
  report_cost("tlb_hit_one_page", rounds, 1, 1, setup);
  report_cost("tlb_hit_64_pages", rounds, 64, 1, setup);
  report_cost("tlb_hit_512_pages", rounds, 512, 1, setup);
  report_cost("miss_next_page", rounds, setup.data_bytes() / memory::kFrameBytes, 1, setup);
  report_cost("miss_far_page", rounds, setup.data_bytes() / memory::kFrameBytes, 7919, setup);
  report_cold_walk(setup);
  return g_sink == 0 ? 1 : 0;
}
