// Dispatches on one and on several host threads: memory, order of Events, faults, counts, time and the state between
// two parts must be the same. Also groups that conflict over the same words, and random programs.
#include <fmt/format.h>

#include <random>

#include "dispatch_bench.h"
#include "eu/isa/assembler.h"

namespace halogen::compute {
namespace {

constexpr uint32_t kIn = 0x2'0000, kShared = 0x6'0000, kAlias = 0x7'0000;
constexpr uint32_t kThreads = 4;  // threads of a group

// Sets r4 to the addresses of the lanes' own dwords and r5 to their values.
constexpr std::string_view kHead = R"(
    (W) mov (8|M0) r2.0<1>:uw 0x76543210:v
    (W) shl (1|M0) r3.0<1>:ud r0.1<0;1,0>:ud 0x7:ud
    (W) shl (1|M0) r3.1<1>:ud r1.0<0;1,0>:ud 0x5:ud
    (W) add (1|M0) r3.0<1>:ud r3.0<0;1,0>:ud r3.1<0;1,0>:ud
    (W) mov (8|M0) r4.0<1>:ud r2.0<8;8,1>:uw
    (W) shl (8|M0) r4.0<1>:ud r4.0<8;8,1>:ud 0x2:ud
    (W) add (8|M0) r4.0<1>:ud r4.0<8;8,1>:ud r3.0<0;1,0>:ud
    READ r5 r4 0
)";
constexpr std::string_view kTail = R"(
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    END
)";

struct Result {
  std::vector<std::byte> memory;
  std::vector<Walk> walks;  // after each part
  std::vector<Outcome> outcomes;
  std::vector<oa::WorkCounts> work;  // of each part
  std::vector<std::string> events;
  std::vector<uint64_t> faults;
  std::string report;
};

