// The server with clients on 127.0.0.1: separate and shared connections, peers that leave, conflict or send invalid
// data, the recorded run, shutdown. Tests wait for sockets and joins, never for a clock.
#include "tbx/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neo_stream.h"
#include "serving.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::tbx {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(TbxServer, EachConnectionHasItsOwnDevice) {
  Serving serving("bdw");
  const Product& product = kProducts[0];
  std::array<std::unique_ptr<Client>, 2> clients;
  std::array<NeoStream, 2> streams{NeoStream(product), NeoStream(product)};
  for (uint32_t i = 0; i < 2; ++i) {
    clients[i] = std::make_unique<Client>(serving.server->port());
    ASSERT_TRUE(clients[i]->connected());
    streams[i].set_up();
    streams[i].submit(0x1000 + i, 1 + i);
    ASSERT_TRUE(clients[i]->send(streams[i].out().bytes()));
  }
  EXPECT_EQ(streams[0].buffer_page, streams[1].buffer_page) << "the same physical addresses";
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read_word(*clients[i], streams[i].out(), streams[i].tag_page), 1 + i);
    EXPECT_EQ(read_word(*clients[i], streams[i].out(), streams[i].buffer_page + 0x10), 0x1000 + i);
  }
}

TEST(TbxServer, SharedConnectionsSeeOneDevice) {
  Serving serving("icl", true);
  Client one(serving.server->port());
  Client other(serving.server->port());
  Messages out;
  out.write(0x5000, {0x1234}).write_register(0x2600, 77).message(7, {});
  ASSERT_TRUE(one.send(out.bytes()));
  EXPECT_EQ(one.receive(3).size(), 3u);
  Messages look;
  EXPECT_EQ(read_word(other, look, 0x5000), 0x1234u);
  look.clear();
  look.read_register(0x2600);
  ASSERT_TRUE(other.send(look.bytes()));
  EXPECT_EQ(other.receive(4)[3], 77u);
}

// Two peers of one device write and read as fast as they can: every reply is complete and belongs to its request.
TEST(TbxServer, ConcurrentClientsGetCompleteReplies) {
  Serving serving("icl", true);
  const auto fight = [&](uint32_t who) {
    Client client(serving.server->port());
    std::vector<uint32_t> page(1024, who);
    for (uint32_t round = 0; round < 50; ++round) {
      Messages out;
      out.write(0x9000, std::as_bytes(std::span(page))).write_register(0x2600, who).read(0x9000, 4096);
      if (!client.send(out.bytes())) return false;
      const auto words = client.receive(6 + 1024);
      if (words.size() != 6 + 1024 || words[0] != 6 || words[1] != 2) return false;
      for (const uint32_t word : std::span(words).subspan(6)) {
        if (word != words[6] || (word != 1 && word != 2)) return false;
      }
    }
    return true;
  };
  std::atomic<bool> second{false};
  std::thread other([&] { second = fight(2); });
  EXPECT_TRUE(fight(1));
  other.join();
  EXPECT_TRUE(second);
}

// One client submits work and waits for its tag, while another client resets the device repeatedly.
TEST(TbxServer, ResetOfSharedDeviceDoesNotBreakOtherClients) {
  Serving serving("bdw", true);
  const auto fight = [&] {
    const Client client(serving.server->port());
    Messages out;
    for (uint32_t round = 0; round < 30; ++round) {
      out.clear();
      out.control(0x0001'0001).write(0x2000, {0x1880'0101, round, round}).message(7, {});
      if (!client.send(out.bytes()) || client.receive(3).size() != 3) return false;
    }
    return true;
  };
  std::atomic<bool> other{false};
  std::thread thread([&] { other = fight(); });
  {
    const Client client(serving.server->port());
    NeoStream neo(kProducts[0]);
    for (uint32_t round = 0; round < 10; ++round) {
      neo.out().clear();
      neo.set_up();
      neo.submit(round, round);
      neo.out().message(7, {});
      ASSERT_TRUE(client.send(neo.out().bytes()));
      const auto words = client.receive(3);
      ASSERT_EQ(words.size(), 3u);
      EXPECT_EQ(words[0], 8u) << "in step";
    }
  }
  thread.join();
  EXPECT_TRUE(other);
  const Client last(serving.server->port());
  NeoStream neo(kProducts[0]);
  neo.out().control(0x0001'0001);
  neo.set_up();
  neo.submit(0x77, 5);
  ASSERT_TRUE(last.send(neo.out().bytes()));
  EXPECT_EQ(read_word(last, neo.out(), neo.tag_page), 5u) << "the device still works";
}

