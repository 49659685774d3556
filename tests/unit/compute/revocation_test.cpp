// A dispatch whose memory the host takes away between two parts. The pages are protected (support/lent_pages.h): a late
// access through a surface, a 64-bit address, state or code ends the test.
#include <fmt/format.h>

#include "base/worker_pool.h"
#include "compute/dispatcher.h"
#include "dispatch_bench.h"
#include "eu/isa/assembler.h"
#include "kernels.h"

namespace halogen::compute {
namespace {

constexpr uint32_t kOut = 0x2'0000, kOutBytes = 0x1'0000;

struct Gone {
  const char* name;
  uint64_t first;
  uint64_t bytes;
};

class RevokedDispatch : public DispatchBench {
 protected:
  static constexpr Gone kGone[] = {{"data", kOut, kOutBytes},
                                   {"code", kCode, 0x1000},
                                   {"descriptors", kDescriptors, 0x1000},
                                   {"surfaces", kStates, 0x1'0000},
                                   {"everything", 0, kBytes}};

  RevokedDispatch() {
    bases_.indirect_object = kVa;
    memory_.set_action(memory::FaultAction::skip);
    bind_raw(0, kOut, kOutBytes);
  }
  // Loads kSpin: group 0 polls dword 0 of the buffer until it is nonzero. In this test nothing sets it.
  void load() {
    std::copy(std::begin(kernels::kSpin), std::end(kernels::kSpin), &word(kCode + 0x40));
    const uint32_t descriptor[8] = {0x40, 0, 0, 0x2020, kTable, 0, 1u | 1u << 21, 0};
    std::copy(std::begin(descriptor), std::end(descriptor), &word(kDescriptors));
  }
};

TEST_P(RevokedDispatch, NoThreadReachesRevokedPages) {
  for (const unsigned threads : {1u, 3u}) {
    for (const Gone& gone : kGone) {
      SCOPED_TRACE(fmt::format("{}, {} threads", gone.name, threads));
      test::MappedMemory memory(kBytes, kVa);
      memory.set_action(memory::FaultAction::skip);
      load();
      std::ranges::copy(memory_.bytes(), memory.bytes().begin());
      WorkerPool pool(threads);
      Dispatcher dispatcher(kernels_);
      dispatcher.set_pool(&pool);
      Walk walk;
      const std::vector<uint32_t> command = {0x7105'000d, 0, 0, 0, 1u << 30, 0, 0, 1, 0, 0, 1, 0, 1, ~0u, ~0u};
      ASSERT_EQ(make_job(generation_, settings_, bases_, command, nullptr, memory.space(), walk.job).fault,
                JobFault::none);
      for (unsigned part = 0; part < 4; ++part) {
        ASSERT_EQ(dispatcher.run(generation_, settings_, walk, memory.space(), part == 0).stop, Stop::unfinished);
      }
      EXPECT_EQ(memory.faults(), 0u);
      memory.take_back(gone.first / memory::kFrameBytes, gone.bytes / memory::kFrameBytes);
      for (unsigned part = 0; part < 4; ++part) {
        if (dispatcher.run(generation_, settings_, walk, memory.space(), false).stop != Stop::unfinished) break;
      }
      if (gone.first == kOut || gone.bytes == kBytes) {
        EXPECT_NE(memory.faults(), 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedDispatch, testing::Values("skl", "icl"));

}  // namespace
}  // namespace halogen::compute