class HostThreads : public DispatchBench {
 protected:
  HostThreads() {
    settings_.max_threads = 63;
    settings_.scratch_base = 0x4'0000;
    bind_raw(0, kIn, 0x1'0000);
    bind_raw(1, kShared, 0x1000);
    bind_raw(2, kAlias, 0x1000);
    memory_.lead_page(kAlias >> 12, kShared >> 12);  // the same memory at another address
    for (uint32_t i = 0; i < kThreads; ++i) {
      word(kConstants + i * 32) = i;
    }
    for (uint32_t i = 0; i < 0x4000; ++i) {
      word(kIn + i * 4) = i * 2654435761u;
    }
  }

  bool twelve() const { return GetParam() == "tgl"; }
  // Expands messages to the form of the generation: READ dst address surface, WRITE address data surface, ATOMIC, END,
  // WAIT.
  std::string expand(std::string_view text) const {
    std::string out;
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      const std::string line(text.substr(start, end - start));
      start = end + 1;
      char a[8], b[8], c[8];
      unsigned surface = 0;
      const bool split = twelve();
      if (sscanf(line.c_str(), " READ %7s %7s %x", a, b, &surface) == 3) {
        out += fmt::format("send.dc1 (8|M0) {} {} {} 0x0 {:#x}\n", a, b, split ? "null" : "", 0x0210'6e00 | surface);
      } else if (sscanf(line.c_str(), " WRITE %7s %7s %x", a, b, &surface) == 3) {
        // The two registers must be consecutive.
        out += fmt::format("(W) mov (8|M0) r120.0<1>:ud {}.0<8;8,1>:ud\n(W) mov (8|M0) r121.0<1>:ud {}.0<8;8,1>:ud\n",
                           a, b);
        out += split ? fmt::format("send.dc1 (8|M0) null r120 r121 0x40 {:#x}\n", 0x0202'6e00 | surface)
                     : fmt::format("send.dc1 (8|M0) null r120 0x0 {:#x}\n", 0x0402'6e00 | surface);
      } else if (sscanf(line.c_str(), " ATOMIC %7s %7s %7s %x", c, a, b, &surface) == 4) {
        out += fmt::format("(W) mov (8|M0) r120.0<1>:ud {}.0<8;8,1>:ud\n(W) mov (8|M0) r121.0<1>:ud {}.0<8;8,1>:ud\n",
                           a, b);
        out += split ? fmt::format("send.dc1 (8|M0) {} r120 r121 0x40 {:#x}\n", c, 0x0210'b700 | surface)
                     : fmt::format("send.dc1 (8|M0) {} r120 0x0 {:#x}\n", c, 0x0410'b700 | surface);
      } else if (line.find("END") != std::string::npos) {
        out += fmt::format("(W) send.ts (8|M0) null r127 {} 0x0 0x02000010 {{EOT}}\n", split ? "null" : "");
      } else if (line.find("BARRIER") != std::string::npos) {
        out += "(W) mov (8|M0) r122.0<1>:ud r0.2<0;1,0>:ud\n";
        out += fmt::format("(W) send.gtwy (8|M0) null r122 {} 0x0 0x02000004\n", split ? "null" : "");
        out += split ? "(W) sync.bar (1|M0) null\n" : "(W) wait (1|M0) n0.0<0;1,0>:ud\n";
      } else {
        out += line + '\n';
      }
    }
    return out;
  }
  void load(const std::string& text) {
    const auto code = eu::assemble(model_.gen, expand(text));
    ASSERT_TRUE(code.ok()) << code.message() << "\n" << expand(text);
    std::memset(memory_.bytes().data() + kCode, 0, 0x1'0000);
    std::memcpy(memory_.bytes().data() + kCode, code.value().data(), code.value().size());
    const uint32_t descriptor[8] = {0, 0, 0, 0, kTable, 1u << 16, kThreads | 1u << 16 | 1u << 21, 0};
    std::copy(std::begin(descriptor), std::end(descriptor), &word(kDescriptors));
  }
  Result run(unsigned threads, uint32_t groups, unsigned max_parts = 400) {
    Result result;
    const std::vector<std::byte> before(memory_.bytes().begin(), memory_.bytes().end());
    memory_.space().invalidate();
    memory_.forget_faults();
    log_.clear();
    WorkerPool pool(threads);
    Dispatcher dispatcher(kernels_);
    dispatcher.set_events(&log_, "gpu0.rcs0");
    dispatcher.set_pool(&pool);
    Walk walk;
    const std::vector<uint32_t> command = {0x7105'000d, 0, 0, 0, kThreads - 1, 0, 0, groups, 0, 0, 1, 0, 1, 0xff, ~0u};
    EXPECT_EQ(prepare(command, walk.job), JobFault::none);
    uint64_t missed = 0;
    for (unsigned part = 0; part < max_parts; ++part) {
      memory_.space().begin_work(missed);
      dispatcher.set_work({.work = true, .activity = true}, &result.work.emplace_back());
      result.outcomes.push_back(dispatcher.run(generation_, settings_, walk, memory_.space(), part == 0));
      missed = memory_.space().end_work().skipped;
      result.walks.push_back(walk);
      if (result.outcomes.back().stop != Stop::unfinished) {
        break;
      }
    }
    for (const Event& event : log_.events()) {
      result.events.push_back(event.to_string());
    }
    result.faults = memory_.first_faults();
    FidelityReport report;
    dispatcher.report(report);
    result.report = report.to_json("x");
    result.memory.assign(memory_.bytes().begin(), memory_.bytes().end());
    std::ranges::copy(before, memory_.bytes().begin());
    return result;
  }
  static void same(const Result& a, const Result& b) {
    EXPECT_TRUE(a.memory == b.memory);
    ASSERT_EQ(a.outcomes.size(), b.outcomes.size());
    for (size_t i = 0; i < a.outcomes.size(); ++i) {
      EXPECT_EQ(a.outcomes[i].stop, b.outcomes[i].stop) << i;
      EXPECT_EQ(a.outcomes[i].instructions, b.outcomes[i].instructions) << i;
      EXPECT_EQ(a.outcomes[i].channels, b.outcomes[i].channels) << i;
      EXPECT_EQ(a.outcomes[i].ip, b.outcomes[i].ip) << i;
      EXPECT_EQ(a.outcomes[i].loaded, b.outcomes[i].loaded) << i;
      EXPECT_TRUE(a.work[i] == b.work[i]) << i;
      EXPECT_TRUE(a.walks[i] == b.walks[i]) << i;
    }
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.faults, b.faults);
    EXPECT_EQ(a.report, b.report);
  }
  // Returns the result on one host thread, after checking that several host threads give the same.
  Result compare(const std::string& text, uint32_t groups, unsigned max_parts = 400) {
    load(text);
    const Result one = run(1, groups, max_parts);
    for (const unsigned threads : {2u, 3u, 4u, 8u}) {
      SCOPED_TRACE(threads);
      same(one, run(threads, groups, max_parts));
    }
    return one;
  }
  static oa::WorkCounts sum(const Result& result) {
    oa::WorkCounts all;
    for (const oa::WorkCounts& part : result.work) {
      all.local_reads += part.local_reads;
      all.local_writes += part.local_writes;
      all.memory_lines += part.memory_lines;
      all.atomics += part.atomics;
      all.barriers += part.barriers;
      for (size_t stage = 0; stage < oa::kStages; ++stage) {
        all.activity[stage].add(part.activity[stage]);
      }
    }
    return all;
  }
  static uint64_t started(const Result& result) {
    uint64_t threads = 0;
    for (const Outcome& outcome : result.outcomes) {
      threads += outcome.threads;
    }
    return threads;
  }
  static uint32_t at(const Result& result, uint32_t offset) {
    uint32_t value = 0;
    std::memcpy(&value, result.memory.data() + offset, 4);
    return value;
  }
};

TEST_P(HostThreads, IndependentGroupsGiveTheSameResult) {
  const Result result = compare(std::string(kHead) + R"(
    add (8|M0) r5.0<1>:ud r5.0<8;8,1>:ud 0x3:ud
    WRITE r4 r5 0
)" + std::string(kTail),
                                100);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  for (uint32_t i = 0; i < 0x4000; ++i) {
    EXPECT_EQ(at(result, kIn + i * 4), i * 2654435761u + (i < 100 * 32 ? 3 : 0)) << i;
  }
  // The 32 bytes of a thread's read and of its write are in one line.
  const oa::WorkCounts work = sum(result);
  EXPECT_EQ(started(result), 100u * kThreads);
  EXPECT_EQ(work.memory_lines, 2u * 100 * kThreads);
  EXPECT_EQ(work.atomics + work.barriers + work.local_reads + work.local_writes, 0u);
  EXPECT_EQ(work.activity[static_cast<size_t>(oa::Stage::compute)].sends, 3u * 100 * kThreads);
}

// The returned old values show the order.
TEST_P(HostThreads, AtomicsReturnOldValuesInGroupOrder) {
  const Result result = compare(std::string(kHead) + R"(
    shr (8|M0) r6.0<1>:ud r5.0<8;8,1>:ud 0x1b:ud
    shl (8|M0) r6.0<1>:ud r6.0<8;8,1>:ud 0x2:ud
    mov (8|M0) r7.0<1>:ud 0x1:ud
    ATOMIC r8 r6 r7 1
    WRITE r4 r8 0
)" + std::string(kTail),
                                100);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  std::array<uint32_t, 32> bins{};
  for (uint32_t i = 0; i < 100 * 32; ++i) {
    EXPECT_EQ(at(result, kIn + i * 4), bins[i * 2654435761u >> 27]++) << "groups are ordered";
  }
  for (uint32_t bin = 0; bin < 32; ++bin) {
    EXPECT_EQ(at(result, kShared + bin * 4), bins[bin]);
  }
  uint64_t lines = 2u * 100 * kThreads;  // of reads and writes
  for (uint32_t thread = 0; thread < 100 * kThreads; ++thread) {
    std::array<bool, 2> touched{};
    for (uint32_t lane = 0; lane < 8; ++lane) {
      touched[((thread * 8 + lane) * 2654435761u >> 27) / 16] = true;
    }
    lines += (touched[0] ? 1U : 0U) + (touched[1] ? 1U : 0U);
  }
  EXPECT_EQ(sum(result).atomics, 100u * kThreads);
  EXPECT_EQ(sum(result).memory_lines, lines);
}

// Without atomics, each group adds to a word that all groups share, through either of its two addresses.
TEST_P(HostThreads, RacingGroupsLoseNoUpdate) {
  for (const char* second : {"1", "2"}) {
    const Result result = compare(std::string(kHead) +
                                      fmt::format(R"(
    (W) mov (8|M0) r6.0<1>:ud 0x0:ud
    READ r7 r6 1
    WRITE r4 r7 0
    add (8|M0) r7.0<1>:ud r7.0<8;8,1>:ud 0x1:ud
    WRITE r6 r7 {}
)",
                                                  second) +
                                      std::string(kTail),
                                  60);
    EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
    EXPECT_EQ(at(result, kShared), 60 * kThreads) << "a turn is never interrupted";
    for (uint32_t i = 0; i < 60 * kThreads; ++i) {
      EXPECT_EQ(at(result, kIn + i * 32), i);
    }
  }
}

TEST_P(HostThreads, BarriersOrderAccessesToLocalMemory) {
  const Result result = compare(std::string(kHead) + R"(
    (W) and (8|M0) r6.0<1>:ud r4.0<8;8,1>:ud 0x7f:ud
    WRITE r6 r5 fe
    BARRIER
    (W) xor (8|M0) r7.0<1>:ud r6.0<8;8,1>:ud 0x7c:ud
    READ r8 r7 fe
    BARRIER
    WRITE r4 r8 0
)" + std::string(kTail),
                                100);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  for (uint32_t i = 0; i < 100 * 32; ++i) {
    EXPECT_EQ(at(result, kIn + i * 4), (i ^ 31) * 2654435761u);
  }
  const oa::WorkCounts work = sum(result);
  const uint64_t threads = started(result);
  EXPECT_EQ(threads, 100u * kThreads);
  EXPECT_EQ(work.barriers, 2 * threads);
  EXPECT_EQ(work.local_reads, threads);
  EXPECT_EQ(work.local_writes, threads);
  EXPECT_EQ(work.memory_lines, 2 * threads);
}

// Each group waits for the next one, and the last group does not wait, so all groups must run at the same time.
TEST_P(HostThreads, GroupsThatWaitForTheNextGroupComplete) {
  const Result result = compare(std::string(kHead) + R"(
    (W) mov (8|M0) r7.0<1>:ud 0x1:ud
    (W) shl (8|M0) r6.0<1>:ud r0.1<0;1,0>:ud 0x2:ud
    (W) add (8|M0) r9.0<1>:ud r6.0<8;8,1>:ud 0x4:ud
    (W) cmp (8|M0) (eq)f0.0 null:ud r0.1<0;1,0>:ud 0x9:ud
    (f0.0) if (8|M0) L1 L1
    WRITE r9 r7 1
L1:
    endif (8|M0) L2
L2:
    READ r8 r9 1
    (W) cmp (8|M0) (eq)f0.0 null:ud r8.0<8;8,1>:ud 0x0:ud
    (f0.0) while (8|M0) L2
    WRITE r6 r7 1
)" + std::string(kTail),
                                10);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  EXPECT_EQ(at(result, kShared), 1u);
}

TEST_P(HostThreads, LongLoopsRunInPartsWithTheSameResult) {
  const Result result = compare(std::string(kHead) + R"(
    mov (8|M0) r6.0<1>:ud 0x0:ud
L1:
    add (8|M0) r5.0<1>:ud r5.0<8;8,1>:ud 0x5:ud
    WRITE r4 r5 0
    READ r5 r4 0
    add (8|M0) r6.0<1>:ud r6.0<8;8,1>:ud 0x1:ud
    cmp (8|M0) (lt)f0.0 null:ud r6.0<8;8,1>:ud 0x800:ud
    (f0.0) while (8|M0) L1
)" + std::string(kTail),
                                20);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  EXPECT_GT(result.outcomes.size(), 10u);
  for (uint32_t i = 0; i < 20 * 32; ++i) {
    EXPECT_EQ(at(result, kIn + i * 4), i * 2654435761u + 5 * 0x800);
  }
}

