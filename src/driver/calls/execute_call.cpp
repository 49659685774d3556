// EXECBUFFER2: binds buffers, writes relocations, collects dependencies and turns the batch into a request.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/descriptor.h"
#include "base/exhaustion.h"
#include "base/graphics_address.h"
#include "driver/calls/ioctls.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"
#include "driver/sync/execute_fences.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kUnknownFlags =
    ~uint64_t{I915_EXEC_RING_MASK | I915_EXEC_SECURE | I915_EXEC_IS_PINNED | I915_EXEC_NO_RELOC | I915_EXEC_HANDLE_LUT |
              I915_EXEC_BSD_MASK | I915_EXEC_BATCH_FIRST | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT |
              I915_EXEC_FENCE_ARRAY | I915_EXEC_FENCE_SUBMIT | I915_EXEC_USE_EXTENSIONS};
constexpr uint64_t kUnknownObjectFlags =
    ~uint64_t{EXEC_OBJECT_NEEDS_FENCE | EXEC_OBJECT_NEEDS_GTT | EXEC_OBJECT_WRITE | EXEC_OBJECT_SUPPORTS_48B_ADDRESS |
              EXEC_OBJECT_PINNED | EXEC_OBJECT_PAD_TO_SIZE | EXEC_OBJECT_ASYNC | EXEC_OBJECT_CAPTURE};
constexpr uint32_t kMaxBuffers = 1u << 20;                   // bounds the memory of the list
constexpr uint64_t kLow = (uint64_t{1} << 32) - kPageBytes;  // end of addresses for buffers without 48-bit support
constexpr size_t kRoundsTogether = 1024;  // of the loops over lists, between two looks at other calls

class Execution {
 public:
  Execution(Call& call, drm_i915_gem_execbuffer2& arguments)
      : call_(call),
        arguments_(arguments),
        chip_(spec::interface_of(call.driver.model().id)),
        // After a look, all buffers are checked again.
        rounds_(call, std::max<size_t>(kRoundsTogether, arguments.buffer_count)) {}

  int run() {
    for (const auto step :
         {&Execution::check, &Execution::read_objects, &Execution::find_fences, &Execution::find_engine,
          &Execution::find_buffers, &Execution::wait_for_room, &Execution::settle, &Execution::submit}) {
      if (const int result = (this->*step)(); result != 0) return result;
    }
    return 0;
  }

 private:
  struct Item {
    BufferRef buffer;
    drm_i915_gem_exec_object2 object;
    uint64_t address = 0;
  };

