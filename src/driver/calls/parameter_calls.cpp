// Calls that report properties of the device and the driver.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"
#include "hw/predicate.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

// Copies as much of the text as fits; the returned length is that of the whole text.
template <class Size>
bool give_text(std::string_view text, const void* into, Size& room) {
  const size_t bytes = std::min<size_t>(text.size(), room);
  room = static_cast<Size>(text.size());
  return bytes == 0 || write_user(reinterpret_cast<uintptr_t>(into), text.data(), bytes);
}

struct Value {
  int value = 0;
  int error = 0;  // a negative errno: the chip or Linux does not answer
};
Value error(int number) {
  return {0, -number};
}
// Returns the value, or an error of ENODEV if it is zero: older chips do not report it.
Value if_known(int value) {
  return value != 0 ? Value{value, 0} : error(ENODEV);
}

unsigned scheduler(const Hardware& hardware, const spec::InterfaceModel& chip) {
  if (!hardware.generation().has_execlists()) return 0;
  return I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY | I915_SCHEDULER_CAP_SEMAPHORES |
         I915_SCHEDULER_CAP_ENGINE_BUSY_STATS | (chip.preemption ? I915_SCHEDULER_CAP_PREEMPTION : 0);
}

// Returns the classes whose contexts start from a known state: all that have an image.
unsigned isolated_classes(const Gpu& gpu, const Hardware& hardware) {
  unsigned classes = 0;
  for (const OfferedEngine& each : gpu.offered()) {
    const bool render = each.user_class == I915_ENGINE_CLASS_RENDER;
    if (render || hardware.generation().has_execlists()) classes |= 1u << each.user_class;
  }
  return classes;
}

Value value_of(Driver& driver, int parameter) {
  Gpu& gpu = driver.gpu();
  Hardware& hardware = gpu.hardware();
  const spec::DeviceModel& model = hardware.model();
  const spec::InterfaceModel& chip = spec::interface_of(model.id);
  const spec::Topology& topology = model.topology;
  const bool tells = chip.slices != 0;
  const auto has_engine = [&](unsigned engine_class, unsigned instance) {
    return Value{gpu.find_user(engine_class, instance) != nullptr};
  };
  switch (parameter) {
    case I915_PARAM_IRQ_ACTIVE:
    case I915_PARAM_ALLOW_BATCHBUFFER:
    case I915_PARAM_LAST_DISPATCH:
    case I915_PARAM_HAS_EXEC_CONSTANTS:
      return error(ENODEV);
    case I915_PARAM_CHIPSET_ID:
      return {model.pci_id};
    case I915_PARAM_REVISION:
      return {model.pci_revision};
    case I915_PARAM_HAS_GEM:
    case I915_PARAM_HAS_PAGEFLIPPING:
    case I915_PARAM_HAS_EXECBUF2:
    case I915_PARAM_HAS_RELAXED_FENCING:
    case I915_PARAM_HAS_COHERENT_RINGS:
    case I915_PARAM_HAS_RELAXED_DELTA:
    case I915_PARAM_HAS_GEN7_SOL_RESET:
    case I915_PARAM_HAS_WAIT_TIMEOUT:
    case I915_PARAM_HAS_PRIME_VMAP_FLUSH:
    case I915_PARAM_HAS_PINNED_BATCHES:
    case I915_PARAM_HAS_EXEC_NO_RELOC:
    case I915_PARAM_HAS_EXEC_HANDLE_LUT:
    case I915_PARAM_HAS_COHERENT_PHYS_GTT:
    case I915_PARAM_HAS_EXEC_SOFTPIN:
    case I915_PARAM_HAS_EXEC_ASYNC:
    case I915_PARAM_HAS_EXEC_FENCE:
    case I915_PARAM_HAS_EXEC_CAPTURE:
    case I915_PARAM_HAS_EXEC_BATCH_FIRST:
    case I915_PARAM_HAS_EXEC_FENCE_ARRAY:
    case I915_PARAM_HAS_EXEC_SUBMIT_FENCE:
    case I915_PARAM_HAS_EXEC_TIMELINE_FENCES:
    case I915_PARAM_HAS_USERPTR_PROBE:
    case I915_PARAM_MMAP_VERSION:
      return {1};
    case I915_PARAM_HAS_OVERLAY:
    case I915_PARAM_HAS_RESOURCE_STREAMER:
    case I915_PARAM_HAS_POOLED_EU:
    case I915_PARAM_MIN_EU_IN_POOL:
    case I915_PARAM_HAS_WT:
      return {0};
    case I915_PARAM_HAS_BSD:
      return has_engine(I915_ENGINE_CLASS_VIDEO, 0);
    case I915_PARAM_HAS_BSD2:
      return has_engine(I915_ENGINE_CLASS_VIDEO, 1);
    case I915_PARAM_HAS_BLT:
      return has_engine(I915_ENGINE_CLASS_COPY, 0);
    case I915_PARAM_HAS_VEBOX:
      return has_engine(I915_ENGINE_CLASS_VIDEO_ENHANCE, 0);
    case I915_PARAM_HAS_LLC:
      return {chip.llc};
    case I915_PARAM_HAS_ALIASING_PPGTT:
      return {chip.process_tables};
    case I915_PARAM_HAS_SEMAPHORES:
      return {(scheduler(hardware, chip) & I915_SCHEDULER_CAP_SEMAPHORES) != 0};
    case I915_PARAM_HAS_SECURE_BATCHES:
      return {chip.secure_batches && driver.privileged()};
    case I915_PARAM_CMD_PARSER_VERSION:
      return {chip.command_parser};
    case I915_PARAM_HAS_GPU_RESET:
      return {chip.engine_reset ? 2 : 1};
    case I915_PARAM_HUC_STATUS:
      return error(chip.huc_error);
    case I915_PARAM_MMAP_GTT_VERSION:
      return {4};
    case I915_PARAM_MMAP_GTT_COHERENT:
      return {chip.coherent_aperture};
    case I915_PARAM_HAS_SCHEDULER:
      return {static_cast<int>(scheduler(hardware, chip))};
    case I915_PARAM_HAS_CONTEXT_ISOLATION:
      return {static_cast<int>(isolated_classes(gpu, hardware))};
    case I915_PARAM_NUM_FENCES_AVAIL:
      return {chip.fences};
    case I915_PARAM_SUBSLICE_TOTAL:
      return if_known(tells ? topology.slices * topology.subslices : 0);
    case I915_PARAM_EU_TOTAL:
      return if_known(tells ? topology.slices * topology.subslices * topology.eus : 0);
    case I915_PARAM_SLICE_MASK:
      return if_known(tells ? (1 << topology.slices) - 1 : 0);
    case I915_PARAM_SUBSLICE_MASK:
      return if_known(tells ? (1 << topology.subslices) - 1 : 0);
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
      return {static_cast<int>(model.timestamp_hz)};
    case I915_PARAM_PERF_REVISION:
      return {5};
    default:
      return error(EINVAL);
  }
}

}  // namespace