// Group 13 accesses unmapped memory.
TEST_P(HostThreads, FaultActionsGiveTheSameResult) {
  bind(3, {0x87fd'4000, 0, 0x1f'007f, 0, 0, 0, 0, 0, 0x1000, 0x55});
  const std::string text = std::string(kHead) + R"(
    (W) cmp (8|M0) (eq)f0.0 null:ud r0.1<0;1,0>:ud 0xd:ud
    add (8|M0) r5.0<1>:ud r5.0<8;8,1>:ud 0x3:ud
    WRITE r4 r5 0
    (f0.0) if (8|M0) L1 L1
    READ r6 r6 3
    WRITE r6 r5 3
L1:
    endif (8|M0) L2
L2:
    add (8|M0) r5.0<1>:ud r5.0<8;8,1>:ud 0x1:ud
    WRITE r4 r5 0
)" + std::string(kTail);
  for (const memory::FaultAction action :
       {memory::FaultAction::skip, memory::FaultAction::filter, memory::FaultAction::stop}) {
    memory_.set_action(action);
    const Result result = compare(text, 40);
    EXPECT_EQ(result.outcomes.back().stop, action == memory::FaultAction::stop ? Stop::fault : Stop::finished);
    EXPECT_FALSE(result.faults.empty());
    EXPECT_EQ(at(result, kIn + 12 * 128), 12 * 32 * 2654435761u + 4);
  }
}

