#include "tbx/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace halogen::tbx {
namespace {

TEST(SocketChannel, StopsBetweenBufferedMessages) {
  std::array<int, 2> sockets{}, stop{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  ASSERT_EQ(::pipe(stop.data()), 0);
  SocketChannel channel(sockets[0], stop[0]);
  const std::array<std::byte, 1024> many{};
  ASSERT_EQ(::write(sockets[1], many.data(), many.size()), static_cast<ssize_t>(many.size()));
  std::array<std::byte, 12> message{};
  EXPECT_EQ(channel.read(message), message.size());
  ASSERT_EQ(::write(stop[1], "", 1), 1);
  EXPECT_EQ(channel.read(message), 0u) << "the server ends; the remaining input is discarded";
  for (const int descriptor : {sockets[1], stop[0], stop[1]}) ::close(descriptor);
}

}  // namespace
}  // namespace halogen::tbx
