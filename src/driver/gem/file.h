// An open device node: buffers, contexts and address spaces by handle.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "driver/gem/buffer.h"
#include "driver/gem/context.h"
#include "driver/gem/id_table.h"
#include "driver/gem/space.h"
#include "driver/perf/client_load.h"
#include "driver/sync/sync_object.h"

namespace halogen::driver {

struct File {
  IdTable<BufferRef> buffers{1};
  IdTable<ContextRef> contexts{0};  // 0 is the default context
  IdTable<std::shared_ptr<Space>> spaces{1};

  // Hangs of its contexts: with too many of them, it cannot create contexts any more.
  Context::Clock::time_point last_hang = Context::Clock::now();
  uint32_t ban_score = 0;

  // Returns a context that is about to be used, or null with -ENOENT or its engine map's error.
  std::pair<ContextRef, int> use_context(uint32_t id) const {
    ContextRef context = contexts.find(id);
    if (!context) return {nullptr, -ENOENT};
    const int result = context->begin();
    if (result != 0) return {nullptr, result};
    return {std::move(context), 0};
  }
  IdTable<SyncObjectRef> sync_objects{1};

  // Returns the one handle of an imported or exported buffer, until that is closed. 0: none.
  uint32_t handle_of(const Buffer& buffer) const {
    const auto found = shared_handles.find(&buffer);
    if (found == shared_handles.end() || buffers.find(found->second).get() != &buffer) return 0;
    return found->second;
  }
  void remember(const BufferRef& buffer, uint32_t handle) {
    std::erase_if(shared_handles, [&](const auto& each) { return buffers.find(each.second).get() != each.first; });
    shared_handles.try_emplace(buffer.get(), handle);
  }
  std::unordered_map<const Buffer*, uint32_t> shared_handles;

  // Work in flight with its time of submission, in order (THROTTLE).
  struct Work {
    FenceRef fence;
    Context::Clock::time_point since;
  };
  std::deque<Work> work;
  void add_work(FenceRef fence) {
    while (!work.empty() && work.front().fence->done) work.pop_front();
    work.push_back({std::move(fence), Context::Clock::now()});
  }

  std::shared_ptr<ClientLoad> load;  // null: there are no monitors

  // Releases everything, when the node is closed.
  void release() {
    if (load) load->leave();
    buffers.clear();
    contexts.clear();
    spaces.clear();
    sync_objects.clear();
    shared_handles.clear();
    work.clear();
    unsent.clear();
    events = -1;
  }

  // The kind of node, and the capabilities that its program enabled (kms.h).
  bool render = false;
  bool closed = false;   // only calls of other threads and processes that are still on their way may refer to it
  bool no_wait = false;  // of the current call: EXECBUFFER2 does not wait for ring space
  bool authenticated = false;
  bool was_master = false;
  bool atomic = false;
  bool universal_planes = false;
  uint32_t magic = 0;
  int events = -1;                            // a socket that the program reads
  std::deque<std::vector<std::byte>> unsent;  // events that did not fit the socket
};

}  // namespace halogen::driver