int get_version(Call&, drm_version& version) {
  version.version_major = 1;
  version.version_minor = 6;
  version.version_patchlevel = 0;
  const bool done = give_text("i915", version.name, version.name_len) &&
                    give_text("20201103", version.date, version.date_len) &&
                    give_text("Intel Graphics", version.desc, version.desc_len);
  return done ? 0 : -EFAULT;
}

// Render nodes report the capabilities of the display too.
int get_capability(Call& call, drm_get_cap& capability) {
  capability.value = 0;
  switch (capability.capability) {
    case DRM_CAP_PRIME:
      capability.value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
      return 0;
    case DRM_CAP_TIMESTAMP_MONOTONIC:
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
    case DRM_CAP_DUMB_BUFFER:
    case DRM_CAP_VBLANK_HIGH_CRTC:
    case DRM_CAP_DUMB_PREFER_SHADOW:
    case DRM_CAP_ADDFB2_MODIFIERS:
    case DRM_CAP_CRTC_IN_VBLANK_EVENT:
      capability.value = 1;
      return 0;
    case DRM_CAP_DUMB_PREFERRED_DEPTH:
      capability.value = 24;
      return 0;
    case DRM_CAP_ASYNC_PAGE_FLIP:
      capability.value = spec::interface_of(call.driver.gpu().hardware().model().id).async_flips ? 1 : 0;
      return 0;
    case DRM_CAP_PAGE_FLIP_TARGET:
      return 0;
    case DRM_CAP_CURSOR_WIDTH:
    case DRM_CAP_CURSOR_HEIGHT:
      capability.value = 256;
      return 0;
    default:
      return -EINVAL;
  }
}

int get_parameter(Call& call, drm_i915_getparam_t& parameter) {
  const Value value = value_of(call.driver, parameter.param);
  if (value.error != 0) return value.error;
  return write_user(reinterpret_cast<uintptr_t>(parameter.value), &value.value, sizeof value.value) ? 0 : -EFAULT;
}

int get_aperture(Call& call, drm_i915_gem_get_aperture& aperture) {
  GlobalTable& table = call.driver.gpu().global();
  aperture.aper_size = table.bytes();
  aperture.aper_available_size = table.bytes() - table.pinned_bytes();
  return 0;
}

// Only the render engine's timestamp can be read, as eight bytes; bit 0 of the offset selects two 32-bit reads.
int read_register(Call& call, drm_i915_reg_read& read) {
  Hardware& hardware = call.driver.gpu().hardware();
  const spec::EngineModel& render = hardware.model().engines[0];
  const uint32_t timestamp = hw::TIMESTAMP::kDesc.offset(hardware.model().id);
  constexpr uint64_t kFlags = 7;
  if ((read.offset & ~kFlags) != render.mmio_base + timestamp) return -EINVAL;
  if ((read.offset & kFlags) > I915_REG_READ_8B_WA) return -EINVAL;
  // Advance to the next tick, so that two reads differ.
  call.driver.catch_up();
  constexpr uint64_t kSecond = 1'000'000'000;
  call.driver.gpu().work(kSecond / hardware.model().timestamp_hz + 1);
  const uint64_t low = hardware.read(render, timestamp);
  read.val = low | uint64_t{hardware.read(render, timestamp + 4)} << 32;
  return 0;
}

}  // namespace halogen::driver
