// Messages on sockets between processes: a few bytes, descriptors, and the identity of the sender as the host's kernel
// reports it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace halogen::shim {

// Descriptors of this process that are closed when the object ends.
class Descriptors {
 public:
  static constexpr size_t kMax = 253;  // of one message, in Linux
  Descriptors() = default;
  ~Descriptors() { close_all(); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  size_t size() const { return count_; }
  int operator[](size_t index) const { return list_[index]; }
  std::span<const int> all() const { return {list_.data(), count_}; }
  void add(int descriptor);
  int take(size_t index) { return std::exchange(list_[index], -1); }  // the caller closes it
  void close_all();

 private:
  std::array<int, kMax> list_;
  size_t count_ = 0;
};

// A process at the time when it sent a message.
struct Sender {
  pid_t process = 0;  // 0: not visible in this PID namespace, or not reported
  uid_t user = 0;
};

// Lets the host's kernel add the sender to messages that arrive here.
bool want_senders(int socket);
enum class Wait { sleeping, never };
// False: not sent whole.
bool send_message(int socket, const void* data, size_t bytes, std::span<const int> descriptors, Wait wait);
// Returns the length of the message, 0 at the end, or -1 with errno. Adds all its descriptors.
ssize_t receive_message(int socket, void* data, size_t bytes, Descriptors& descriptors, Sender* sender, Wait wait);

// Returns the sender of the next message, which stays there, on a socket that wants senders. No value: none is there.
std::optional<Sender> next_sender(int socket);
// Drops the next message. Its descriptors are not opened here: to close a file can take as long as its maker wants.
void drop_message(int socket);

// Kinds of messages on a channel, one byte each.
inline constexpr char kWake = 'w';
inline constexpr char kDescriptors = 'd';
// The client's second message: it got the answer to its first one.
inline constexpr char kConfirm = 'k';

// The first message, through the node, with a descriptor of the channel; and its answer, with one of the board.
struct Hello {
  char word = 'c';
  unsigned char version = 0;
};
struct HelloAnswer {
  int result = 0;  // 0 or a negative errno
  unsigned version = 0;
};

}  // namespace halogen::shim