TEST(TbxServer, IdleConnectionsDoNotBlockNewOnes) {
  Serving serving("i965");
  const Client worker(serving.server->port());
  Messages out;
  out.write(0x1000, {42});
  ASSERT_TRUE(worker.send(out.bytes()));
  EXPECT_EQ(read_word(worker, out, 0x1000), 42u);
  std::vector<std::unique_ptr<Client>> idle;
  for (unsigned i = 0; i < Server::kMaxConnections + 5; ++i) {
    idle.push_back(std::make_unique<Client>(serving.server->port()));
    ASSERT_TRUE(idle.back()->send(Messages().control().bytes()));
  }
  serving.wait_for("connection 7: dropped to make room for a new connection: never used");
  EXPECT_EQ(idle[0]->receive(1).size(), 0u) << "the oldest";
  Messages look;
  EXPECT_EQ(read_word(*idle.back(), look, 0x1000), 0u);
  EXPECT_EQ(read_word(worker, out, 0x1000), 42u);
  const auto log = serving.log();
  EXPECT_EQ(std::ranges::count_if(log, [](const std::string& line) { return line.find("dropped") != line.npos; }), 6);
}

TEST(TbxServer, RefusesConnectionBeyondTheLimit) {
  Serving serving("i965");
  std::vector<std::unique_ptr<Client>> busy;
  Messages out;
  for (unsigned i = 0; i < Server::kMaxConnections; ++i) {
    busy.push_back(std::make_unique<Client>(serving.server->port()));
    EXPECT_EQ(read_word(*busy.back(), out, 0x1000), 0u);
  }
  const Client more(serving.server->port());
  EXPECT_EQ(more.receive(1).size(), 0u);
  serving.wait_for("connection 65: refused; 64 connections are open");
  EXPECT_EQ(read_word(*busy.front(), out, 0x1000), 0u);
  busy.pop_back();
  serving.wait_for("connection 64, ");  // the connection has ended
}

// Connections that are idle after some work do not block new connections.
TEST(TbxServer, SilentConnectionIsDroppedForANewOne) {
  Serving serving("i965", false, {}, std::chrono::milliseconds(0));
  std::vector<std::unique_ptr<Client>> silent;
  Messages out;
  for (unsigned i = 0; i < Server::kMaxConnections; ++i) {
    silent.push_back(std::make_unique<Client>(serving.server->port()));
    EXPECT_EQ(read_word(*silent.back(), out, 0x1000), 0u);
  }
  const Client more(serving.server->port());
  Messages look;
  EXPECT_EQ(read_word(more, look, 0x1000), 0u);
  serving.wait_for("dropped to make room for a new connection: no message for 0 s");
  const auto log = serving.log();
  EXPECT_EQ(std::ranges::count_if(log, [](const std::string& line) { return line.find("refused") != line.npos; }), 0);
}