  int check() {
    if ((arguments_.flags & kUnknownFlags) != 0) return -EINVAL;
    const bool has_list = (arguments_.flags & (I915_EXEC_FENCE_ARRAY | I915_EXEC_USE_EXTENSIONS)) != 0;
    if (!has_list && (arguments_.num_cliprects != 0 || arguments_.cliprects_ptr != 0)) return -EINVAL;
    if (arguments_.DR4 == 0xffff'ffff) arguments_.DR4 = 0;  // a value that an old driver leaves there
    if (arguments_.DR1 != 0 || arguments_.DR4 != 0) return -EINVAL;
    if (((arguments_.batch_start_offset | arguments_.batch_len) & 7) != 0) return -EINVAL;
    if (arguments_.buffer_count < 1 || arguments_.buffer_count > INT32_MAX) return -EINVAL;
    return arguments_.buffer_count > kMaxBuffers ? -ENOMEM : 0;
  }

  int read_objects() {
    auto objects = read_user_array<drm_i915_gem_exec_object2>(arguments_.buffers_ptr, arguments_.buffer_count);
    if (!objects) return -EFAULT;
    objects_ = std::move(*objects);
    return 0;
  }

  int find_fences() {
    if ((arguments_.flags & I915_EXEC_SECURE) != 0) return -chip_.secure_error;
    return fences_.read(call_, arguments_);
  }

  int find_engine() {
    const auto [context, error] = call_.file.use_context(static_cast<uint32_t>(arguments_.rsvd1));
    if (!context) return error;
    context_ = context;
    slot_ = context_->find_slot(call_.driver.gpu(), arguments_.flags);
    if (slot_ == nullptr) return -EINVAL;
    Context::balance(*slot_);
    return slot_->banned ? -EIO : 0;
  }

  int find_buffers() {
    for (const drm_i915_gem_exec_object2& object : objects_) {
      if (const int result = pass(); result != 0) return result;
      if ((object.flags & kUnknownObjectFlags) != 0) return -EINVAL;
      if (object.relocation_count != 0 && !chip_.processor_copies) return -EINVAL;
      // A context that is recovered after a hang would change the captured content.
      const bool captures = chip_.captures_in_recoverable || !context_->recoverable;
      if ((object.flags & EXEC_OBJECT_CAPTURE) != 0 && !captures) return -EINVAL;
      if ((object.flags & EXEC_OBJECT_NEEDS_GTT) != 0 && !call_.driver.gpu().shares_space()) return -EINVAL;
      if ((object.flags & EXEC_OBJECT_PINNED) != 0 && object.offset != wrapped_address(object.offset).value) {
        return -EINVAL;
      }
      if (object.alignment != 0 && (object.alignment & (object.alignment - 1)) != 0) return -EINVAL;
      Item item{call_.file.buffers.find(object.handle), object};
      if (!item.buffer) return -ENOENT;
      if (item.buffer->size() > context_->space->size()) return -E2BIG;
      if (item.buffer->purged) return -EFAULT;
      // Mappings of buffers have no pages that USERPTR could use.
      if (item.buffer->is_of_program() &&
          call_.driver.is_mapping(item.buffer->program_address(), item.buffer->size())) {
        return -EFAULT;
      }
      if (const int result = validate(item); result != 0) return result;
      if (places_.emplace(object.handle, items_.size()).second) item.buffer->sync_view();
      if ((object.flags & EXEC_OBJECT_PAD_TO_SIZE) != 0) {
        if (object.pad_to_size % kPageBytes != 0) return -EINVAL;
        if (object.pad_to_size > context_->space->size()) return -ENOSPC;
      }
      items_.push_back(std::move(item));
    }
    if (items_.size() < width()) return -EINVAL;
    first_batch_ = (arguments_.flags & I915_EXEC_BATCH_FIRST) != 0 ? 0 : items_.size() - width();
    for (size_t i = first_batch_; i < first_batch_ + width(); ++i) {
      if ((items_[i].object.flags & EXEC_OBJECT_WRITE) != 0) return -EINVAL;
      const uint64_t size = items_[i].buffer->size();
      if (arguments_.batch_start_offset >= size || arguments_.batch_len > size - arguments_.batch_start_offset) {
        return -EINVAL;
      }
    }
    return 0;
  }

  // Waits without the lock: other calls may change everything that this call has found.
  template <class Condition>
  int wait(const Condition& condition) {
    if (condition()) return 0;
    waited_ = true;
    return call_.driver.wait_call(call_.lock, condition);
  }

  // Called in each round of a long loop: like wait(), if other calls get the lock.
  int pass() {
    if (!rounds_.is_due()) return 0;
    waited_ = true;
    return rounds_.let_others_pass();
  }

  // Checks that the program's memory exists. While another thread unmaps it, waits.
  int validate(const Item& item) {
    if (item.buffer->is_leaving()) {
      const auto left = [&] { return !item.buffer->is_leaving(); };
      if (const int result = wait(left); result != 0) return result;
    }
    return item.buffer->validate();
  }

  // Repeats what may have changed during a wait.
  int validate_all() {
    for (const Item& item : items_) {
      if (item.buffer->purged) return -EFAULT;
      if (const int result = validate(item); result != 0) return result;
    }
    return 0;
  }

  // Returns whether every buffer is bound where it was, with its pages.
  bool is_settled() const {
    return std::all_of(items_.begin(), items_.end(), [&](const Item& item) {
      return item.buffer->has_pages() && !item.buffer->is_leaving() &&
             context_->space->find(*item.buffer) == item.address;
    });
  }

  // If the context's ring is full, waits until half of it is free. With O_NONBLOCK, returns EWOULDBLOCK.
  int wait_for_room() {
    for (size_t i = 0; i < width(); ++i) {
      const std::shared_ptr<EngineContext> state = context_->on(*slot_, i);
      if (!state) return -ENOMEM;
      if (state->open.size() < EngineContext::kMaxOpen) continue;
      if (call_.file.no_wait) return -EWOULDBLOCK;
      const auto half_free = [&] { return state->open.size() <= EngineContext::kMaxOpen / 2; };
      if (const int result = wait(half_free); result != 0) return result;
    }
    return slot_->banned ? -EIO : 0;
  }

  // Returns the address space that the buffer needs.
  static uint64_t room(const Item& item) {
    const bool padded = (item.object.flags & EXEC_OBJECT_PAD_TO_SIZE) != 0;
    return std::max<uint64_t>(item.buffer->size(), padded ? item.object.pad_to_size : 0);
  }

  // Binds the buffers and writes the relocations. Both may wait, and meanwhile another call may evict, purge or unmap a
  // buffer that is not yet in use: then repeats both.
  int settle() {
    constexpr int kMaxTries = 1000;
    constexpr int kTriesForRoom = 10;  // other calls may take the room again and again
    int bound = 0;
    for (int tries = 0; tries < kMaxTries; ++tries) {
      while (std::exchange(waited_, false)) {
        if (const int result = validate_all(); result != 0) return result;
      }
      bound = bind();
      if (bound == -ENOMEM && lent_memory_is_missing()) {
        waited_ = true;  // its owner may have begun to unmap it after it was validated
        continue;
      }
      if (bound == -ENOSPC && tries >= kTriesForRoom) return bound;
      if (waited_ && (bound == -ENOMEM || !is_settled())) continue;  // memory may have gone meanwhile
      if (bound != 0) return bound;
      if (const int result = relocate(tries != 0); result != 0) return result;
      if (is_settled()) return 0;
      waited_ = true;  // so the buffers are validated again
    }
    return bound != 0 ? bound : -EAGAIN;
  }

  bool lent_memory_is_missing() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](const Item& item) { return item.buffer->is_of_program() && !item.buffer->has_pages(); });
  }

  // Binds all buffers. If the space is full, evicts idle buffers; if that is not enough, waits until the device is idle
  // and evicts all.
  int bind() {
    Space& space = *context_->space;
    int result = bind_all();
    if (result != -ENOSPC) return result;
    std::unordered_set<const Buffer*> own;
    for (const Item& item : items_) own.insert(item.buffer.get());
    if (const int evicted = evict([&](const Buffer& buffer) { return !own.contains(&buffer); }); evicted != 0) {
      return evicted;
    }
    result = bind_all();
    if (result != -ENOSPC) return result;
    const auto idle = [&] { return !space.is_busy(0, space.size()); };
    if (const int waited = wait(idle); waited != 0) return waited;
    if (const int evicted = evict([](const Buffer&) { return true; }); evicted != 0) return evicted;
    return bind_all();
  }

  // Unbinds the idle buffers that may go, and lets other calls run in between.
  int evict(const std::function<bool(const Buffer&)>& may_go) {
    std::optional<uint64_t> next = 0;
    while (next) {
      next = context_->space->evict_idle(may_go, *next, kRoundsTogether);
      if (!next) break;
      waited_ = true;
      if (const int result = rounds_.let_others_pass(); result != 0) return result;
    }
    return 0;
  }

  // Order: pinned buffers, buffers that are already bound, the rest.
  int bind_all() {
    Space& space = *context_->space;
    for (Item& item : items_) {
      if ((item.object.flags & EXEC_OBJECT_PINNED) == 0) continue;
      if (const int result = pass(); result != 0) return result;
      const uint64_t address = plain_address(item.object.offset);
      const bool wide = (item.object.flags & EXEC_OBJECT_SUPPORTS_48B_ADDRESS) != 0;
      if (!wide && address + room(item) > kLow) return -EINVAL;
      // A buffer in use cannot move: wait for this buffer and for those at its new address.
      const std::optional<uint64_t> old = space.find(*item.buffer);
      if (old != address || space.room_of(*item.buffer) < room(item)) {
        const auto free = [&] { return !(old && item.buffer->is_used_here()) && !space.is_busy(address, room(item)); };
        if (const int result = wait(free); result != 0) return result;
      }
      if (const int result = space.bind_at(item.buffer, address, room(item)); result != 0) return result;
    }
    for (const Item& item : items_) {  // two buffers with the same pinned address
      const bool pinned = (item.object.flags & EXEC_OBJECT_PINNED) != 0;
      if (pinned && space.find(*item.buffer) != plain_address(item.object.offset)) return -ENOSPC;
    }
    for (Item& item : items_) {
      if (const int result = pass(); result != 0) return result;
      const uint64_t alignment = std::max<uint64_t>(item.object.alignment, kPageBytes);
      const bool wide = (item.object.flags & EXEC_OBJECT_SUPPORTS_48B_ADDRESS) != 0;
      const uint64_t limit = std::min(space.size(), wide ? ~uint64_t{0} : kLow);
      std::optional<uint64_t> address = space.find(*item.buffer);
      if ((item.object.flags & EXEC_OBJECT_PINNED) == 0 && address &&
          (*address % alignment != 0 || space.room_of(*item.buffer) < room(item) || *address + room(item) > limit)) {
        const auto idle = [&] { return !item.buffer->is_used_here(); };
        if (const int result = wait(idle); result != 0) return result;
        space.unbind(*item.buffer);
        address.reset();
      }
      // An unbound buffer is bound at its presumed offset if that is non-zero and free.
      const uint64_t hint = plain_address(item.object.offset);
      if (!address && hint != 0 && hint % alignment == 0 && hint + room(item) <= limit &&
          space.bind_if_free(item.buffer, hint, room(item))) {
        address = hint;
      }
      if (!address) {
        if (const int result = space.bind(item.buffer, alignment, limit, room(item)); result != 0) return result;
        address = space.find(*item.buffer);
      }
      item.address = *address;
    }
    return 0;
  }

  // `again`: the buffers hold addresses of the previous attempt.
  int relocate(bool again) {
    const bool trusted = !again && (arguments_.flags & I915_EXEC_NO_RELOC) != 0;
    const bool moved = std::any_of(items_.begin(), items_.end(), [](const Item& item) {
      return item.object.offset != wrapped_address(item.address).value;
    });
    for (Item& item : items_) {
      if (item.object.relocation_count == 0 || (trusted && !moved)) continue;
      if (const int result = relocate(item); result != 0) return result;
    }
    return 0;
  }

  int relocate(Item& item) {
    constexpr uint32_t kMax = 1u << 24;
    if (item.object.relocation_count > kMax) return -EFAULT;  // longer than any valid list
    auto list = read_user_array<drm_i915_gem_relocation_entry>(item.object.relocs_ptr, item.object.relocation_count);
    if (!list) return -EFAULT;
    const uint64_t bytes = spec::interface_of(call_.driver.gpu().hardware().model().id).relocation_bits / 8;
    for (drm_i915_gem_relocation_entry& entry : *list) {
      if (rounds_.is_due()) {
        waited_ = true;
        if (const int result = rounds_.let_others_pass(); result != 0) return result;
        if (!is_settled()) return 0;
      }
      Item* const target = find(entry.target_handle);
      if (target == nullptr) return -ENOENT;
      if ((entry.write_domain & (entry.write_domain - 1)) != 0) return -EINVAL;
      if (((entry.write_domain | entry.read_domains) & ~kGpuDomains) != 0) return -EINVAL;
      if (entry.write_domain != 0) target->object.flags |= EXEC_OBJECT_WRITE;
      const uint64_t address = wrapped_address(target->address).value;
      if (entry.presumed_offset == address) continue;
      if (entry.offset % 4 != 0 || entry.offset + bytes > item.buffer->size() || entry.offset + bytes < bytes) {
        return -EINVAL;
      }
      if (item.buffer->tiling != Tiling::linear) return -EINVAL;  // the address of the dword is unknown
      // The CPU writes: wait until the device has read the old values.
      const auto idle = [&] { return !item.buffer->is_busy(true); };
      if (!idle()) {
        if (const int result = wait(idle); result != 0) return result;
        if (!is_settled()) return 0;  // the buffer may be gone, or another one may have moved
      }
      const auto delta =
          static_cast<uint64_t>(int64_t{static_cast<int32_t>(entry.delta)});  // signed: may point before the target
      const uint64_t value = wrapped_address(address + delta).value;
      if (!item.buffer->write(entry.offset, std::as_bytes(std::span(&value, 1)).first(bytes))) return -EFAULT;
      entry.presumed_offset = address;
    }
    write_user(item.object.relocs_ptr, list->data(), list->size() * sizeof(drm_i915_gem_relocation_entry));
    return 0;
  }

  Item* find(uint32_t handle) {
    if ((arguments_.flags & I915_EXEC_HANDLE_LUT) != 0) return handle < items_.size() ? &items_[handle] : nullptr;
    const auto found = places_.find(handle);
    return found == places_.end() ? nullptr : &items_[found->second];
  }

  // Parallel engines have one batch each and start together.
  size_t width() const { return slot_->parallel.empty() ? 1 : slot_->parallel.size(); }

  int submit() {
    if (context_->owner == nullptr) return -ENOENT;  // destroyed during a wait
    if (slot_->banned) return -EIO;
    // For buffers shared with other processes, the second submission waits for the first.
    SharedLocks others;
    for (const Item& item : items_) {
      const std::shared_ptr<SharedFences>& fences = item.buffer->shared_fences();
      if (fences && fences->page().has_others()) others.add(fences);
    }
    others.lock();
    std::vector<RequestRef> requests;
    size_t queued = 0;
    Descriptor out_fence;
    // If the host is exhausted below, everything that already refers to a request finds it failed.
    const AtEnd cancel([&] {
      for (; queued < requests.size(); ++queued) {
        requests[queued]->keeps.clear();
        requests[queued]->signal(-ENOMEM);
      }
    });
    for (size_t i = 0; i < width(); ++i) {
      RequestRef request = make_request(i);
      if (!request) return -ENOMEM;
      if (i != 0) request->partners.push_back(requests.front());
      requests.push_back(std::move(request));
    }
    const FenceRef done = width() == 1 ? requests.front() : all_of({requests.begin(), requests.end()});
    if ((arguments_.flags & I915_EXEC_FENCE_OUT) != 0) {
      constexpr size_t kUpperHalf = offsetof(drm_i915_gem_execbuffer2, rsvd2) + sizeof(uint32_t);
      const int descriptor = give_in_argument(call_.driver.sync_files().create(done), kUpperHalf);
      if (descriptor < 0) return descriptor;
      out_fence = Descriptor(descriptor);
    }
    for (const RequestRef& request : requests) {
      for (Item& item : items_) item.buffer->add_fence(request, (item.object.flags & EXEC_OBJECT_WRITE) != 0);
    }
    fences_.fill(done);
    if (context_->single_timeline) context_->last = done;
    call_.file.add_work(requests.back());
    for (; queued < requests.size(); ++queued) {
      call_.driver.queue(requests[queued]->context->queue(), requests[queued]);
    }
    if (out_fence) {
      const uint64_t number = static_cast<uint32_t>(out_fence.release());
      arguments_.rsvd2 = (arguments_.rsvd2 & 0xffff'ffff) | number << 32;
    }
    tell_addresses();
    return 0;
  }

  RequestRef make_request(size_t index) {
    auto request = std::make_shared<Request>();
    request->context = context_->on(*slot_, index);
    if (!request->context) return nullptr;
    request->owner = context_;
    request->flags = arguments_.flags;
    request->priority = context_->priority;
    request->timeline = request->context->timeline();
    request->number = request->context->queue().take_number();
    request->engine_class = user_class(request->context->queue().engine().engine_class);
    request->batch = items_[first_batch_ + index].address + arguments_.batch_start_offset;
    request->keeps.push_back(context_->space);
    OpenFences waits(request->timeline);  // requests of one context on one engine complete in order anyway
    for (Item& item : items_) {
      const bool write = (item.object.flags & EXEC_OBJECT_WRITE) != 0;
      if ((item.object.flags & EXEC_OBJECT_ASYNC) == 0) {
        for (const FenceRef& fence : item.buffer->fences(write)) waits.add(fence);
      }
      request->keeps.push_back(item.buffer);
      if (item.buffer->tiling != Tiling::linear) request->tiled.push_back(item.buffer);
    }
    if (context_->single_timeline && context_->last) waits.add(context_->last);
    fences_.hold(*request, waits);
    request->waits = waits.take();
    if (!slot_->siblings.empty()) slot_->last = request;
    return request;
  }

  void tell_addresses() const {
    for (size_t i = 0; i < items_.size(); ++i) {
      const uint64_t address = wrapped_address(items_[i].address).value;
      if (address == objects_[i].offset) continue;
      const uint64_t field_address =
          arguments_.buffers_ptr + i * sizeof(drm_i915_gem_exec_object2) + offsetof(drm_i915_gem_exec_object2, offset);
      write_user(field_address, &address, sizeof address);
    }
  }

  Call& call_;
  drm_i915_gem_execbuffer2& arguments_;
  const spec::InterfaceModel& chip_;
  LongLoop rounds_;
  std::vector<drm_i915_gem_exec_object2> objects_;  // as the program passed them
  ExecuteFences fences_;
  ContextRef context_;
  EngineSlot* slot_ = nullptr;
  std::vector<Item> items_;
  std::unordered_map<uint32_t, size_t> places_;
  size_t first_batch_ = 0;
  bool waited_ = false;  // since the buffers were last validated
};

}  // namespace

int execute(Call& call, drm_i915_gem_execbuffer2& execute) {
  return Execution(call, execute).run();
}

}  // namespace halogen::driver
