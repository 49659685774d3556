// A machine that is hostile to the process of its device: memory that goes away or is not a memory file, a socket that
// is not read, interrupts without end.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

#include "device_server.h"
#include "guest_memory.h"
#include "guest_setup.h"
#include "machine_link.h"
#include "proxy_link.h"

namespace halogen::vm {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours = File(ends[0]);
    theirs = File(ends[1]);
  }
  File ours, theirs;
};

File memory_file(uint64_t bytes, unsigned flags = MFD_ALLOW_SEALING) {
  File file(memfd_create("guest", MFD_CLOEXEC | flags));
  EXPECT_EQ(ftruncate(file.descriptor(), static_cast<off_t>(bytes)), 0);
  return file;
}

Result<void> map_one(GuestMemory& memory, File file, uint64_t bytes = 0x1000) {
  MemoryMap map{};
  map.bytes[0] = bytes;
  std::vector<File> files;
  files.push_back(std::move(file));
  return memory.set_map(map, files, [](auto) {});
}

// ---- memory

TEST(HostileMemory, CannotBeTakenAwayWhileMapped) {
  const File file = memory_file(0x4000);
  GuestMemory memory;
  ASSERT_TRUE(map_one(memory, File(dup(file.descriptor())), 0x4000).ok());
  EXPECT_NE(ftruncate(file.descriptor(), 0), 0);
  std::array<std::byte, 16> bytes{};
  EXPECT_TRUE(memory.read(0x3ff0, bytes)) << "without the seal, this is the end of the process by SIGBUS";
  ASSERT_EQ(fallocate(file.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 0x4000), 0);
  EXPECT_TRUE(memory.write(0x3ff0, bytes));
}

