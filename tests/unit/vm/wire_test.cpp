// The protocol of QEMU's proxy device: framing, descriptors that accompany the bytes, the guest's memory, files for the
// guest.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>

#include "cpio.h"
#include "guest_memory.h"
#include "proxy_link.h"

namespace halogen::vm {
namespace {

std::vector<std::byte> message(int32_t command, uint64_t claimed, std::span<const std::byte> payload) {
  std::vector<std::byte> out(16);
  std::memcpy(out.data(), &command, sizeof(command));
  std::memcpy(out.data() + 8, &claimed, sizeof(claimed));
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

std::vector<std::byte> config_read(uint32_t offset) {
  const ConfigAccess access{offset, 0, 4};
  return message(3, sizeof(access), std::as_bytes(std::span(&access, 1)));
}

File memory_file(uint64_t bytes) {
  File file(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.descriptor(), static_cast<off_t>(bytes)), 0);
  return file;
}

std::vector<File> list_of(File file) {
  std::vector<File> files;
  files.push_back(std::move(file));
  return files;
}

ino_t number_of(const File& file) {
  struct stat status {};
  EXPECT_EQ(fstat(file.descriptor(), &status), 0);
  return status.st_ino;
}

TEST(ProxyParser, MessageIsReturnedOnceItsLastByteArrives) {
  const auto bytes = config_read(0x2c);
  ProxyParser parser;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    parser.feed(std::span(bytes).subspan(i, 1), {});
    const auto early = parser.next();
    ASSERT_TRUE(early.ok());
    EXPECT_FALSE(early->has_value()) << i;
  }
  parser.feed(std::span(bytes).last(1), {});
  const auto whole = parser.next();
  ASSERT_TRUE(whole.ok() && whole->has_value());
  EXPECT_EQ((*whole)->command, ProxyCommand::config_read);
  ConfigAccess access{};
  ASSERT_TRUE((*whole)->as(access));
  EXPECT_EQ(access.offset, 0x2cu);
  BarAccess other{};
  EXPECT_FALSE((*whole)->as(other)) << "a payload of another size is another message";
}

TEST(ProxyParser, SplitsConcatenatedMessages) {
  ProxyParser parser;
  std::vector<std::byte> bytes = config_read(1);
  const auto second = config_read(2);
  const auto empty = message(7, 0, {});
  bytes.insert(bytes.end(), empty.begin(), empty.end());
  bytes.insert(bytes.end(), second.begin(), second.end());
  parser.feed(bytes, {});
  const auto first = parser.next();
  ASSERT_TRUE(first.ok() && first->has_value());
  const auto reset = parser.next();
  ASSERT_TRUE(reset.ok() && reset->has_value());
  EXPECT_EQ((*reset)->command, ProxyCommand::reset);
  EXPECT_TRUE((*reset)->payload.empty());
  const auto last = parser.next();
  ASSERT_TRUE(last.ok() && last->has_value());
  ConfigAccess access{};
  ASSERT_TRUE((*last)->as(access));
  EXPECT_EQ(access.offset, 2u);
  EXPECT_FALSE(parser.next()->has_value());
}

TEST(ProxyParser, RefusesInvalidLengths) {
  for (const uint64_t length : {ProxyParser::kMaxPayload + 1, uint64_t{1} << 32, ~uint64_t{0}, ~uint64_t{0} - 15}) {
    ProxyParser parser;
    parser.feed(message(3, length, {}), {});
    EXPECT_FALSE(parser.next().ok()) << length;
  }
  ProxyParser parser;
  parser.feed(message(3, ProxyParser::kMaxPayload, {}), {});
  ASSERT_TRUE(parser.next().ok());
  EXPECT_FALSE(parser.next()->has_value());
}

TEST(ProxyParser, FilesBelongToTheMessageTheyCameWith) {
  ProxyParser parser;
  File file = memory_file(4096);
  const ino_t number = number_of(file);
  parser.feed(config_read(1), {});
  const auto second = config_read(2);
  parser.feed(std::span(second).first(16), list_of(std::move(file)));
  const auto first = parser.next();
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_TRUE((*first)->files.empty());
  parser.feed(std::span(second).subspan(16), {});
  const auto last = parser.next();
  ASSERT_TRUE(last.ok() && last->has_value());
  ASSERT_EQ((*last)->files.size(), 1u);
  EXPECT_EQ(number_of((*last)->files[0]), number);
}

TEST(ProxyParser, NumberOfPendingFilesIsLimited) {
  ProxyParser parser;
  const std::vector<std::byte> one(1);
  int last = -1;
  for (unsigned i = 0; i < 15; ++i) {
    File file = memory_file(4096);
    last = file.descriptor();
    parser.feed(one, list_of(std::move(file)));
  }
  EXPECT_EQ(fcntl(last, F_GETFD), -1) << "closed at once";
}

class Pair {
 public:
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  File ours() { return File(ends_[0]); }
  File theirs() { return File(ends_[1]); }

