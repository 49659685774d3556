// Calls on buffers.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "driver/calls/extensions.h"
#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

uint64_t whole_pages(uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Creates a buffer and its handle. Rounds the size up to whole pages.
int add_buffer(Call& call, uint64_t& size, bool local, uint32_t& handle) {
  const uint64_t bytes = whole_pages(size);
  if (bytes == 0) return -EINVAL;
  if (bytes < size || bytes / kPageBytes > INT32_MAX) return -E2BIG;
  Hardware& hardware = call.driver.gpu().hardware();
  const spec::InterfaceModel& chip = spec::interface_of(hardware.model().id);
  // Memory is allocated at the first use. The address space to map managed buffers at is limited.
  constexpr uint64_t kMapped = uint64_t{1} << 40;
  if (chip.managed_buffers && bytes >= kMapped) return -ENXIO;
  size = bytes;
  auto buffer = std::make_shared<Buffer>(hardware, bytes, local);
  if (chip.llc) buffer->caching = I915_CACHING_CACHED;
  handle = call.file.buffers.add(std::move(buffer));
  return 0;
}

bool inside(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  return offset <= buffer.size() && bytes <= buffer.size() - offset;
}

int wait_idle(Call& call, const BufferRef& buffer, bool also_reads) {
  return call.driver.wait_call(call.lock, [&] { return !buffer->is_busy(also_reads); });
}

}  // namespace

// Creates a buffer in system memory, also on chips with local memory.
int create_buffer(Call& call, drm_i915_gem_create& create) {
  uint64_t size = create.size;
  const int result = add_buffer(call, size, false, create.handle);
  if (result == 0) create.size = size;
  return result;
}

int create_buffer_ext(Call& call, drm_i915_gem_create_ext& create) {
  if ((create.flags & ~uint32_t{I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS}) != 0) return -EINVAL;
  Hardware& hardware = call.driver.gpu().hardware();
  std::vector<bool> places;  // local or not, in order of preference
  const auto add_regions = [&](uint64_t address) -> int {
    const auto regions = read_user<drm_i915_gem_create_ext_memory_regions>(address);
    if (!regions) return -EFAULT;
    constexpr uint32_t kMaxRegions = 4;
    if (regions->pad != 0 || regions->num_regions == 0 || regions->num_regions > kMaxRegions) return -EINVAL;
    const auto list = read_user_array<drm_i915_gem_memory_class_instance>(regions->regions, regions->num_regions);
    if (!list) return -EFAULT;
    std::vector<bool> found;
    for (const drm_i915_gem_memory_class_instance& each : *list) {
      const bool local = each.memory_class == I915_MEMORY_CLASS_DEVICE;
      const bool known =
          each.memory_class == I915_MEMORY_CLASS_SYSTEM || (local && hardware.has(spec::Feature::local_memory));
      if (!known || each.memory_instance != 0) return -EINVAL;
      if (std::find(found.begin(), found.end(), local) != found.end()) return -EINVAL;  // the same region twice
      found.push_back(local);
    }
    if (!places.empty()) return -EINVAL;
    places = std::move(found);
    return 0;
  };
  const int read = for_each_extension(create.extensions, [&](uint32_t name, uint64_t address) -> int {
    switch (name) {
      case I915_GEM_CREATE_EXT_MEMORY_REGIONS:
        return add_regions(address);
      case I915_GEM_CREATE_EXT_PROTECTED_CONTENT: {
        const auto content = read_user<drm_i915_gem_create_ext_protected_content>(address);
        if (!content) return -EFAULT;
        return content->flags != 0 ? -EINVAL : -ENODEV;
      }
      default:
        return -EINVAL;
    }
  });
  if (read != 0) return read;
  if (places.empty()) places.push_back(false);
  // A buffer with CPU access must be movable to system memory.
  if ((create.flags & I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS) != 0 && places.size() == 1) return -EINVAL;
  uint64_t size = create.size;
  const int result = add_buffer(call, size, places.front(), create.handle);
  if (result == 0) create.size = size;
  return result;
}

int close_buffer(Call& call, drm_gem_close& close) {
  const BufferRef buffer = call.file.buffers.remove(close.handle);
  if (!buffer) return -EINVAL;
  if (buffer.use_count() == 1) call.driver.forget_offset(*buffer);
  return 0;
}

