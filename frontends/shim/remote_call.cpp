#include "remote_call.h"

#include <fcntl.h>
#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "driver/gem/user_memory.h"

namespace halogen::shim {
namespace {

constexpr unsigned kI915 = DRM_COMMAND_BASE;

// Lists of handles: their addresses and lengths in the argument.
struct List {
  unsigned number;        // of the ioctl
  size_t address, count;  // offsets in the argument
  unsigned item_bytes;
};
constexpr List kLists[] = {
    {0xc3, offsetof(drm_syncobj_wait, handles), offsetof(drm_syncobj_wait, count_handles), 4},
    {0xc4, offsetof(drm_syncobj_array, handles), offsetof(drm_syncobj_array, count_handles), 4},
    {0xc5, offsetof(drm_syncobj_array, handles), offsetof(drm_syncobj_array, count_handles), 4},
    {0xca, offsetof(drm_syncobj_timeline_wait, handles), offsetof(drm_syncobj_timeline_wait, count_handles), 4},
    {0xca, offsetof(drm_syncobj_timeline_wait, points), offsetof(drm_syncobj_timeline_wait, count_handles), 8},
    {0xcb, offsetof(drm_syncobj_timeline_array, handles), offsetof(drm_syncobj_timeline_array, count_handles), 4},
    {0xcd, offsetof(drm_syncobj_timeline_array, handles), offsetof(drm_syncobj_timeline_array, count_handles), 4},
    {0xcd, offsetof(drm_syncobj_timeline_array, points), offsetof(drm_syncobj_timeline_array, count_handles), 8},
    {0xbd, offsetof(drm_mode_create_blob, data), offsetof(drm_mode_create_blob, length), 1},
    {kI915 + DRM_I915_QUERY, offsetof(drm_i915_query, items_ptr), offsetof(drm_i915_query, num_items),
     sizeof(drm_i915_query_item)},
    {kI915 + DRM_I915_GEM_PWRITE, offsetof(drm_i915_gem_pwrite, data_ptr), offsetof(drm_i915_gem_pwrite, size), 1},
    {kI915 + DRM_I915_GEM_CONTEXT_SETPARAM, offsetof(drm_i915_gem_context_param, value),
     offsetof(drm_i915_gem_context_param, size), 1},
    {kI915 + DRM_I915_PERF_OPEN, offsetof(drm_i915_perf_open_param, properties_ptr),
     offsetof(drm_i915_perf_open_param, num_properties), 16},
};
constexpr uint64_t kLongestList = size_t{2} << 20;  // longer ones are sent if the owner asks for them

struct DescriptorField {
  unsigned number;
  size_t offset;
};
constexpr DescriptorField kFields[] = {
    {0x2e, offsetof(drm_prime_handle, fd)},
    {0xc2, offsetof(drm_syncobj_handle, fd)},
};

template <class T>
T value_at(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset <= bytes.size() && sizeof value <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

}  // namespace

RemoteCall::RemoteCall(Board& board, Content& content)
    : board_(board), content_(content), writer_(board.request_area()) {
  head_.ask = content.ask;
  head_.no_wait = content.no_wait ? 1 : 0;
  head_.request = content.request;
  head_.argument = content.argument;
  head_.handle = content.handle;
  writer_.add(head_);
}

bool RemoteCall::add_memory(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return true;
  const std::span<std::byte> place = writer_.add_part(address, bytes);
  if (place.size() != bytes) return false;
  if (!driver::read_user(address, place.data(), bytes)) {
    writer_.remove_part(bytes);
    return false;
  }
  ++head_.pieces;
  return true;
}

void RemoteCall::add_descriptor(int number) {
  if (number < 0 || head_.passed == kMaxPassed) return;
  const bool is_open = fcntl(number, F_GETFD) >= 0;
  head_.numbers[head_.passed++] = {number, is_open ? 1u : 0u};
  if (is_open) passed_.push_back(number);
}

int RemoteCall::add_argument() {
  if (content_.ask != Ask::ioctl || (_IOC_DIR(content_.request) & _IOC_WRITE) == 0) return 0;
  const size_t bytes = _IOC_SIZE(content_.request);
  const size_t start = writer_.used() + sizeof(PartHead);
  if (!add_memory(content_.argument, bytes)) return -EFAULT;
  const std::span<const std::byte> argument = board_.request_area().subspan(start, bytes);
  const unsigned number = _IOC_NR(content_.request);
  for (const List& each : kLists) {
    if (each.number != number) continue;
    const uint64_t count = number == kI915 + DRM_I915_GEM_PWRITE ? value_at<uint64_t>(argument, each.count)
                                                                 : value_at<uint32_t>(argument, each.count);
    if (count > kLongestList / each.item_bytes) continue;
    add_memory(value_at<uint64_t>(argument, each.address), count * each.item_bytes);
  }
  for (const DescriptorField& each : kFields) {
    if (each.number == number) add_descriptor(value_at<int>(argument, each.offset));
  }
  return 0;
}

// Adds the lists that EXECBUFFER2 names. With NO_RELOC the owner seldom needs relocations, and asks for them.
void RemoteCall::add_execution() {
  const auto arguments = driver::read_user<drm_i915_gem_execbuffer2>(content_.argument);
  if (!arguments || arguments->buffer_count > kLongestList / sizeof(drm_i915_gem_exec_object2)) return;
  const size_t start = writer_.used() + sizeof(PartHead);
  const uint64_t bytes = arguments->buffer_count * sizeof(drm_i915_gem_exec_object2);
  if (!add_memory(arguments->buffers_ptr, bytes)) return;
  const std::span<const std::byte> list = board_.request_area().subspan(start, bytes);
  for (uint64_t at = 0; at < bytes && (arguments->flags & I915_EXEC_NO_RELOC) == 0;
       at += sizeof(drm_i915_gem_exec_object2)) {
    const auto object = value_at<drm_i915_gem_exec_object2>(list, at);
    if (object.relocation_count == 0) continue;
    add_memory(object.relocs_ptr, uint64_t{object.relocation_count} * sizeof(drm_i915_gem_relocation_entry));
  }
  if ((arguments->flags & I915_EXEC_FENCE_ARRAY) != 0) {
    add_memory(arguments->cliprects_ptr, uint64_t{arguments->num_cliprects} * sizeof(drm_i915_gem_exec_fence));
  }
  if ((arguments->flags & (I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT)) != 0) {
    add_descriptor(static_cast<int>(arguments->rsvd2 & 0xffff'ffff));
  }
}

void RemoteCall::add_atomic() {
  const auto atomic = driver::read_user<drm_mode_atomic>(content_.argument);
  if (!atomic || atomic->count_objs > kLongestList / 4) return;
  const auto counts = driver::read_user_array<uint32_t>(atomic->count_props_ptr, atomic->count_objs);
  if (!counts) return;
  uint64_t all = 0;
  for (const uint32_t count : *counts) all += count;
  add_memory(atomic->objs_ptr, uint64_t{atomic->count_objs} * 4);
  add_memory(atomic->count_props_ptr, uint64_t{atomic->count_objs} * 4);
  if (all > kLongestList / 12) return;
  add_memory(atomic->props_ptr, all * 4);
  add_memory(atomic->prop_values_ptr, all * 8);
}

// Sends at once what the driver will read. It asks for what is missing.
void RemoteCall::add_known_parts() {
  if (content_.ask != Ask::ioctl) return;
  const unsigned number = _IOC_NR(content_.request);
  if (number == kI915 + DRM_I915_GEM_EXECBUFFER2) add_execution();
  if (number == _IOC_NR(DRM_IOCTL_MODE_ATOMIC)) add_atomic();
}

// Returns whether a number occurs in the memory that the call passes. The owner gets no other descriptor.
bool RemoteCall::mentions(int number) const {
  const std::span<const std::byte> all = board_.request_area().subspan(sizeof head_, writer_.used() - sizeof head_);
  for (size_t at = 0; at + sizeof number <= all.size(); at += sizeof number) {
    if (value_at<int>(all, at) == number) return true;
  }
  return false;
}

// Adds what the owner asks for. Returns 0 or a negative errno.
int RemoteCall::supply(const Answer& answer) {
  for (const int number : answer.wanted) {
    if (!mentions(number) || head_.passed == kMaxPassed) return -EINVAL;
    add_descriptor(number);
  }
  for (const PartHead& each : answer.missing) {
    if (each.bytes > kMaxRequestBytes - std::min(kMaxRequestBytes, writer_.used())) return -ENOMEM;
    if (!add_memory(each.address, each.bytes)) return -EFAULT;
  }
  return 0;
}

int RemoteCall::apply(const Answer& answer, Descriptors& received) {
  if (answer.made.size() != received.size()) return -EIO;
  content_.answer = answer.head;
  bool written = true;
  for (const Part& each : answer.writes) {
    written = driver::write_user(each.address, each.bytes.data(), each.bytes.size()) && written;
  }
  if (content_.ask != Ask::ioctl) {
    if (received.size() == 1) content_.file = received.take(0);
    return static_cast<int>(answer.head.result);
  }
  auto result = static_cast<int>(answer.head.result);
  for (size_t i = 0; i < received.size() && written; ++i) {
    const int number = received[i];
    if (answer.made[i].stays_open != 0) fcntl(number, F_SETFD, 0);
    if (answer.made[i].position == 0) {
      result = number;
    } else {
      written = driver::write_user(answer.made[i].position, &number, sizeof number);
    }
  }
  if (!written) return -EFAULT;
  for (size_t i = 0; i < received.size(); ++i) received.take(i);  // the program's
  return result;
}

std::optional<int> RemoteCall::make(int channel) {
  constexpr int kMaxRounds = 1024;  // more than a chain of extensions is long
  if (const int result = add_argument(); result != 0) return result;
  add_known_parts();
  if (content_.stream >= 0) add_descriptor(content_.stream);
  for (int round = 0; round < kMaxRounds; ++round) {
    writer_.set_head(head_);
    Descriptors received;
    const auto bytes = board_.ask(channel, writer_.used(), passed_, received);
    const std::optional<Answer> answer = bytes ? decode_answer(*bytes) : std::nullopt;
    if (!answer) return std::nullopt;
    if (answer->missing.empty() && answer->wanted.empty()) return apply(*answer, received);
    if (const int result = supply(*answer); result != 0) return result;
  }
  return -E2BIG;
}

}  // namespace halogen::shim
