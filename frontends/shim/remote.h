// Calls on a node whose device is in another process (the owner): the client's side of docs/client-protocol.md. A call
// carries copies of this process's memory; the answer carries what to write there.
//
// Not supported: signals do not interrupt a call that waits in the owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "board.h"
#include "remote_call.h"

namespace halogen::shim {

// Returns whether the request is EXECBUFFER2, for which O_NONBLOCK of the descriptor matters.
bool is_execution(unsigned long request);
bool has_no_wait(int descriptor);

class Remote {
 public:
  int ioctl(int node, unsigned long request, uint64_t argument);
  // Make a call on a stream of performance counters that the owner may have. EIO: it has not, or it cannot be reached.
  int read_stream(int stream, uint64_t address, uint64_t bytes);
  int stream_ioctl(int stream, unsigned long request, uint64_t argument);
  void* map(int node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

 private:
  struct Channel {
    int socket = -1;
    std::unique_ptr<Board> board;
  };
  // Returns 0 or a negative errno.
  int take_channel(int node, Channel& channel);
  static int open_channel(int node, Channel& channel);
  void give_channel(Channel channel);
  static void drop_channel(Channel channel);

  int node_again();
  // Makes a call. Returns its result. `answered`: what came with it, in a channel that it returns.
  int make(int node, RemoteCall::Content& content);
  int call(int node, unsigned long request, uint64_t argument);
  int copy_in_chunks(int node, unsigned long request, uint64_t argument);
  // Handles GEM_MMAP, which maps inside the call.
  int map_now(int node, uint64_t argument);

  std::mutex guard_;
  pid_t pid_ = 0;  // owner of the channels
  std::vector<Channel> idle_;
  // The node of the last call, for calls that name none. The program may have closed it since.
  int last_node_ = -1;
  ino_t last_inode_ = 0;
};

}  // namespace halogen::shim
