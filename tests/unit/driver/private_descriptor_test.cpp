#include "driver/share/private_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "driver/gem/file_key.h"

namespace halogen::driver {
namespace {

// Lowers the soft limit on open descriptors (RLIMIT_NOFILE) for one test.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = count;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  bool has_room() const { return before_.rlim_max > 1000; }

 private:
  rlimit before_{};
};

rlim_t soft_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// open_private() succeeds when the program has used all of its descriptors, and leaves the program's soft limit
// unchanged.
TEST(PrivateDescriptor, IsAboveTheSoftLimit) {
  const int lowest = open("/", O_RDONLY);
  close(lowest);
  const int limit = lowest + 20;
  const FewDescriptors few(static_cast<rlim_t>(limit));
  if (!few.has_room()) GTEST_SKIP() << "the hard limit leaves no room";
  std::vector<int> all;
  for (int file = open("/", O_RDONLY); file >= 0; file = open("/", O_RDONLY)) all.push_back(file);
  ASSERT_FALSE(all.empty());
  const int own = open_private([] { return open("/", O_RDONLY | O_CLOEXEC); });
  EXPECT_GE(own, limit);
  EXPECT_EQ(fcntl(own, F_GETSIG), kPrivateMark);
  EXPECT_NE(fcntl(own, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(soft_limit(), static_cast<rlim_t>(limit));
  EXPECT_LT(open("/", O_RDONLY), 0);
  EXPECT_EQ(keep_private(own), own);  // already at a private number
  close(own);
  const int moved = keep_private(all.back());
  EXPECT_GE(moved, limit);
  EXPECT_EQ(fcntl(all.back(), F_GETFD), -1);
  all.back() = moved;
  for (const int file : all) close(file);
}

TEST(PrivateDescriptor, NegativeValueIsReturnedUnchanged) {
  EXPECT_EQ(keep_private(-1), -1);
}

}  // namespace
}  // namespace halogen::driver
