// Work in pieces: each piece is done once, all are done when the call returns, and the pool can be used repeatedly.
#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace halogen {
namespace {

TEST(WorkerPool, EachPieceRunsOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 3u, 8u}) {
    WorkerPool pool(threads);
    for (size_t count : {0u, 1u, 2u, 7u, 1000u}) {
      std::vector<int> done(count);
      pool.for_each(count, [&](size_t piece) { ++done[piece]; });
      EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), static_cast<int>(count)) << threads;
      EXPECT_EQ(std::set(done.begin(), done.end()).size(), count == 0 ? 0u : 1u);
    }
  }
}

TEST(WorkerPool, JobsRunOneAfterAnother) {
  WorkerPool pool(4);
  uint64_t sum = 0;
  for (uint64_t job = 0; job < 2000; ++job) {
    std::array<uint64_t, 5> parts{};
    pool.for_each(parts.size(), [&](size_t piece) { parts[piece] = job + piece; });
    sum += std::accumulate(parts.begin(), parts.end(), uint64_t{0});
  }
  EXPECT_EQ(sum, 5u * (1999u * 2000u / 2) + 2000u * 10);
}

TEST(WorkerPool, WorkerThreadsTakePieces) {
  WorkerPool pool(2);
  std::atomic<int> there = 0;
  // Both threads must work at the same time, or the test would not end.
  pool.for_each(2, [&](size_t) {
    ++there;
    while (there < 2) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(there, 2);
}

}  // namespace
}  // namespace halogen
