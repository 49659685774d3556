// Calls that ask what the device and the driver are.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "driver/ioctls.h"
#include "driver/user_memory.h"
#include "hw/predicate.h"

namespace halogen::driver {
namespace {

// As much of the text as the program has room for; the length tells it all.
template <class Size>
bool give_text(std::string_view text, const void* into, Size& room) {
  const size_t bytes = std::min<size_t>(text.size(), room);
  room = static_cast<Size>(text.size());
  return bytes == 0 || write_user(reinterpret_cast<uintptr_t>(into), text.data(), bytes);
}

// Nothing: the kernel does not know the number, or the chip has no answer.
std::optional<int> value_of(Hardware& hardware, Gpu& gpu, int parameter) {
  const spec::DeviceModel& model = hardware.model();
  const bool execlists = hardware.has(spec::Feature::execlists);
  const bool local = hardware.has(spec::Feature::local_memory);
  const bool own_spaces = !gpu.shares_space();
  switch (parameter) {
    case I915_PARAM_CHIPSET_ID:
      return model.pci_id;
    case I915_PARAM_REVISION:
      return model.pci_revision;
    case I915_PARAM_HAS_GEM:
    case I915_PARAM_HAS_EXECBUF2:
    case I915_PARAM_HAS_RELAXED_FENCING:
    case I915_PARAM_HAS_COHERENT_RINGS:
    case I915_PARAM_HAS_RELAXED_DELTA:
    case I915_PARAM_HAS_WAIT_TIMEOUT:
    case I915_PARAM_HAS_PRIME_VMAP_FLUSH:
    case I915_PARAM_HAS_EXEC_NO_RELOC:
    case I915_PARAM_HAS_EXEC_HANDLE_LUT:
    case I915_PARAM_HAS_EXEC_SOFTPIN:
    case I915_PARAM_HAS_EXEC_ASYNC:
    case I915_PARAM_HAS_EXEC_CAPTURE:
    case I915_PARAM_HAS_EXEC_BATCH_FIRST:
      return 1;
    case I915_PARAM_HAS_BSD:
      return gpu.find(spec::EngineClass::video, 0) != nullptr;
    case I915_PARAM_HAS_BSD2:
      return gpu.find(spec::EngineClass::video, 1) != nullptr;
    case I915_PARAM_HAS_BLT:
      return gpu.find(spec::EngineClass::blit, 0) != nullptr;
    case I915_PARAM_HAS_VEBOX:
      return gpu.find(spec::EngineClass::vebox, 0) != nullptr;
    case I915_PARAM_HAS_LLC:
      return execlists && !local;
    case I915_PARAM_HAS_WT:
      return 0;
    case I915_PARAM_HAS_ALIASING_PPGTT:
      return own_spaces ? (hardware.has(spec::Feature::ppgtt_4level) ? 3 : 2)
                        : hardware.has(spec::Feature::ppgtt_2level);
    case I915_PARAM_HAS_GPU_RESET:
      return 2;  // single engines too
    case I915_PARAM_MMAP_VERSION:
      return 1;
    case I915_PARAM_MMAP_GTT_VERSION:
      return 4;
    case I915_PARAM_HAS_SCHEDULER:
      if (!execlists) return 0;
      return I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY | I915_SCHEDULER_CAP_PREEMPTION;
    case I915_PARAM_HAS_CONTEXT_ISOLATION:
      return execlists ? 1 : 0;
    case I915_PARAM_NUM_FENCES_AVAIL:
      return hardware.aperture_bytes() == 0 ? 0 : 16;
    case I915_PARAM_CMD_PARSER_VERSION:
      return 0;
    case I915_PARAM_SUBSLICE_TOTAL:
      return model.topology.slices * model.topology.subslices;
    case I915_PARAM_EU_TOTAL:
      return model.topology.slices * model.topology.subslices * model.topology.eus;
    case I915_PARAM_SLICE_MASK:
      return (1 << model.topology.slices) - 1;
    case I915_PARAM_SUBSLICE_MASK:
      return (1 << model.topology.subslices) - 1;
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
      return static_cast<int>(model.timestamp_hz);
    default:
      return std::nullopt;
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

int get_capability(Call&, drm_get_cap& capability) {
  switch (capability.capability) {
    case DRM_CAP_PRIME:
      capability.value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
      return 0;
    case DRM_CAP_TIMESTAMP_MONOTONIC:
      capability.value = 1;
      return 0;
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
      capability.value = 0;
      return 0;
    default:
      return -EOPNOTSUPP;
  }
}

int get_parameter(Call& call, drm_i915_getparam_t& parameter) {
  const std::optional<int> value = value_of(call.kernel.gpu().hardware(), call.kernel.gpu(), parameter.param);
  if (!value) return -EINVAL;
  return write_user(reinterpret_cast<uintptr_t>(parameter.value), &*value, sizeof *value) ? 0 : -EFAULT;
}

int get_aperture(Call& call, drm_i915_gem_get_aperture& aperture) {
  aperture.aper_size = call.kernel.gpu().global().bytes();
  aperture.aper_available_size = call.kernel.gpu().global().places().free_bytes();
  return 0;
}

// Only the render engine's timestamp; bit 0 of the offset asks for a read in eight bytes.
int read_register(Call& call, drm_i915_reg_read& read) {
  Hardware& hardware = call.kernel.gpu().hardware();
  const spec::EngineModel& render = hardware.model().engines[0];
  const uint32_t timestamp = hw::TIMESTAMP::kDesc.offset(hardware.model().id);
  if ((read.offset & ~uint64_t{1}) != render.mmio_base + timestamp) return -EINVAL;
  const uint64_t low = hardware.read(render, timestamp);
  read.val = low | uint64_t{hardware.read(render, timestamp + 4)} << 32;
  return 0;
}

}  // namespace halogen::driver
