// QUERY: the first questions of programs, with the values of Linux 6.1 for each chip.
#include <cerrno>
#include <cstring>
#include <map>

#include "door.h"

namespace halogen::driver {
namespace {

class Query : public Door {
 protected:
  // Returns the item's length.
  int32_t ask(uint64_t id, uint32_t flags, void* data, int32_t length) {
    drm_i915_query_item item{};
    item.query_id = id;
    item.flags = flags;
    item.length = length;
    item.data_ptr = reinterpret_cast<uintptr_t>(data);
    drm_i915_query query{};
    query.num_items = 1;
    query.items_ptr = reinterpret_cast<uintptr_t>(&item);
    EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), 0);
    return item.length;
  }
  std::vector<uint8_t> answer(uint64_t id) {
    const int32_t length = ask(id, 0, nullptr, 0);
    EXPECT_GT(length, 0);
    std::vector<uint8_t> data(static_cast<size_t>(length));
    EXPECT_EQ(ask(id, 0, data.data(), length), length);
    return data;
  }
};

struct Frame {
  unsigned slices, subslices, eus, subslices_there, eus_total;
};

TEST_P(Query, TopologyMatchesTheChip) {
  // Dimensions of the largest chip of the family, then those of this chip.
  static const std::map<std::string, Frame> kFrames = {{"bdw", {3, 3, 8, 3, 24}},  {"chv", {1, 2, 8, 2, 16}},
                                                       {"skl", {3, 4, 8, 3, 24}},  {"icl", {1, 8, 8, 8, 64}},
                                                       {"tgl", {1, 6, 16, 6, 96}}, {"dg1", {1, 6, 16, 6, 96}}};
  const auto known = kFrames.find(GetParam());
  if (known == kFrames.end()) {
    EXPECT_EQ(ask(DRM_I915_QUERY_TOPOLOGY_INFO, 0, nullptr, 0), -ENODEV);
    return;
  }
  const Frame& frame = known->second;
  const std::vector<uint8_t> data = answer(DRM_I915_QUERY_TOPOLOGY_INFO);
  drm_i915_query_topology_info info{};
  ASSERT_GE(data.size(), sizeof info);
  std::memcpy(&info, data.data(), sizeof info);
  EXPECT_EQ(info.flags, 0u);
  EXPECT_EQ(info.max_slices, frame.slices);
  EXPECT_EQ(info.max_subslices, frame.subslices);
  EXPECT_EQ(info.max_eus_per_subslice, frame.eus);
  const uint8_t* const masks = data.data() + sizeof info;
  EXPECT_EQ(masks[0], 1) << "one slice";
  unsigned subslices = 0, eus = 0;
  for (unsigned slice = 0; slice < frame.slices; ++slice) {
    for (unsigned i = 0; i < frame.subslices; ++i) {
      const unsigned at = info.subslice_offset + slice * info.subslice_stride + i / 8;
      const bool there = (masks[at] >> (i % 8) & 1) != 0;
      EXPECT_TRUE(!there || slice == 0);
      subslices += there;
      for (unsigned eu = 0; eu < frame.eus; ++eu) {
        const unsigned place = info.eu_offset + (slice * frame.subslices + i) * info.eu_stride + eu / 8;
        ASSERT_LT(sizeof info + place, data.size());
        const bool here = (masks[place] >> (eu % 8) & 1) != 0;
        EXPECT_TRUE(!here || there);
        eus += here;
      }
    }
  }
  EXPECT_EQ(subslices, frame.subslices_there);
  EXPECT_EQ(eus, frame.eus_total);
  EXPECT_EQ(data.size(), sizeof info + info.eu_offset + frame.slices * frame.subslices * info.eu_stride);
}

TEST_P(Query, EnginesAreNumberedByClass) {
  static const std::map<std::string, std::vector<std::vector<unsigned>>> kEngines = {
      // class, instance, capabilities (1: HEVC, 2: scaler)
      {"i965", {{0, 0, 0}}},
      {"gm965", {{0, 0, 0}}},
      {"g45", {{0, 0, 0}, {2, 0, 0}}},
      {"gm45", {{0, 0, 0}, {2, 0, 0}}},
      {"snb", {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}},
      {"bdw", {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}},
      {"chv", {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}},
      {"skl", {{0, 0, 0}, {1, 0, 0}, {2, 0, 3}, {3, 0, 0}}},
      {"icl", {{0, 0, 0}, {1, 0, 0}, {2, 0, 3}, {2, 1, 1}, {3, 0, 2}}},
      {"tgl", {{0, 0, 0}, {1, 0, 0}, {2, 0, 3}, {2, 1, 3}, {3, 0, 2}}},
      {"dg1", {{0, 0, 0}, {1, 0, 0}, {2, 0, 3}, {2, 1, 3}, {3, 0, 2}}}};
  const auto& expected = kEngines.at(GetParam());
  std::vector<uint8_t> data = answer(DRM_I915_QUERY_ENGINE_INFO);
  drm_i915_query_engine_info head{};
  std::memcpy(&head, data.data(), sizeof head);
  ASSERT_EQ(head.num_engines, expected.size());
  ASSERT_EQ(data.size(), sizeof head + expected.size() * sizeof(drm_i915_engine_info));
  for (size_t i = 0; i < expected.size(); ++i) {
    drm_i915_engine_info info{};
    std::memcpy(&info, data.data() + sizeof head + i * sizeof info, sizeof info);
    EXPECT_EQ(info.engine.engine_class, expected[i][0]) << i;
    EXPECT_EQ(info.engine.engine_instance, expected[i][1]) << i;
    EXPECT_EQ(info.capabilities, expected[i][2]) << i;
    EXPECT_EQ(info.flags, I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE);
    EXPECT_EQ(info.logical_instance, expected[i][1]) << i;
  }
  const auto length = static_cast<int32_t>(data.size());
  EXPECT_EQ(ask(DRM_I915_QUERY_ENGINE_INFO, 0, data.data(), length), -EINVAL) << "the header must be zero";
  std::memset(data.data(), 0, data.size());
  EXPECT_EQ(ask(DRM_I915_QUERY_ENGINE_INFO, 0, data.data(), length - 1), -EINVAL) << "too short";
  EXPECT_EQ(ask(DRM_I915_QUERY_ENGINE_INFO, 1, data.data(), length), -EINVAL);
  EXPECT_EQ(ask(DRM_I915_QUERY_ENGINE_INFO, 0, nullptr, length), -EFAULT);
  data.resize(data.size() + 64);
  EXPECT_EQ(ask(DRM_I915_QUERY_ENGINE_INFO, 0, data.data(), length + 64), length) << "longer than needed";
}