TEST_P(HostThreads, EventsAreInOrder) {
  const Result result = compare(std::string(kHead) +
                                    fmt::format(R"(
    (W) cmp (8|M0) (gt)f0.0 null:ud r0.1<0;1,0>:ud 0x4:ud
    (f0.0) if (8|M0) L1 L1
    send.urb (8|M0) null r4 {0} 0x0 0x02000000
L1:
    endif (8|M0) L2
L2:
    send.vme (8|M0) null r4 {0} 0x0 0x02000000
    WRITE r4 r5 0
)",
                                                twelve() ? "null" : "") +
                                    std::string(kTail),
                                40);
  EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  EXPECT_EQ(result.events.size(), 2u);
}

// Random programs: loads, stores and atomics on few words, barriers, bounded loops.
TEST_P(HostThreads, RandomProgramsGiveTheSameResult) {
  // The seeds are divided among the chips, because the interaction of threads is the same on both.
  for (uint32_t seed = GetParam() == "skl" ? 1 : 2; seed <= 16; seed += 2) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
    const auto reg = [&] { return fmt::format("r{}", 10 + below(6)); };
    const bool conflicts = below(2) != 0;
    std::string text(kHead);
    for (int i = 0; i < 6; ++i) {
      text += fmt::format("(W) add (8|M0) r{}.0<1>:ud r5.0<8;8,1>:ud {:#x}:ud\n", 10 + i, below(1000));
    }
    text += "(W) mov (8|M0) r30.0<1>:ud 0x0:ud\nL1:\n";
    const uint32_t count = 4 + below(12);
    for (uint32_t i = 0; i < count; ++i) {
      // Selects an address: the lane's own, or one of a few shared ones.
      if (conflicts && below(3) == 0) {
        text += fmt::format("(W) and (8|M0) r20.0<1>:ud {}.0<8;8,1>:ud {:#x}:ud\n", reg(), 0xfcu << below(3) & 0xffc);
      } else {
        text += fmt::format("(W) add (8|M0) r20.0<1>:ud r4.0<8;8,1>:ud 0x0:ud\n");
      }
      const uint32_t surface = conflicts ? below(3) : 0;
      switch (below(conflicts ? 6 : 4)) {
        case 0:
          text += fmt::format("READ {} r20 {:x}\n", reg(), surface);
          break;
        case 1:
          text += fmt::format("WRITE r20 {} {:x}\n", reg(), surface);
          break;
        case 2:
          text += fmt::format("add (8|M0) {}.0<1>:ud {}.0<8;8,1>:ud {}.0<8;8,1>:ud\n", reg(), reg(), reg());
          break;
        case 3:
          text += "BARRIER\n";
          break;
        case 4:
          text += fmt::format("ATOMIC {} r20 {} {:x}\n", reg(), reg(), surface);
          break;
        case 5:
          text += fmt::format("WRITE r20 {} fe\n", reg());
          break;
      }
    }
    text += fmt::format(
        "(W) add (8|M0) r30.0<1>:ud r30.0<8;8,1>:ud 0x1:ud\n"
        "(W) cmp (8|M0) (lt)f0.0 null:ud r30.0<8;8,1>:ud {:#x}:ud\n(f0.0) while (8|M0) L1\n",
        1 + below(80));
    const Result result = compare(text + std::string(kTail), 1 + below(90));
    EXPECT_EQ(result.outcomes.back().stop, Stop::finished);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, HostThreads, testing::Values("skl", "tgl"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::compute
