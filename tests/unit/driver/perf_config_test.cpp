// Metric sets: what ADD_CONFIG accepts, numbers, queries, and sharing between processes.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "unit/driver/perf_door.h"

namespace halogen::driver {
namespace {

class PerfConfigCalls : public PerfDoor {
 protected:
  int query(uint64_t flags, void* data, int length) {
    drm_i915_query_item item{};
    item.query_id = DRM_I915_QUERY_PERF_CONFIG;
    item.flags = static_cast<uint32_t>(flags);
    item.length = length;
    item.data_ptr = reinterpret_cast<uintptr_t>(data);
    drm_i915_query query{};
    query.num_items = 1;
    query.items_ptr = reinterpret_cast<uintptr_t>(&item);
    EXPECT_EQ(call(DRM_IOCTL_I915_QUERY, query), 0);
    return item.length;
  }
  std::vector<uint64_t> list() {
    std::vector<uint64_t> answer(6 + 100);
    const int length = query(DRM_I915_QUERY_PERF_CONFIG_LIST, answer.data(), static_cast<int>(answer.size() * 8));
    EXPECT_EQ(length, 48 + 8 * static_cast<int>(answer[0]));
    return {answer.begin() + 6, answer.begin() + 6 + static_cast<long>(answer[0])};
  }
};

TEST_P(PerfConfigCalls, NumbersAreTheLowestFree) {
  EXPECT_EQ(list(), std::vector<uint64_t>{1});
  EXPECT_EQ(add(kUuid, {{mux(), 1}}), 2);
  EXPECT_EQ(add(kOtherUuid, {}, {{boolean(), 1}}), 3);
  EXPECT_EQ(add(kUuid, {{mux(), 1}}), -EADDRINUSE);
  EXPECT_EQ(list(), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(remove(2), 0);
  EXPECT_EQ(remove(2), -ENOENT);
  EXPECT_EQ(remove(1), -ENOENT) << "the test set of Linux is not removable";
  EXPECT_EQ(remove(~uint64_t{0}), -ENOENT) << "Mesa asks whether sets can be added so";
  EXPECT_EQ(remove((uint64_t{1} << 32) + 3), -ENOENT);
  EXPECT_EQ(add("aaaaaaaa-0000-0000-0000-000000000000", {}, {}, {{0xe458, 1}}), 2);
  EXPECT_EQ(list(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_P(PerfConfigCalls, UuidsHaveTheUsualForm) {
  for (const char* const wrong : {"", "01234567-89ab-cdef-0123-456789abcde", "01234567-89ab-cdef-0123-456789abcdeg",
                                  "012345678-9ab-cdef-0123-456789abcdef", "01234567x89ab-cdef-0123-456789abcdef"}) {
    EXPECT_EQ(add(wrong, {{mux(), 1}}), -EINVAL) << wrong;
  }
  EXPECT_EQ(add("ABCDEF67-89AB-CDEF-0123-456789ABCDEF", {{mux(), 1}}), 2);
}

// First and last of each range, and their neighbours. Addresses between registers are accepted, as in Linux.
TEST_P(PerfConfigCalls, OnlyListedRegistersAreAccepted) {
  struct Range {
    uint32_t first, last;
  };
  std::vector<Range> muxes{{0x20cc, 0x20cc}};
  if (counts_apart()) {
    muxes.insert(muxes.end(), {{0xd00, 0xd04}, {0xd0c, 0xd2c}, {0x9840, 0x9840}, {0x9884, 0x9888}});
  } else if (is("chv")) {
    muxes = {{0x91b8, 0x91cc}, {0x9800, 0x9888}, {0xe180, 0xe180}, {0x182300, 0x1823a4}};
  } else {
    muxes.insert(muxes.end(), {{0x9800, 0x9888}, {0xe180, 0xe180}, {0xd00, 0xd2c}});
    muxes.push_back(is("icl") ? Range{0x91b8, 0x91dc} : Range{0x91b8, 0x91cc});
  }
  std::vector<Range> booleans{{0x2710, 0x272c}, {0x2740, 0x275c}, {0x2770, 0x27ac}};
  if (counts_apart()) {
    booleans = {{0x2b2c, 0x2b2c}, {0xd900, 0xd93c}, {0xd940, 0xd97c}, {0xdc00, 0xdc47}};
    booleans.back() = {0xdc00, 0xdc3c};
  }
  std::vector<Range> flexibles;
  for (const uint32_t each : {0xe458u, 0xe558u, 0xe658u, 0xe758u, 0xe45cu, 0xe55cu, 0xe65cu}) {
    flexibles.push_back({each, each});
  }
  const auto accepts = [&](int kind, uint32_t offset) {
    const Pairs pairs{{offset, 0}};
    const int id = add(kUuid, kind == 0 ? pairs : Pairs{}, kind == 1 ? pairs : Pairs{}, kind == 2 ? pairs : Pairs{});
    if (id > 0) {
      EXPECT_EQ(remove(static_cast<uint64_t>(id)), 0);
    } else {
      EXPECT_EQ(id, -EINVAL);
    }
    return id > 0;
  };
  const std::vector<Range>* const kinds[] = {&muxes, &booleans, &flexibles};
  for (int kind = 0; kind < 3; ++kind) {
    for (const auto& [first, last] : *kinds[kind]) {
      EXPECT_TRUE(accepts(kind, first)) << kind << std::hex << " " << first;
      EXPECT_TRUE(accepts(kind, last)) << kind << std::hex << " " << last;
      EXPECT_FALSE(accepts(kind, first - 1)) << kind << std::hex << " " << first;
      EXPECT_FALSE(accepts(kind, last + 1)) << kind << std::hex << " " << last;
    }
    EXPECT_FALSE(accepts(kind, 0)) << kind;
    EXPECT_FALSE(accepts(kind, 0x2360)) << kind;
    EXPECT_FALSE(accepts(kind, ~0u)) << kind;
  }
}

TEST_P(PerfConfigCalls, WildPointersAndCountsAreErrors) {
  const Pairs good{{mux(), 1}};
  drm_i915_perf_oa_config config{};
  std::memcpy(config.uuid, kUuid, sizeof config.uuid);
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -EINVAL) << "three empty lists";
  config.n_mux_regs = 42;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -EINVAL) << "a list without address is empty";
  config.mux_regs_ptr = 0xdead'0000'0000;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -EFAULT);
  config.n_mux_regs = ~0u;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -ENOMEM);
  config.n_mux_regs = 1;
  config.mux_regs_ptr = reinterpret_cast<uintptr_t>(good.data());
  config.n_flex_regs = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -EFAULT);
  EXPECT_EQ(list(), std::vector<uint64_t>{1});
}

TEST_P(PerfConfigCalls, DataIsReturnedByNumberAndByName) {
  const uint32_t masked = counts_apart() ? 0x20cc : 0xe180;
  const uint32_t lost = counts_apart() ? 0x0001'0001 : 0x2000'2000;
  ASSERT_EQ(add(kUuid, {{mux(), 5}, {masked, ~0u}}, {{boolean(), 7}}, {{0xe458, 9}}), 2);
  struct Answer {
    struct {
      uint64_t config;  // or the name
      char rest[32];
      uint32_t flags;
      uint32_t unused;
    } head;
    drm_i915_perf_oa_config config;
  } answer{};
  static_assert(offsetof(Answer, config) == 48);
  uint32_t muxes[4]{}, booleans[2]{};
  answer.head.config = 2;
  answer.config.n_mux_regs = 2;
  answer.config.mux_regs_ptr = reinterpret_cast<uintptr_t>(muxes);
  answer.config.n_boolean_regs = 1;
  answer.config.boolean_regs_ptr = reinterpret_cast<uintptr_t>(booleans);
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof answer), 120);
  EXPECT_EQ(std::string(answer.config.uuid, 36), kUuid);
  EXPECT_EQ(answer.config.n_flex_regs, 1u);
  EXPECT_EQ(muxes[0], mux());
  EXPECT_EQ(muxes[1], 5u);
  EXPECT_EQ(muxes[2], masked);
  EXPECT_EQ(muxes[3], ~lost);
  EXPECT_EQ(booleans[0], boolean());
  EXPECT_EQ(booleans[1], 7u);
  answer.config.n_flex_regs = 0;
  answer.config.n_mux_regs = 1;
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof answer), -EINVAL) << "no room";
  answer.config.n_flex_regs = 0;
  answer.config.n_mux_regs = 2;
  answer.config.mux_regs_ptr = 8;
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof answer), -EFAULT);
  answer = {};
  std::memcpy(&answer.head, kUuid, 36);
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof answer), 120);
  EXPECT_EQ(answer.config.n_mux_regs, 2u);
  std::memcpy(&answer.head, kOtherUuid, 36);
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof answer), -ENOENT);
  answer.head.flags = 1;
  EXPECT_EQ(query(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof answer), -EINVAL);
}