 private:
  int ends_[2]{-1, -1};
};

TEST(ProxyLink, ReportsClosedPeer) {
  Pair pair;
  ProxyLink link(pair.ours());
  {
    const File other = pair.theirs();
    ASSERT_TRUE(*link.fill()) << "no data, but the peer is still connected";
    const auto part = config_read(4);
    ASSERT_TRUE(write_all(other.descriptor(), std::span(part).first(20)));
    ASSERT_TRUE(*link.fill());
    EXPECT_FALSE(link.next()->has_value());
  }
  EXPECT_FALSE(*link.fill()) << "in the middle of a message";
  EXPECT_FALSE(*link.answer(1));
}

TEST(ProxyLink, ReplyHasTheWireFormat) {
  Pair pair;
  ProxyLink link(pair.ours());
  const File other = pair.theirs();
  ASSERT_TRUE(*link.answer(0x1122'3344'5566'7788));
  struct {
    int32_t command;
    int32_t padding;
    uint64_t bytes;
    uint64_t value;
  } got{};
  ASSERT_TRUE(read_all(other.descriptor(), std::as_writable_bytes(std::span(&got, 1))));
  EXPECT_EQ(got.command, 1);
  EXPECT_EQ(got.bytes, 8u);
  EXPECT_EQ(got.value, 0x1122'3344'5566'7788u);
}

TEST(GuestMemory, MemoryIsMappedAccordingToTheMap) {
  std::vector<File> files;
  files.push_back(memory_file(0x3000));
  files.push_back(File(dup(files[0].descriptor())));
  MemoryMap map{};
  map.address = {0x10'0000, 0x20'0000};
  map.bytes = {0x1000, 0x2000};
  map.offset = {0x2000, 0};
  GuestMemory memory;
  unsigned revoked = 0;
  const auto revoke = [&](auto) { ++revoked; };
  ASSERT_TRUE(memory.set_map(map, files, revoke).ok());
  const uint32_t value = 0xabcd'1234;
  EXPECT_TRUE(memory.write(0x10'0004, std::as_bytes(std::span(&value, 1))));
  uint32_t seen = 0;
  EXPECT_EQ(pread(files[0].descriptor(), &seen, sizeof(seen), 0x2004), 4);
  EXPECT_EQ(seen, value);
  EXPECT_EQ(memory.at(0x20'1ff8, 8).size(), 8u);
  // Ranges after, before and across the end.
  EXPECT_TRUE(memory.at(0x20'2000, 1).empty());
  EXPECT_TRUE(memory.at(0x0f'ffff, 1).empty());
  EXPECT_TRUE(memory.at(0x20'1ff8, 9).empty());
  EXPECT_TRUE(memory.at(0x20'1ff8, ~uint64_t{0}).empty());
  EXPECT_FALSE(memory.write(0x20'1ffe, std::as_bytes(std::span(&value, 1))));
  EXPECT_FALSE(memory.read(0x20'1ffe, std::as_writable_bytes(std::span(&seen, 1))));
  // The same map again revokes nothing.
  EXPECT_EQ(revoked, 1u);
  ASSERT_TRUE(memory.set_map(map, files, revoke).ok());
  EXPECT_EQ(revoked, 1u);
  // Another map replaces the first. The file stays mapped where it is.
  const std::span<std::byte> view = memory.at(0x10'0000, 0x1000);
  map.address = {0x50'0000};
  ASSERT_TRUE(memory.set_map(map, std::span(files).first(1), revoke).ok());
  EXPECT_EQ(revoked, 2u);
  EXPECT_TRUE(memory.at(0x10'0000, 4).empty());
  EXPECT_EQ(memory.at(0x50'0000, 4).data(), view.data());
}

TEST(GuestMemory, FileWithoutPieceIsUnmappedAfterTheRevocation) {
  std::vector<File> files;
  files.push_back(memory_file(0x1000));
  std::vector<File> others;
  others.push_back(memory_file(0x1000));
  MemoryMap map{};
  map.address[0] = 0x10'0000;
  map.bytes[0] = 0x1000;
  GuestMemory memory;
  ASSERT_TRUE(memory.set_map(map, files, [](auto) {}).ok());
  std::byte* const view = memory.at(0x10'0000, 0x1000).data();
  const auto is_mapped = [&] {
    unsigned char resident = 0;
    return mincore(view, 0x1000, &resident) == 0;
  };
  map.address[0] = 0x20'0000;
  bool was_mapped = false;
  uint64_t gone = 0;
  ASSERT_TRUE(memory
                  .set_map(map, others,
                           [&](std::span<const GuestMemory::Piece> pieces) {
                             was_mapped = is_mapped();
                             EXPECT_TRUE(memory.at(0x10'0000, 1).empty());
                             for (const GuestMemory::Piece& each : pieces) gone += each.bytes;
                           })
                  .ok());
  EXPECT_TRUE(was_mapped);
  EXPECT_EQ(gone, 0x1000u);
  EXPECT_FALSE(is_mapped());
}

TEST(GuestMemory, RefusesMapBeyondEndOfFile) {
  std::vector<File> files;
  files.push_back(memory_file(0x2000));
  struct Row {
    uint64_t address, bytes, offset;
  };
  for (const Row& row : {Row{0, 0x2001, 0}, Row{0, 0x1001, 0x1000}, Row{0, 1, 0x2001}, Row{0, 1, ~uint64_t{0}},
                         Row{0, ~uint64_t{0}, 1}, Row{~uint64_t{0} - 0xfff, 0x2000, 0}}) {
    MemoryMap map{};
    map.address[0] = row.address;
    map.bytes[0] = row.bytes;
    map.offset[0] = row.offset;
    GuestMemory memory;
    EXPECT_FALSE(memory.set_map(map, files, [](auto) {}).ok()) << row.address << ' ' << row.bytes << ' ' << row.offset;
  }
  std::vector<File> nothing;
  nothing.push_back(File(open("/dev/null", O_RDWR | O_CLOEXEC)));
  EXPECT_FALSE(GuestMemory().set_map(MemoryMap{}, nothing, [](auto) {}).ok());
}

// Offsets computed by hand: a header of 110 bytes, and names and contents padded to multiples of four.
TEST(Cpio, ArchiveHasNewcFormat) {
  CpioArchive archive;
  archive.add_file("ab", "xyz", true);
  const std::string bytes = archive.finish();
  EXPECT_EQ(bytes.substr(0, 6), "070701");
  EXPECT_EQ(bytes.substr(14, 8), "000081ED");
  EXPECT_EQ(bytes.substr(54, 8), "00000003");
  EXPECT_EQ(bytes.substr(94, 8), "00000003");
  EXPECT_EQ(bytes.substr(110, 3), std::string("ab\0", 3));
  EXPECT_EQ(bytes.substr(116, 3), "xyz");
  EXPECT_EQ(bytes.substr(120, 6), "070701");
  EXPECT_EQ(bytes.substr(120 + 110, 10), "TRAILER!!!");
  EXPECT_EQ(bytes.size() % 4, 0u);
}

}  // namespace
}  // namespace halogen::vm
