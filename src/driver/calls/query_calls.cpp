// QUERY: a list of items, each with a buffer for the answer. An item without a buffer gets the required length. An
// error is returned in the length of its item and does not affect the others.
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"
#include "driver/perf/perf.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

// A header, part of which the program must pass as zero, and the data after it.
struct Answer {
  std::vector<std::byte> bytes;

  template <class T>
  size_t add(const T& value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return at;
  }
};

// Returns the length of the answer, or an errno. The program must pass `head` readable bytes, of which the first
// `zero_bytes` are zero.
int give(const drm_i915_query_item& item, const Answer& answer, size_t head, size_t zero_bytes) {
  const auto length = static_cast<int>(answer.bytes.size());
  if (item.length == 0) return length;
  if (static_cast<uint32_t>(item.length) < static_cast<uint32_t>(length)) {
    return -EINVAL;  // as in Linux, a negative length is a large one
  }
  if (head != 0) {
    std::vector<unsigned char> there(head);
    if (!read_user(item.data_ptr, there.data(), head)) return -EFAULT;
    for (size_t i = 0; i < zero_bytes; ++i) {
      if (there[i] != 0) return -EINVAL;
    }
  }
  return write_user(item.data_ptr, answer.bytes.data(), answer.bytes.size()) ? length : -EFAULT;
}

uint64_t ones(unsigned count) {
  return count == 0 ? 0 : ~uint64_t{0} >> (64 - count);
}

void add_mask(Answer& answer, uint64_t mask, unsigned stride) {
  for (unsigned i = 0; i < stride; ++i) answer.add(static_cast<uint8_t>(mask >> (8 * i)));
}

int query_topology(Call& call, const drm_i915_query_item& item) {
  if (item.flags != 0) return -EINVAL;
  const spec::DeviceModel& model = call.driver.model();
  const spec::InterfaceModel& frame = spec::interface_of(model.id);
  if (frame.slices == 0) return -ENODEV;
  const auto stride_of = [](unsigned bits) { return (bits + 7) / 8; };
  drm_i915_query_topology_info info{};
  info.max_slices = frame.slices;
  info.max_subslices = frame.subslices;
  info.max_eus_per_subslice = frame.eus;
  info.subslice_offset = 1;
  info.subslice_stride = static_cast<__u16>(stride_of(frame.subslices));
  info.eu_offset = static_cast<__u16>(1 + frame.slices * info.subslice_stride);
  info.eu_stride = static_cast<__u16>(stride_of(frame.eus));
  Answer answer;
  answer.add(info);
  add_mask(answer, ones(model.topology.slices), 1);
  for (unsigned slice = 0; slice < frame.slices; ++slice) {
    add_mask(answer, slice < model.topology.slices ? ones(model.topology.subslices) : 0, info.subslice_stride);
  }
  for (unsigned slice = 0; slice < frame.slices; ++slice) {
    for (unsigned subslice = 0; subslice < frame.subslices; ++subslice) {
      const bool there = slice < model.topology.slices && subslice < model.topology.subslices;
      add_mask(answer, there ? ones(model.topology.eus) : 0, info.eu_stride);
    }
  }
  return give(item, answer, sizeof info, 0);
}

int query_engines(Call& call, const drm_i915_query_item& item) {
  if (item.flags != 0) return -EINVAL;
  drm_i915_query_engine_info head{};
  const std::vector<OfferedEngine>& offered = call.driver.gpu().offered();
  head.num_engines = static_cast<__u32>(offered.size());
  Answer answer;
  answer.add(head);
  for (const OfferedEngine& each : offered) {
    drm_i915_engine_info info{};
    info.engine = {each.user_class, each.user_instance};
    info.flags = I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE;
    info.capabilities = each.capabilities;
    info.logical_instance = each.user_instance;
    answer.add(info);
  }
  return give(item, answer, sizeof head, sizeof head);
}

// The item's first word of `flags` must be zero. Returns 0 or a negative errno.
int check_flags(const drm_i915_query_item& item) {
  const auto flags = read_user<uint32_t>(item.data_ptr + offsetof(drm_i915_query_perf_config, flags));
  if (!flags) return -EFAULT;
  return *flags != 0 ? -EINVAL : 0;
}

int query_configurations(Call& call, const drm_i915_query_item& item) {
  const std::vector<uint64_t> ids = call.driver.perf().configs().ids();
  const size_t bytes = ids.size() * sizeof ids[0];
  const auto length = static_cast<int>(sizeof(drm_i915_query_perf_config) + bytes);
  if (item.length == 0) return length;
  if (static_cast<uint32_t>(item.length) < static_cast<uint32_t>(length)) return -EINVAL;
  if (const int result = check_flags(item); result != 0) return result;
  const uint64_t count = ids.size();
  const bool told = write_user(item.data_ptr + offsetof(drm_i915_query_perf_config, n_configs), &count, sizeof count) &&
                    write_user(item.data_ptr + sizeof(drm_i915_query_perf_config), ids.data(), bytes);
  return told ? length : -EFAULT;
}