int read_buffer(Call& call, drm_i915_gem_pread& read) {
  if (!spec::interface_of(call.driver.model().id).processor_copies) return -EOPNOTSUPP;
  if (read.size == 0) return 0;
  if (!is_user_range(read.data_ptr, read.size)) return -EFAULT;
  const BufferRef buffer = call.file.buffers.find(read.handle);
  if (!buffer) return -ENOENT;
  if (!inside(*buffer, read.offset, read.size) || buffer->is_of_program()) return -EINVAL;
  if (buffer->purged) return -EFAULT;
  if (!buffer->need_content()) return -ENOMEM;
  if (!buffer->has_pages() && !is_own_process()) return -ENOMEM;
  buffer->attached = true;
  if (const int result = wait_idle(call, buffer, false); result != 0) return result;
  buffer->sync_view();
  if (!is_own_process()) {
    const auto from = buffer->bytes().subspan(read.offset, read.size);
    return write_user(read.data_ptr, from.data(), from.size()) ? 0 : -EFAULT;
  }
  const uint64_t file_offset = buffer->offset() + read.offset;
  return write_user_from_file(read.data_ptr, buffer->descriptor(), file_offset, read.size) ? 0 : -EFAULT;
}

int write_buffer(Call& call, drm_i915_gem_pwrite& write) {
  if (!spec::interface_of(call.driver.model().id).processor_copies) return -EOPNOTSUPP;
  if (write.size == 0) return 0;
  if (!is_user_range(write.data_ptr, write.size)) return -EFAULT;
  const BufferRef buffer = call.file.buffers.find(write.handle);
  if (!buffer) return -ENOENT;
  if (!inside(*buffer, write.offset, write.size) || buffer->is_of_program()) return -EINVAL;
  if (buffer->purged) return -EFAULT;
  if (!buffer->need_content()) return -ENOMEM;
  if (!buffer->has_pages() && !is_own_process()) return -ENOMEM;
  if (const int result = wait_idle(call, buffer, true); result != 0) return result;
  buffer->sync_view();
  if (!is_own_process()) {
    const auto into = buffer->bytes().subspan(write.offset, write.size);
    return read_user(write.data_ptr, into.data(), into.size()) ? 0 : -EFAULT;
  }
  const uint64_t file_offset = buffer->offset() + write.offset;
  return read_user_to_file(write.data_ptr, buffer->descriptor(), file_offset, write.size) ? 0 : -EFAULT;
}

int set_domain(Call& call, drm_i915_gem_set_domain& domain) {
  if (!spec::interface_of(call.driver.model().id).cache_calls) return -ENODEV;
  if (((domain.read_domains | domain.write_domain) & kGpuDomains) != 0) {
    return -EINVAL;  // user programs may only name CPU domains
  }
  if (domain.write_domain != 0 && domain.read_domains != domain.write_domain) return -EINVAL;
  if (domain.read_domains == 0) return 0;
  const BufferRef buffer = call.file.buffers.find(domain.handle);
  if (!buffer) return -ENOENT;
  if (const int result = wait_idle(call, buffer, domain.write_domain != 0); result != 0) return result;
  buffer->sync_view();
  if (buffer->purged) return -EFAULT;
  if (const int result = buffer->validate(); result != 0) return result;
  if (!buffer->need_pages()) return -ENOMEM;
  buffer->attached = true;
  return 0;
}

int finish_writing(Call& call, drm_i915_gem_sw_finish& finish) {
  const BufferRef buffer = call.file.buffers.find(finish.handle);
  if (!buffer) return -ENOENT;
  buffer->sync_view();
  return 0;
}

int set_tiling(Call& call, drm_i915_gem_set_tiling& tiling) {
  if (call.driver.gpu().hardware().aperture_bytes() == 0) return -EOPNOTSUPP;
  const BufferRef buffer = call.file.buffers.find(tiling.handle);
  if (!buffer) return -ENOENT;
  if (buffer->is_of_program()) return -ENXIO;
  if (tiling.tiling_mode > I915_TILING_Y) return -EINVAL;
  if (tiling.tiling_mode == I915_TILING_NONE) {
    tiling.stride = 0;
  } else {
    const uint32_t tile = tiling.tiling_mode == I915_TILING_X ? 512 : 128;
    const uint32_t most = uint32_t{spec::interface_of(call.driver.model().id).fence_stride_kib} << 10;
    if (tiling.stride == 0 || tiling.stride % tile != 0 || tiling.stride > most) return -EINVAL;
  }
  const bool same = static_cast<uint32_t>(buffer->tiling) == tiling.tiling_mode && buffer->stride == tiling.stride;
  for (const auto& [id, fb] : call.driver.kms().fbs()) {
    if (!same && fb->buffer == buffer) return -EBUSY;
  }
  tiling.swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
  buffer->set_tiling(static_cast<Tiling>(tiling.tiling_mode), tiling.stride);
  return 0;
}

int get_tiling(Call& call, drm_i915_gem_get_tiling& tiling) {
  if (call.driver.gpu().hardware().aperture_bytes() == 0) return -EOPNOTSUPP;
  const BufferRef buffer = call.file.buffers.find(tiling.handle);
  if (!buffer) return -ENOENT;
  tiling.tiling_mode = static_cast<uint32_t>(buffer->tiling);
  tiling.swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
  tiling.phys_swizzle_mode = spec::interface_of(call.driver.model().id).physical_swizzle;
  return 0;
}

