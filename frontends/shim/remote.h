// Calls of a process on a node whose device is in another one. The caller makes a pair of sockets and sends one of them
// through the node; on the other it then sends calls and gets answers, or both use a page (board.h). The process with
// the device reaches the caller's memory by its process number. Descriptors inside arguments travel with the message
// and are renumbered.
//
// Left out: signals do not interrupt a call that waits in the other process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "board.h"

namespace halogen::shim {

// Messages with at most one descriptor. Received: -1 when there is none.
bool send_message(int channel, const void* data, size_t bytes, int descriptor);
// `looking`: what is about to come is looked for a while before the thread sleeps, because to be woken takes longer.
enum class Wait { sleeping, looking };
ssize_t receive_message(int channel, void* data, size_t bytes, int& descriptor, Wait wait = Wait::sleeping);

// Where an argument holds descriptors.
struct DescriptorFields {
  std::optional<size_t> in;   // the program gives one
  std::optional<size_t> out;  // it gets one
};
// Looks at the argument: for some calls it depends on flags.
DescriptorFields descriptor_fields(unsigned long request, uint64_t argument);

// EXECBUFFER2, which may not want to wait: the descriptor knows.
bool is_execution(unsigned long request);
bool has_no_wait(int descriptor);

class Remote {
 public:
  int ioctl(int node, unsigned long request, uint64_t argument);
  // GEM_MMAP, which maps in the kernel.
  int map_now(int node, uint64_t argument);
  void* map(int node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

 private:
  // False: nobody answers any more. `by_message`: a descriptor may come back.
  bool ask(int node, const RemoteCall& call, int given, bool by_message, RemoteAnswer& answer, int& got);
  struct Channel {
    int socket = -1;
    Board* board = nullptr;  // null: messages alone
  };
  Channel take_channel(int node);
  void give_channel(Channel channel);
  void drop_channel(Channel channel);

  std::mutex guard_;
  pid_t pid_ = 0;  // whose channels these are
  std::vector<Channel> idle_;
};

}  // namespace halogen::shim
