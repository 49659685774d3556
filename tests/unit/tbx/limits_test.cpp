// Peers that take more than their share of logs, memory, connections or time; and peers of other users.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neo_stream.h"
#include "serving.h"
#include "tbx/bounded_log.h"
#include "tbx/channel.h"
#include "tbx/peer_user.h"

namespace halogen::tbx {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// A channel of the server and the socket of its peer.
struct Ends {
  explicit Ends(PeerLimits limits = {}) {
    std::array<int, 2> sockets{}, stop{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
    EXPECT_EQ(::pipe(stop.data()), 0);
    channel = std::make_unique<SocketChannel>(sockets[0], stop[0], &waiting, limits);
    peer = sockets[1];
    stop_read = stop[0];
    stop_write = stop[1];
  }
  ~Ends() {
    channel.reset();
    for (const int each : {peer, stop_read, stop_write}) ::close(each);
  }
  void send(size_t bytes) const {
    const std::vector<char> some(bytes);
    EXPECT_EQ(::write(peer, some.data(), bytes), static_cast<ssize_t>(bytes));
  }

  Waiting waiting;
  std::unique_ptr<SocketChannel> channel;
  int peer = -1, stop_read = -1, stop_write = -1;
};

TEST(SocketChannel, PeerThatDoesNotCompleteAMessageIsDropped) {
  Ends ends({.message = 0ms, .reply = 0ms});
  std::array<std::byte, 12> message{};
  ends.send(5);
  ends.channel->expect_message();
  EXPECT_EQ(ends.channel->read(message), 5u);
  EXPECT_EQ(ends.channel->fault(), "the peer did not complete a message in time");
}

TEST(SocketChannel, PeerThatDoesNotReadIsDropped) {
  Ends ends({.message = 0ms, .reply = 0ms});
  const std::vector<std::byte> much(size_t{16} << 20);
  EXPECT_FALSE(ends.channel->write(much));
  EXPECT_EQ(ends.channel->fault(), "the peer did not read its replies in time");
}

TEST(SocketChannel, WritingEndsWithTheServer) {
  Ends ends;
  ASSERT_EQ(::write(ends.stop_write, "", 1), 1);
  const std::vector<std::byte> much(size_t{16} << 20);
  EXPECT_FALSE(ends.channel->write(much));
  EXPECT_EQ(ends.channel->fault(), "");
}

// A peer that sends a byte now and then would otherwise keep its connection for ever.
TEST(SocketChannel, BytesAloneDoNotEndTheWait) {
  Ends ends;
  std::array<std::byte, 12> message{};
  std::thread late([&] {
    while (!ends.waiting.any()) std::this_thread::yield();
    ends.send(12);
  });
  ends.channel->expect_message();
  EXPECT_EQ(ends.channel->read(message), 12u);
  late.join();
  EXPECT_TRUE(ends.waiting.any());
  ends.waiting.end();
  EXPECT_FALSE(ends.waiting.any());
}

TEST(BoundedLog, RateAndTotalAreLimited) {
  BoundedLog::Clock::time_point now{};
  std::vector<std::string> lines;
  BoundedLog log([&](std::string_view line) { lines.emplace_back(line); }, [&] { return now; });
  for (uint64_t i = 0; i < BoundedLog::kBurst + 100; ++i) log.write("x");
  EXPECT_EQ(lines.size(), BoundedLog::kBurst);
  now += 1s;
  for (unsigned i = 0; i < 100; ++i) log.write("y");
  EXPECT_EQ(lines.size(), BoundedLog::kBurst + 1 + BoundedLog::kPerSecond);
  EXPECT_EQ(lines[BoundedLog::kBurst], "100 lines of the log were left out");
  log.finish();
  EXPECT_EQ(lines.back(), fmt::format("{} lines of the log were left out", 100 - BoundedLog::kPerSecond));
  for (uint64_t i = 0; i < 2 * BoundedLog::kTotal; ++i) {
    now += 1s;
    log.write("z");
  }
  EXPECT_EQ(lines.back(), "100000 lines were written; further lines are left out");
  EXPECT_LT(lines.size(), BoundedLog::kTotal + 10);
  log.write(std::string(1 << 20, 'z'));
  log.finish();
  EXPECT_LT(lines.back().size(), 100u);
}

TEST(BoundedLog, LongLineIsCut) {
  std::string seen;
  BoundedLog log([&](std::string_view line) { seen = line; });
  log.write(std::string(1 << 20, 'z'));
  EXPECT_EQ(seen.size(), BoundedLog::kLineBytes);
}

// ---- users

sockaddr_in address(const char* text, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  ::inet_pton(AF_INET, text, &result.sin_addr);
  return result;
}

// Lines as Linux prints them on a little-endian machine: 127.0.0.1:4321 is 0100007F:10E1.
TEST(PeerUsers, ReadsLinuxConnectionTable) {
  const std::string table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:10E1 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 "
      "0\n"
      "   1: 0100007F:10E1 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 112 1 0 20 4 30 10 "
      "-1\n"
      "   2: 0100007F:8000 0100007F:10E1 01 00000000:00000000 00:00000000 00000000  1001        0 113 1 0 20 4 30 10 "
      "-1\n"
      "   3: 0100007F:8001 0100007F:10E1 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1\n"
      "   4: 0100007F:8002 0100007F:10E1 01\n";
  const auto server = address("127.0.0.1", 0x10e1);
  EXPECT_EQ(user_in_table(table, address("127.0.0.1", 0x8000), server), 1001u);
  EXPECT_EQ(user_in_table(table, address("127.0.0.1", 0x8001), server), std::nullopt)
      << "closed by its process: listed as user 0, which is not its user";
  EXPECT_EQ(user_in_table(table, address("127.0.0.1", 0x8002), server), std::nullopt) << "a line that is cut off";
  EXPECT_EQ(user_in_table(table, address("127.0.0.2", 0x8000), server), std::nullopt);
  EXPECT_EQ(user_in_table("", server, server), std::nullopt);
  const std::string six =
      "   0: 0000000000000000FFFF00000100007F:8000 0000000000000000FFFF00000100007F:10E1 01 00000000:00000000 "
      "00:00000000 00000000  1002        0 114 1\n";
  EXPECT_EQ(user_in_table(six, address("127.0.0.1", 0x8000), server), 1002u);
}

// Runs a client as another user. Returns its exit status: 0 if it was served.
int as_another_user(const std::function<bool()>& client) {
  constexpr uid_t kOther = 65533;
  const pid_t child = fork();
  if (child == 0) _exit(setuid(kOther) == 0 && client() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool is_served(const Client& client) {
  Messages out;
  out.message(7, {});
  return client.connected() && client.send(out.bytes()) && client.receive(3).size() == 3;
}

TEST(TbxServer, OtherUsersAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  Serving serving("i965");
  const uint16_t port = serving.server->port();
  EXPECT_NE(as_another_user([&] { return is_served(Client(port)); }), 0);
  serving.wait_for("connection 1: refused; the peer runs as user 65533; only user 0 is served");
  EXPECT_TRUE(is_served(Client(port)));
}

// A client that leaves at once is listed as user 0, but must not count as root.
TEST(TbxServer, UserWhoLeavesAtOnceIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ServerOptions options;
  options.model = spec::find_device("i965");
  std::vector<std::string> log;
  options.log = [&](std::string_view line) { log.emplace_back(line); };
  auto server = Server::listen(std::move(options));
  ASSERT_TRUE(server.ok());
  const uint16_t port = (*server)->port();
  EXPECT_EQ(as_another_user([&] { return Client(port).send(Messages().message(7, {}).bytes()); }), 0);
  std::thread running([&] { (*server)->run(); });  // accepts after the client has left
  EXPECT_TRUE(is_served(Client(port)));
  (*server)->stop();
  running.join();
  EXPECT_THAT(log, Contains(HasSubstr("connection 1: refused; the peer's user is not known")));
}

TEST(TbxServer, AnyUserIsServedOnRequestAndCannotTakeAllConnections) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ServerOptions options;
  options.any_user = true;
  Serving serving("i965", std::move(options));
  const uint16_t port = serving.server->port();
  std::array<int, 2> ready{}, end{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(end.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65533) != 0) _exit(1);
    std::vector<std::unique_ptr<Client>> many;
    Messages out;
    for (unsigned i = 0; i < 70; ++i) {
      many.push_back(std::make_unique<Client>(port));
      read_word(*many.back(), out, 0x1000);
    }
    char byte = 0;
    static_cast<void>(!::write(ready[1], &byte, 1));
    static_cast<void>(!::read(end[0], &byte, 1));
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::vector<std::unique_ptr<Client>> own;
  Messages out;
  for (unsigned i = 0; i < Server::kMaxConnections - Server::kMaxForeign; ++i) {
    own.push_back(std::make_unique<Client>(port));
    EXPECT_EQ(read_word(*own.back(), out, 0x1000), 0u) << i;
  }
  ASSERT_EQ(::write(end[1], &byte, 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(serving.log(), Contains(HasSubstr("refused; 32 connections of other users are open")));
  for (const int each : {ready[0], ready[1], end[0], end[1]}) ::close(each);
}

TEST(TbxServer, UnixSocketBelongsToItsUser) {
  const fs::path folder = fs::temp_directory_path() / ("halogen_unix_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::all);
  const std::string path = (folder / "socket").string();
  const auto listen = [&] {
    ServerOptions options;
    options.model = spec::find_device("i965");
    options.path = path;
    return Server::listen(std::move(options));
  };
  {
    ServerOptions options;
    options.path = path;
    Serving serving("i965", std::move(options));
    EXPECT_EQ(serving.server->place(), "unix:" + path);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_TRUE(is_served(Client(path)));
    if (::geteuid() == 0) {
      EXPECT_NE(as_another_user([&] { return Client(path).connected(); }), 0);
    }
    EXPECT_FALSE(listen().ok()) << "in use";
  }
  EXPECT_TRUE(listen().ok()) << "the socket of a server that has ended is replaced";
  fs::remove(path);
  EXPECT_EQ(::system(("echo precious >" + path).c_str()), 0);
  EXPECT_FALSE(listen().ok());
  EXPECT_EQ(fs::file_size(path), 9u) << "a file is not replaced";
  fs::remove_all(folder);
}

// ---- memory

TEST(TbxServer, OneConnectionCannotUseUpAllMemory) {
  ServerOptions options;
  options.pages = 64;
  Serving serving("i965", std::move(options));
  const Client greedy(serving.server->port());
  Messages out;
  for (uint32_t page = 0; page < 64; ++page) out.write(0x10'0000 + page * 4096, {page + 1});
  ASSERT_TRUE(greedy.send(out.bytes()));
  Messages look;
  EXPECT_EQ(read_word(greedy, look, 0x10'0000), 1u);
  EXPECT_EQ(read_word(greedy, look, 0x10'0000 + 63 * 4096), 0u) << "beyond its part";
  const Client other(serving.server->port());
  out.clear();
  out.write(0x10'0000, {42});
  ASSERT_TRUE(other.send(out.bytes()));
  EXPECT_EQ(read_word(other, look, 0x10'0000), 42u);
}

}  // namespace
}  // namespace halogen::tbx