int set_caching(Call& call, drm_i915_gem_caching& caching) {
  const spec::InterfaceModel& chip = spec::interface_of(call.driver.model().id);
  if (!chip.cache_calls) return -ENODEV;
  if (caching.caching > I915_CACHING_DISPLAY) return -EINVAL;
  if (caching.caching == I915_CACHING_CACHED && !chip.llc && !chip.snoop) return -ENODEV;
  const BufferRef buffer = call.file.buffers.find(caching.handle);
  if (!buffer) return -ENOENT;
  if (buffer->is_of_program()) return caching.caching == I915_CACHING_CACHED ? 0 : -ENXIO;
  // None of these chips has a write-through cache for displays.
  buffer->caching = caching.caching == I915_CACHING_CACHED ? I915_CACHING_CACHED : I915_CACHING_NONE;
  return 0;
}

int get_caching(Call& call, drm_i915_gem_caching& caching) {
  if (!spec::interface_of(call.driver.model().id).cache_calls) return -ENODEV;
  const BufferRef buffer = call.file.buffers.find(caching.handle);
  if (!buffer) return -ENOENT;
  const bool cached = buffer->caching == I915_CACHING_CACHED || buffer->is_of_program();
  caching.caching = cached ? I915_CACHING_CACHED : I915_CACHING_NONE;
  return 0;
}

// Content that a program does not need is freed when memory is short, or at once if the device never used it.
int advise(Call& call, drm_i915_gem_madvise& advice) {
  if (advice.madv > I915_MADV_DONTNEED) return -EINVAL;
  const BufferRef buffer = call.file.buffers.find(advice.handle);
  if (!buffer) return -ENOENT;
  if (!buffer->purged) buffer->purgeable = advice.madv == I915_MADV_DONTNEED;
  if (buffer->purgeable && !buffer->purged && !buffer->is_of_program()) {
    if (!buffer->attached && buffer->may_be_purged() && !call.driver.live_mappings().shows(*buffer)) {
      buffer->purge();
    } else {
      call.driver.add_purgeable(buffer);
    }
  }
  advice.retained = !buffer->purged;
  return 0;
}

// Reports the engine classes that read the buffer, and the one that writes it.
int is_busy(Call& call, drm_i915_gem_busy& busy) {
  const BufferRef buffer = call.file.buffers.find(busy.handle);
  if (!buffer) return -ENOENT;
  Gpu& gpu = call.driver.gpu();
  gpu.update();
  const auto class_of = [&](const FenceRef& fence) -> std::optional<uint32_t> {
    const auto* const request = dynamic_cast<const Request*>(fence.get());
    if (request == nullptr) return std::nullopt;  // not a request of this device
    const OfferedEngine* const offer = gpu.offer_of(request->context->queue());
    return offer != nullptr ? std::optional<uint32_t>(offer->user_class) : std::nullopt;
  };
  constexpr uint32_t kFirstReader = 1u << 16;
  busy.busy = 0;
  for (const FenceRef& fence : buffer->fences(true)) {
    if (const auto number = class_of(fence)) busy.busy |= kFirstReader << *number;
  }
  for (const FenceRef& fence : buffer->fences(false)) {
    if (const auto number = class_of(fence)) busy.busy |= *number + 1;
  }
  if (const auto& others = buffer->shared_fences()) busy.busy |= others->engines();
  return 0;
}

int wait_for_buffer(Call& call, drm_i915_gem_wait& wait) {
  if (wait.flags != 0) return -EINVAL;
  const BufferRef buffer = call.file.buffers.find(wait.bo_handle);
  if (!buffer) return -ENOENT;
  const auto start = std::chrono::steady_clock::now();
  const bool forever = wait.timeout_ns < 0;
  constexpr int64_t kLongest = int64_t{1} << 60;
  const int result = call.driver.wait_call(
      call.lock, [&] { return !buffer->is_busy(true); },
      forever ? std::nullopt
              : std::optional(start + std::chrono::nanoseconds(std::min<int64_t>(wait.timeout_ns, kLongest))));
  if (!forever) {
    const auto spent = std::chrono::steady_clock::now() - start;
    wait.timeout_ns = std::max<int64_t>(0, wait.timeout_ns - std::chrono::nanoseconds(spent).count());
  }
  if (result == 0) buffer->sync_view();
  return result;
}

// Limits how far a program gets ahead of the device: waits for the file's older work.
int throttle(Call& call) {
  const auto recent = Driver::Clock::now() - call.driver.options().throttle_after;
  std::vector<FenceRef> old;
  for (const File::Work& each : call.file.work) {
    if (each.since > recent) break;
    if (!each.fence->done) old.push_back(each.fence);
  }
  const auto done = [&] {
    return std::all_of(old.begin(), old.end(), [](const FenceRef& each) { return each->done; });
  };
  return call.driver.wait_call(call.lock, done);
}

}  // namespace halogen::driver
