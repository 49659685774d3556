// Costs of driver calls: start-up, empty batches, creating and closing buffers, copies compared with memcpy.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>

#include "driver/core/driver.h"
#include "ratios.h"

namespace {

using namespace halogen;
using namespace halogen::driver;

struct Door {
  explicit Door(const char* name) {
    driver = std::move(Driver::start(*spec::find_device(name), {}).value());
    file = driver->open();
  }
  ~Door() { driver->close(file); }

  template <class T>
  int call(unsigned long request, T& argument) {
    return driver->ioctl(*file, request, reinterpret_cast<uintptr_t>(&argument));
  }
  uint32_t create(uint64_t bytes) {
    drm_i915_gem_create create{.size = bytes, .handle = 0, .pad = 0};
    call(DRM_IOCTL_I915_GEM_CREATE, create);
    return create.handle;
  }
  void close(uint32_t handle) {
    drm_gem_close close{.handle = handle, .pad = 0};
    call(DRM_IOCTL_GEM_CLOSE, close);
  }
  // Returns the bytes of a buffer directly, because some chips do not allow programs to map it.
  std::span<std::byte> content(uint32_t handle) {
    const BufferRef buffer = file->buffers.find(handle);
    buffer->need_pages();
    return buffer->bytes();
  }

  std::unique_ptr<Driver> driver;
  std::shared_ptr<File> file;
};

void boot(benchmark::State& state, const char* name) {
  for (auto _ : state) {
    const auto driver = Driver::start(*spec::find_device(name), {});
    benchmark::DoNotOptimize(driver.ok());
  }
}

// Submits an empty batch and waits for it.
void empty_batch(benchmark::State& state, const char* name) {
  Door door(name);
  const uint32_t batch = door.create(4096);
  const uint32_t commands[] = {0, 0x0500'0000};
  std::memcpy(door.content(batch).data(), commands, sizeof commands);
  drm_i915_gem_exec_object2 object{};
  object.handle = batch;
  drm_i915_gem_execbuffer2 execute{};
  execute.buffers_ptr = reinterpret_cast<uintptr_t>(&object);
  execute.buffer_count = 1;
  execute.flags = I915_EXEC_NO_RELOC | I915_EXEC_HANDLE_LUT;
  for (auto _ : state) {
    door.call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute);
    drm_i915_gem_wait wait{.bo_handle = batch, .flags = 0, .timeout_ns = -1};
    door.call(DRM_IOCTL_I915_GEM_WAIT, wait);
  }
  state.SetItemsProcessed(state.iterations());
}

void create_close(benchmark::State& state, const char* name) {
  Door door(name);
  for (auto _ : state) door.close(door.create(4096));
  state.SetItemsProcessed(state.iterations());
}

constexpr size_t kCopy = 1 << 20;

void plain_copy(benchmark::State& state) {
  std::vector<std::byte> from(kCopy, std::byte{1}), into(kCopy);
  for (auto _ : state) {
    std::memcpy(into.data(), from.data(), kCopy);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kCopy));
}

void write_buffer(benchmark::State& state) {
  Door door("icl");
  std::vector<std::byte> from(kCopy, std::byte{1});
  drm_i915_gem_pwrite write{};
  write.handle = door.create(kCopy);
  write.size = kCopy;
  write.data_ptr = reinterpret_cast<uintptr_t>(from.data());
  for (auto _ : state) door.call(DRM_IOCTL_I915_GEM_PWRITE, write);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kCopy));
}

void read_buffer(benchmark::State& state) {
  Door door("icl");
  std::vector<std::byte> into(kCopy);
  drm_i915_gem_pread read{};
  read.handle = door.create(kCopy);
  std::memset(door.content(read.handle).data(), 1, kCopy);
  read.size = kCopy;
  read.data_ptr = reinterpret_cast<uintptr_t>(into.data());
  for (auto _ : state) door.call(DRM_IOCTL_I915_GEM_PREAD, read);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kCopy));
}

}  // namespace

int main(int count, char** arguments) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const std::string name(model.name);
    const char* const chip = model.name.data();
    benchmark::RegisterBenchmark(("boot/" + name).c_str(), boot, chip)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("empty_batch/" + name).c_str(), empty_batch, chip);
  }
  benchmark::RegisterBenchmark("create_close", create_close, "icl");
  benchmark::RegisterBenchmark("memcpy", plain_copy);
  benchmark::RegisterBenchmark("pwrite", write_buffer);
  benchmark::RegisterBenchmark("pread", read_buffer);
  return bench::run(count, arguments, {{"pwrite", "memcpy"}, {"pread", "memcpy"}});
}