TEST(TbxServer, OtherClientsContinueWhenOneFails) {
  Serving serving("icl");
  Client good(serving.server->port());
  Messages out;
  out.write(0x1000, {42}).message(7, {});
  ASSERT_TRUE(good.send(out.bytes()));
  EXPECT_EQ(good.receive(3).size(), 3u);

  Client liar(serving.server->port());
  ASSERT_TRUE(liar.send(Messages().words({0, 0, 0x4000'0000}).bytes()));
  EXPECT_EQ(liar.receive(1).size(), 0u) << "ended";
  serving.wait_for("connection 2: MMIO message 0 has a body of 1073741824 bytes");

  Client leaver(serving.server->port());
  ASSERT_TRUE(leaver.send(Messages().message(7, {}).bytes()));
  EXPECT_EQ(leaver.receive(3).size(), 3u) << "a peer that leaves before it is accepted has no user";
  ASSERT_TRUE(leaver.send(Messages().message(4, {0, 0, 4096}).words({1, 2, 3}).bytes()));
  leaver.leave();
  serving.wait_for("connection 3: the peer closed the connection inside a WRITE_DATA message");

  EXPECT_EQ(read_word(good, out, 0x1000), 42u);
  Client fresh(serving.server->port());
  Messages look;
  EXPECT_EQ(read_word(fresh, look, 0x1000), 0u);
}

TEST(TbxServer, EndsWhileClientsAreConnected) {
  Serving serving("icl");
  Client idle(serving.server->port());
  Client half(serving.server->port());
  ASSERT_TRUE(half.send(Messages().words({4, 0}).bytes()));
  Client busy(serving.server->port());
  Messages out;
  EXPECT_EQ(read_word(busy, out, 0x1000), 0u);
  serving.finish();
  EXPECT_EQ(busy.receive(1).size(), 0u);
  EXPECT_EQ(idle.receive(1).size(), 0u);
}

TEST(TbxServer, ListensOnLoopbackOnly) {
  Serving serving("icl");
  EXPECT_NE(serving.server->port(), 0);
  // The port is in use on 127.0.0.1 and free on another loopback address.
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(serving.server->port());
  address.sin_addr.s_addr = htonl(0x7f00'0002);
  EXPECT_NE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  ServerOptions options;
  options.model = spec::find_device("icl");
  options.port = serving.server->port();
  const auto second = Server::listen(std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.message(), HasSubstr("cannot listen on 127.0.0.1:"));
}

// Only the file that the user named is replaced.
TEST(TbxServer, TracesOfFurtherConnectionsReplaceNoFile) {
  const fs::path folder = fs::temp_directory_path() / ("halogen_tbx_names_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "run.aub") << "old";
  std::ofstream(folder / "run-2.aub") << "kept";
  std::ofstream(folder / "victim") << "kept";
  fs::create_symlink("victim", folder / "run-3.aub");
  {
    const Product& product = kProducts[0];
    Serving serving(product.device, false, (folder / "run.aub").string());
    for (int i = 0; i < 2; ++i) {
      Client client(serving.server->port());
      NeoStream neo(product);
      neo.set_up();
      neo.submit(0x1111, 1);
      ASSERT_TRUE(client.send(neo.out().bytes()));
      EXPECT_EQ(read_word(client, neo.out(), neo.tag_page), 1u);
    }
    serving.finish();
  }
  EXPECT_GT(fs::file_size(folder / "run.aub"), 4096u);
  EXPECT_EQ(fs::file_size(folder / "run-2.aub"), 4u);
  EXPECT_EQ(fs::file_size(folder / "victim"), 4u);
  EXPECT_GT(fs::file_size(folder / "run-4.aub"), 4096u);
  fs::remove_all(folder);
}

class Recorded : public ::testing::TestWithParam<size_t> {};

TEST_P(Recorded, RunReplaysToTheSameMemory) {
  const Product& product = kProducts[GetParam()];
  const fs::path folder =
      fs::temp_directory_path() / ("halogen_tbx_" + std::to_string(GetParam()) + "_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  uint64_t served = 0;
  {
    std::ofstream(folder / "run.aub") << "an earlier trace";
    Serving serving(product.device, false, (folder / "run.aub").string());
    Client unused(
        serving.server->port());  // like the driver's other connections, which have neither a device nor a trace
    ASSERT_TRUE(unused.send(Messages().control().bytes()));
    Client client(serving.server->port());
    NeoStream neo(product);
    neo.set_up();
    neo.submit(0x1111, 1);
    neo.submit(0x2222, 2);
    ASSERT_TRUE(client.send(neo.out().bytes()));
    EXPECT_EQ(read_word(client, neo.out(), neo.tag_page), 2u);
    EXPECT_EQ(read_word(client, neo.out(), neo.buffer_page + 0x10), 0x2222u);
    client.leave();
    serving.wait_for("ended, memory=");
    serving.finish();
    served = serving.server->memory_hash();
    EXPECT_EQ(serving.server->report().total(FidelityClass::unsupported), 0u);
  }
  EXPECT_FALSE(fs::exists(folder / "run-2.aub"));
  auto source = trace::open_file(folder / "run.aub");
  ASSERT_TRUE(source.ok());
  trace::Player player;
  trace::aub::Reader reader(**source, "run.aub");
  const auto done = reader.read_all(player);
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(player.simulator()->memory_hash(), served);
  EXPECT_EQ(player.counts().checks, 2u) << "the reads of the client";
  EXPECT_EQ(player.counts().failed_checks, 0u);
  EXPECT_EQ(player.counts().skipped, 0u);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(All, Recorded, ::testing::Range(size_t{0}, std::size(kProducts)), [](const auto& each) {
  return std::string(kProducts[each.param].device) + (kProducts[each.param].local ? "_local" : "");
});

}  // namespace
}  // namespace halogen::tbx
