// Files that processes share: what no process can do to them, and which files of other processes count as such.
#include "driver/share/sealed_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace halogen::driver {
namespace {

class SealedFile : public ::testing::Test {
 protected:
  ~SealedFile() override {
    if (file != -1) ::close(file);
  }
  // Creates a file with these seals.
  void make(int seals, unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING) {
    file = memfd_create("test", flags);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, 8192), 0);
    if (seals != 0) {
      ASSERT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
    }
  }
  int file = -1;
  static constexpr int kSize = F_SEAL_SHRINK | F_SEAL_GROW;
};

TEST_F(SealedFile, KeepsItsSize) {
  file = create_sealed_file("test", 8192);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(is_sealed_file(file));
  EXPECT_EQ(lseek(file, 0, SEEK_END), 8192);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  for (const off_t size : {0, 4096, 8191, 8193, 1 << 20}) EXPECT_NE(ftruncate(file, size), 0) << size;
  for (const int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE}) EXPECT_NE(fcntl(file, F_ADD_SEALS, seal), 0);
}

TEST_F(SealedFile, ReopenedFileHasItsOwnFlags) {
  file = create_sealed_file("test", 8192);
  const int again = reopen_file(file);
  ASSERT_GE(again, 0);
  EXPECT_EQ(fcntl(again, F_SETFL, O_NONBLOCK | O_APPEND), 0);
  EXPECT_EQ(fcntl(file, F_GETFL) & (O_NONBLOCK | O_APPEND), 0);
  EXPECT_EQ(pwrite(file, "x", 1, 5), 1);
  char word = 0;
  EXPECT_EQ(pread(again, &word, 1, 5), 1);
  EXPECT_EQ(word, 'x');
  ::close(again);
}

TEST_F(SealedFile, FileWithoutSealsIsRejected) {
  make(0);
  EXPECT_FALSE(is_sealed_file(file));
}

TEST_F(SealedFile, FileThatAcceptsMoreSealsIsRejected) {
  make(kSize);
  EXPECT_FALSE(is_sealed_file(file));
}

TEST_F(SealedFile, FileThatCanGrowIsRejected) {
  make(F_SEAL_SHRINK | F_SEAL_SEAL);
  EXPECT_FALSE(is_sealed_file(file));
}

TEST_F(SealedFile, FileSealedAgainstWritingIsRejected) {
  make(kSize | F_SEAL_SEAL | F_SEAL_WRITE);
  EXPECT_FALSE(is_sealed_file(file));
}

TEST_F(SealedFile, FileOfAnotherKindIsRejected) {
  file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(is_sealed_file(file));
  EXPECT_FALSE(is_sealed_file(-1));
}

// A part of a huge page cannot be mapped over the device's memory.
TEST_F(SealedFile, FileOfHugePagesIsRejected) {
  file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (file < 0) GTEST_SKIP() << "the host has no huge pages";
  ASSERT_EQ(fcntl(file, F_ADD_SEALS, kSize | F_SEAL_SEAL), 0);
  EXPECT_FALSE(is_sealed_file(file));
}

}  // namespace
}  // namespace halogen::driver