// Writes a list of registers if the program has room for it, and always its length.
int give_registers(const std::vector<RegisterValue>& list, uint64_t address, uint32_t& count) {
  const auto length = static_cast<uint32_t>(list.size());
  if (count != 0) {
    if (count < length) return -EINVAL;
    std::vector<uint32_t> words;
    words.reserve(2 * list.size());
    for (const RegisterValue& each : list) words.insert(words.end(), {each.offset, each.value});
    if (!write_user(address, words.data(), words.size() * sizeof words[0])) return -EFAULT;
  }
  count = length;
  return 0;
}

// Finds a configuration by name or number. Linux puts the answer behind the whole head.
int query_configuration(Call& call, const drm_i915_query_item& item) {
  constexpr auto kLength = static_cast<int>(sizeof(drm_i915_query_perf_config) + sizeof(drm_i915_perf_oa_config));
  if (item.length == 0) return kLength;
  if (static_cast<uint32_t>(item.length) < static_cast<uint32_t>(kLength)) return -EINVAL;
  if (const int result = check_flags(item); result != 0) return result;
  PerfConfigs& configs = call.driver.perf().configs();
  PerfConfigRef config;
  if (item.flags == DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID) {
    char uuid[sizeof(drm_i915_query_perf_config::uuid)];
    if (!read_user(item.data_ptr, uuid, sizeof uuid)) return -EFAULT;
    config = configs.find(std::string_view(uuid, sizeof uuid));
  } else {
    const auto id = read_user<uint64_t>(item.data_ptr + offsetof(drm_i915_query_perf_config, config));
    if (!id) return -EFAULT;
    config = configs.find(static_cast<uint64_t>(int64_t{static_cast<int>(*id)}));
  }
  if (!config) return -ENOENT;
  const uint64_t config_address = item.data_ptr + sizeof(drm_i915_query_perf_config);
  auto answer = read_user<drm_i915_perf_oa_config>(config_address);
  if (!answer) return -EFAULT;
  int result = give_registers(config->boolean, answer->boolean_regs_ptr, answer->n_boolean_regs);
  if (result == 0) result = give_registers(config->flexible, answer->flex_regs_ptr, answer->n_flex_regs);
  if (result == 0) result = give_registers(config->mux, answer->mux_regs_ptr, answer->n_mux_regs);
  if (result != 0) return result;
  config->uuid.copy(answer->uuid, sizeof answer->uuid);
  return write_user(config_address, &*answer, sizeof *answer) ? kLength : -EFAULT;
}

int query_performance(Call& call, const drm_i915_query_item& item) {
  const bool perf = call.driver.perf().exists();
  switch (item.flags) {
    case DRM_I915_QUERY_PERF_CONFIG_LIST:
      return perf ? query_configurations(call, item) : -ENODEV;
    case DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID:
    case DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID:
      return perf ? query_configuration(call, item) : -ENODEV;
    default:
      return -EINVAL;
  }
}

int query_memory(Call& call, const drm_i915_query_item& item) {
  if (item.flags != 0) return -EINVAL;
  Hardware& hardware = call.driver.gpu().hardware();
  drm_i915_query_memory_regions head{};
  Answer answer;
  answer.add(head);
  for (const bool local : {false, true}) {
    if (local && !hardware.has(spec::Feature::local_memory)) continue;
    drm_i915_memory_region_info info{};
    info.region.memory_class = local ? I915_MEMORY_CLASS_DEVICE : I915_MEMORY_CLASS_SYSTEM;
    info.probed_size = hardware.pages(local).all_bytes();
    info.probed_cpu_visible_size = info.probed_size;
    // Free memory is reported to privileged programs only.
    const bool watch = call.driver.privileged();
    info.unallocated_size = watch ? hardware.pages(local).free_bytes() : info.probed_size;
    info.unallocated_cpu_visible_size = info.unallocated_size;
    answer.add(info);
    ++head.num_regions;
  }
  std::memcpy(answer.bytes.data(), &head, sizeof head);
  return give(item, answer, sizeof head, sizeof head);
}

// The data comes from firmware that these chips do not use.
int query_hardware_configuration(Call&, const drm_i915_query_item&) {
  return -ENODEV;
}

// Exists on later chips only.
int query_geometry_subslices(Call&, const drm_i915_query_item&) {
  return -ENODEV;
}

constexpr int (*kQueries[])(Call&, const drm_i915_query_item&) = {
    query_topology,          query_engines, query_performance, query_memory, query_hardware_configuration,
    query_geometry_subslices};

}  // namespace

int query(Call& call, drm_i915_query& query) {
  if (query.flags != 0) return -EINVAL;
  LongLoop loop(call, 256);
  for (uint64_t i = 0; i < query.num_items; ++i) {
    if (const int result = loop.next(); result != 0) return result;
    const uint64_t item_address = query.items_ptr + i * sizeof(drm_i915_query_item);
    const auto item = read_user<drm_i915_query_item>(item_address);
    if (!item) return -EFAULT;
    if (item->query_id == 0) return -EINVAL;
    const uint64_t index = item->query_id - 1;
    if (item->query_id == DRM_I915_QUERY_PERF_CONFIG) {  // looks at files
      if (const int result = loop.let_others_pass(); result != 0) return result;
    }
    const int result = index < std::size(kQueries) ? kQueries[index](call, *item) : -EINVAL;
    if (result != item->length &&
        !write_user(item_address + offsetof(drm_i915_query_item, length), &result, sizeof result)) {
      return -EFAULT;
    }
  }
  return 0;
}

}  // namespace halogen::driver