TEST(HostileMemory, MustBeAMemoryFileWithASealedSize) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("halogen-memory-{}", getpid());
  File regular(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(ftruncate(regular.descriptor(), 0x4000), 0);
  std::filesystem::remove(path);
  int pipe[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  const File write_end(pipe[1]);
  std::vector<std::pair<const char*, File>> wrong;
  wrong.emplace_back("without seals", memory_file(0x4000, 0));
  wrong.emplace_back("regular", std::move(regular));
  wrong.emplace_back("pipe", File(pipe[0]));
  wrong.emplace_back("device", File(open("/dev/zero", O_RDWR | O_CLOEXEC)));
  wrong.emplace_back("folder", File(open("/", O_RDONLY | O_CLOEXEC)));
  wrong.emplace_back("event", File(eventfd(0, EFD_CLOEXEC)));
  wrong.emplace_back("socket", std::move(Pair().ours));
  wrong.emplace_back("place", File(open("/", O_PATH | O_CLOEXEC)));
  wrong.emplace_back("empty", memory_file(0));
  const File whole = memory_file(0x4000);
  const std::string self = fmt::format("/proc/self/fd/{}", whole.descriptor());
  wrong.emplace_back("read only", File(open(self.c_str(), O_RDONLY | O_CLOEXEC)));
  File unwritable = memory_file(0x4000);
  ASSERT_EQ(fcntl(unwritable.descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  wrong.emplace_back("sealed against writes", std::move(unwritable));
  if (const int huge = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | MFD_ALLOW_SEALING); huge >= 0) {
    static_cast<void>(!ftruncate(huge, 2 << 20));
    wrong.emplace_back("huge pages", File(huge));
  }
  for (auto& [name, file] : wrong) {
    GuestMemory memory;
    EXPECT_FALSE(map_one(memory, std::move(file)).ok()) << name;
    EXPECT_TRUE(memory.at(0, 1).empty()) << name;
  }
}

TEST(HostileMemory, OverlappingPiecesAreRefused) {
  struct Row {
    uint64_t first, first_bytes, second, second_bytes;
    bool good;
  };
  for (const Row& row :
       {Row{0, 0x1000, 0x1000, 0x1000, true}, Row{0, 0x1001, 0x1000, 0x1000, false},
        Row{0x1000, 0x1000, 0, 0x1001, false}, Row{0, 0x4000, 0x1000, 1, false}, Row{0x1000, 1, 0x1000, 1, false},
        Row{0, 0x4000, 0x1000, 0, true}, Row{~uint64_t{0} - 0xfff, 0xfff, 0, 0x1000, true},
        Row{~uint64_t{0} - 0xffe, 0x1000, 0, 0x10, false}}) {
    MemoryMap map{};
    map.address = {row.first, row.second};
    map.bytes = {row.first_bytes, row.second_bytes};
    std::vector<File> files;
    files.push_back(memory_file(0x4000));
    files.push_back(File(dup(files[0].descriptor())));
    EXPECT_EQ(GuestMemory().set_map(map, files, [](auto) {}).ok(), row.good) << row.first << ' ' << row.second;
  }
}

TEST(HostileMemory, TooManyDescriptorsEndTheConnection) {
  Pair pair;
  ProxyLink link(std::move(pair.ours));
  constexpr size_t kCount = 200;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kCount * sizeof(int))> control{};
  std::byte byte{};
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(kCount * sizeof(int));
  const std::vector<int> same(kCount, pair.theirs.descriptor());
  std::memcpy(CMSG_DATA(item), same.data(), kCount * sizeof(int));
  ASSERT_EQ(sendmsg(pair.theirs.descriptor(), &message, 0), 1);
  EXPECT_FALSE(link.fill().ok());
}

// ---- a machine that does not read

// The machine waits for an answer of this process while this process reports interrupts to it, as with an interrupt
// whose address is the device's own BAR.
TEST(HostileMachine, InterruptsDoNotWaitForTheMachine) {
  Pair pair;
  MachineLink link(std::move(pair.ours));
  for (uint32_t i = 0; i < 100'000; ++i) {
    link.write_memory(0xe000'2034 + 4 * i, i);
    link.set_line("ioapic", 22, i % 2 == 0);
  }
  EXPECT_TRUE(link.keeps());
  EXPECT_GT(link.lost(), 0u);
  // All requests that arrive are whole, and the last level of the line arrives.
  std::string seen;
  std::array<char, 4096> part;
  do {
    const ssize_t got = recv(pair.theirs.descriptor(), part.data(), part.size(), MSG_DONTWAIT);
    if (got > 0) seen.append(part.data(), static_cast<size_t>(got));
    link.send_kept();
    if (got <= 0 && !link.keeps()) break;
  } while (true);
  EXPECT_EQ(seen.substr(0, seen.find('\n')), "writel 0xe0002034 0x0");
  EXPECT_EQ(seen.substr(seen.rfind("set_irq_in")), "set_irq_in ioapic unnamed-gpio-in 22 0\n");
  for (size_t at = 0; at < seen.size(); at = seen.find('\n', at) + 1) {
    const std::string_view line = std::string_view(seen).substr(at, seen.find('\n', at) - at);
    ASSERT_TRUE(line.starts_with("writel 0xe") || line.starts_with("set_irq_in ioapic ")) << line;
  }
}

TEST(HostileMachine, EqualInterruptsAreKeptOnce) {
  Pair pair;
  MachineLink link(std::move(pair.ours));
  while (!link.keeps()) link.write_memory(0xfee0'0000, 1);
  const uint64_t before = link.lost();
  for (unsigned i = 0; i < 1000; ++i) link.write_memory(0xfee0'0000, 0x41);
  EXPECT_EQ(link.lost(), before) << "an interrupt that is still kept";
}

TEST(HostileMachine, ClosedInterruptSocketIsIgnored) {
  Pair pair;
  MachineLink link(std::move(pair.ours));
  { const File closed(std::move(pair.theirs)); }
  for (uint32_t i = 0; i < 1000; ++i) link.write_memory(0xfee0'0000, i);
  EXPECT_FALSE(link.keeps());
}

// A machine that answers every request without end does not hold the process either.
TEST(HostileMachine, FloodOfRepliesDoesNotHoldTheDevice) {
  Pair pair;
  MachineLink link(std::move(pair.ours));
  std::jthread flood([&](const std::stop_token& stop) {
    const std::vector<char> much(65536, 'x');
    while (!stop.stop_requested()) {
      static_cast<void>(send(pair.theirs.descriptor(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    }
  });
  for (uint32_t i = 0; i < 100; ++i) link.write_memory(0xfee0'0000, i);
}

class Served {
 public:
  explicit Served(Pair& pair, int patience_ms) : server_(ProxyLink(std::move(pair.ours), patience_ms), nullptr) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    stop_ = File(ends[0]);
    ask_ = File(ends[1]);
    const spec::DeviceModel& model = *spec::find_device("i965");
    EXPECT_TRUE(server_.create_device(model, guest_device_options(model)).ok());
  }
  void stop() { EXPECT_EQ(::write(ask_.descriptor(), "x", 1), 1); }
  Result<void> serve() { return server_.serve(stop_.descriptor()); }
  bool was_stopped() const { return server_.was_stopped(); }

 private:
  DeviceServer server_;
  File stop_, ask_;
};

// Sends requests until the socket takes no more.
void ask_without_reading(const File& socket) {
  struct {
    int32_t command = 3, padding = 0;
    uint64_t bytes = sizeof(ConfigAccess);
    uint32_t offset = 0, value = 0;
    int32_t size = 4;
  } request;
  static_assert(sizeof(request) >= 28);
  std::array<std::byte, 28> bytes{};
  std::memcpy(bytes.data(), &request, bytes.size());
  while (send(socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
}

TEST(HostileMachine, MachineThatDoesNotReadAnswersIsDropped) {
  Pair pair;
  Served served(pair, 0);
  std::jthread asks([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) ask_without_reading(pair.theirs);
  });
  const auto done = served.serve();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.message(), "the machine does not read the answers to its requests.");
}

TEST(HostileMachine, StopEndsTheWaitForAMachineThatDoesNotRead) {
  Pair pair;
  Served served(pair, -1);  // waits without a limit
  std::jthread asks([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) ask_without_reading(pair.theirs);
  });
  std::jthread stops([&] {
    int pending = 0;
    // All buffers are full when requests are no longer taken.
    for (pollfd watched{pair.theirs.descriptor(), POLLOUT, 0}; pending < 100; ++pending) poll(&watched, 1, 1);
    served.stop();
  });
  EXPECT_TRUE(served.serve().ok());
  EXPECT_TRUE(served.was_stopped());
}

// ---- the start

TEST(HostileMachine, StopEndsTheWaitForTheMonitor) {
  Pair pair;
  std::stop_source stop;
  std::jthread asks([&] { stop.request_stop(); });
  EXPECT_FALSE(start_machine(pair.ours, 3600, stop.get_token()).ok());
}

TEST(HostileMachine, EndlessLineOfTheMonitorIsAnError) {
  Pair pair;
  std::jthread flood([&] {
    const std::vector<char> much(65536, 'x');
    for (unsigned i = 0; i < 64; ++i) {
      if (send(pair.theirs.descriptor(), much.data(), much.size(), MSG_NOSIGNAL) <= 0) return;
    }
  });
  EXPECT_FALSE(start_machine(pair.ours, 3600, {}).ok());
  { const File closed(std::move(pair.ours)); }
}

}  // namespace
}  // namespace halogen::vm