TEST_P(PerfConfigCalls, AStreamKeepsItsRemovedSet) {
  const int config = add_any();
  const int other = add(kOtherUuid, {{mux(), 2}});
  const int stream = open_with(usual(config));
  ASSERT_GE(stream, 0);
  EXPECT_EQ(remove(static_cast<uint64_t>(config)), 0);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_CONFIG, static_cast<uint64_t>(other)), config);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_CONFIG, static_cast<uint64_t>(other)), other);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_CONFIG, static_cast<uint64_t>(config)), -EINVAL);
  ::close(stream);
}

TEST_P(PerfConfigCalls, OpeningProgramsTheRegistersOfTheSet) {
  const uint32_t boolean_value = 0x0080'0000;
  const uint32_t at = boolean() + 4;
  const int config = add(kUuid, {{mux(), 0x1234'5678}}, {{at, boolean_value}});
  EXPECT_EQ(register_at(at), 0u);
  const int stream = open_with(usual(config));
  ASSERT_GE(stream, 0);
  EXPECT_EQ(register_at(at), boolean_value);
  ::close(stream);
}

TEST_P(PerfConfigCalls, ProcessesWithOneFolderKnowTheSameSets) {
  std::string folder = ::testing::TempDir() + "halogen-metrics-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (const char* const name : {"/metrics", "/registers"}) ASSERT_EQ(mkdir((folder + name).c_str(), 0755), 0);
  DriverOptions options;
  options.privileged = true;
  options.perf.ids = folder + "/metrics";
  options.perf.registers = folder + "/registers";
  boot(options);
  EXPECT_EQ(add(kUuid, {{mux(), 5}}, {}, {{0xe458, 3}}), 2);
  std::ifstream number(folder + "/metrics/" + kUuid + "/id");
  std::string text;
  EXPECT_TRUE(std::getline(number, text));
  EXPECT_EQ(text, "2");
  boot(options);  // another device that uses the folder
  EXPECT_EQ(list(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(add(kUuid, {{mux(), 5}}), -EADDRINUSE);
  EXPECT_EQ(add(kOtherUuid, {{mux(), 5}}), 3);
  const int stream = open_with(usual(2));
  EXPECT_GE(stream, 0);
  ::close(stream);
  EXPECT_EQ(remove(2), 0);
  EXPECT_FALSE(std::filesystem::exists(folder + "/metrics/" + kUuid));
  EXPECT_EQ(list(), (std::vector<uint64_t>{1, 3}));
  std::filesystem::remove_all(folder);
}
INSTANTIATE_TEST_SUITE_P(Chips, PerfConfigCalls, ::testing::ValuesIn(chips_with_perf()), chip_name);

}  // namespace
}  // namespace halogen::driver
