// Calls on a node whose device is in another process. The caller creates a socket pair and sends one end through the
// node. Calls and replies then go through the other end, or through a shared page (board.h). The process with the
// device accesses the caller's memory by its process id. Descriptors in arguments are sent with the message and
// renumbered.
//
// Not supported: signals do not interrupt a call that waits in the other process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "board.h"

namespace halogen::shim {

// Send and receive a message with at most one descriptor. -1: no descriptor.
bool send_message(int channel, const void* data, size_t bytes, int descriptor);
// `polling`: polls for a while before the thread sleeps, because a wake-up takes longer.
enum class Wait { sleeping, polling };
ssize_t receive_message(int channel, void* data, size_t bytes, int& descriptor, Wait wait = Wait::sleeping);

// The positions of descriptors in an argument.
struct DescriptorFields {
  std::optional<size_t> in;   // passed by the program
  std::optional<size_t> out;  // returned to it
};
// Examines the argument, because for some calls the positions depend on flags.
DescriptorFields descriptor_fields(unsigned long request, uint64_t argument);

// Returns whether the request is EXECBUFFER2, for which O_NONBLOCK of the descriptor matters.
bool is_execution(unsigned long request);
bool has_no_wait(int descriptor);

class Remote {
 public:
  int ioctl(int node, unsigned long request, uint64_t argument);
  // Handles GEM_MMAP, which maps inside the call.
  int map_now(int node, uint64_t argument);
  void* map(int node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

 private:
  // Makes a call. `by_message`: a descriptor may be returned. False: no process answers.
  bool ask(int node, const RemoteCall& call, int given, bool by_message, RemoteAnswer& answer, int& got);
  struct Channel {
    int socket = -1;
    Board* board = nullptr;  // null: messages only
  };
  Channel take_channel(int node);
  void give_channel(Channel channel);
  void drop_channel(Channel channel);

  std::mutex guard_;
  pid_t pid_ = 0;  // owner of the channels
  std::vector<Channel> idle_;
};

}  // namespace halogen::shim