TEST_P(Query, MemoryRegionsAreSystemAndLocal) {
  const auto regions = [&] {
    const std::vector<uint8_t> data = answer(DRM_I915_QUERY_MEMORY_REGIONS);
    drm_i915_query_memory_regions head{};
    std::memcpy(&head, data.data(), sizeof head);
    std::vector<drm_i915_memory_region_info> all(head.num_regions);
    EXPECT_EQ(data.size(), sizeof head + all.size() * sizeof all[0]);
    if (data.size() == sizeof head + all.size() * sizeof all[0]) {
      std::memcpy(all.data(), data.data() + sizeof head, all.size() * sizeof all[0]);
    }
    return all;
  };
  const auto before = regions();
  ASSERT_EQ(before.size(), local() ? 2u : 1u);
  EXPECT_EQ(before[0].region.memory_class, I915_MEMORY_CLASS_SYSTEM);
  EXPECT_GT(before[0].probed_size, uint64_t{900} << 20);
  if (local()) {
    EXPECT_EQ(before[1].region.memory_class, I915_MEMORY_CLASS_DEVICE);
    EXPECT_GT(before[1].probed_size, uint64_t{3} << 30);
    EXPECT_EQ(before[1].probed_cpu_visible_size, before[1].probed_size) << "the BAR covers all of it";
  }
  content(create(1 << 20));
  EXPECT_EQ(regions()[0].unallocated_size, before[0].probed_size) << "free memory is hidden without privilege";
  DriverOptions options;
  options.privileged = true;
  boot(options);
  const uint64_t free = regions()[0].unallocated_size;
  content(create(1 << 20));
  EXPECT_EQ(regions()[0].unallocated_size, free - (1 << 20));
}

TEST_P(Query, UnsupportedQueriesReturnLinuxErrors) {
  if (!execlists()) {
    EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_LIST, nullptr, 0), -ENODEV);
  }
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, 0, nullptr, 0), -EINVAL);
  EXPECT_EQ(ask(DRM_I915_QUERY_HWCONFIG_BLOB, 0, nullptr, 0), -ENODEV);
  EXPECT_EQ(ask(DRM_I915_QUERY_GEOMETRY_SUBSLICES, 0, nullptr, 0), -ENODEV);
  EXPECT_EQ(ask(77, 0, nullptr, 0), -EINVAL);
}

// A header of 48 bytes and the id of the test configuration; 72 more bytes for a configuration that does not exist.
TEST_P(Query, PerfConfigurationListHoldsOnlyTheTestConfiguration) {
  if (!execlists()) GTEST_SKIP() << "no OA counters";
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_LIST, nullptr, 0), 56);
  uint64_t list[8] = {};
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_LIST, list, -1), 56) << "read as a large length";
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[6], 1u);
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_LIST, list, 55), -EINVAL);
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, nullptr, 0), 120);
  uint64_t one[16] = {};
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, one, 120), -ENOENT);
  EXPECT_EQ(ask(DRM_I915_QUERY_PERF_CONFIG, DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, nullptr, 120), -EFAULT);
}

TEST_P(Query, BadItemDoesNotAffectOthers) {
  drm_i915_query_item items[3] = {};
  items[0].query_id = 1000;
  items[1].query_id = DRM_I915_QUERY_ENGINE_INFO;
  items[2].query_id = DRM_I915_QUERY_MEMORY_REGIONS;
  drm_i915_query query{};
  query.num_items = 3;
  query.items_ptr = reinterpret_cast<uintptr_t>(items);
  ASSERT_EQ(call(DRM_IOCTL_I915_QUERY, query), 0);
  EXPECT_EQ(items[0].length, -EINVAL);
  EXPECT_GT(items[1].length, 0);
  EXPECT_GT(items[2].length, 0);
  items[1].query_id = 0;
  items[2].length = 0;
  EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), -EINVAL) << "id 0 is invalid";
  EXPECT_EQ(items[2].length, 0) << "later items are not processed";
  query.flags = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), -EINVAL);
  query.flags = 0;
  query.items_ptr = 8;
  EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), -EFAULT);
  query.num_items = 0;
  EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, Query, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
