// The device process, with a test instead of QEMU.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "device_server.h"
#include "fuzz/vm_target.h"
#include "guest_setup.h"
#include "support/paths.h"
#include "support/send_file.h"

namespace halogen::vm {
namespace {

constexpr uint64_t kAllOnes = ~uint64_t{0};

class ProxyClient {
 public:
  explicit ProxyClient(const char* device) {
    const spec::DeviceModel& model = *spec::find_device(device);
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    socket_ = File(ends[1]);
    server_.emplace(ProxyLink(File(ends[0])), nullptr);
    EXPECT_TRUE(server_->create_device(model, guest_device_options(model)).ok());
    thread_ = std::jthread([this] { result_.emplace(server_->serve(-1)); });
  }
  ~ProxyClient() { end(); }

  const Result<void>& end() {
    socket_ = File();
    if (thread_.joinable()) thread_.join();
    return *result_;
  }
  const ServerStatistics& statistics() { return server_->statistics(); }

  void send(int32_t command, std::span<const std::byte> payload, uint64_t claimed) {
    std::vector<std::byte> bytes(16);
    std::memcpy(bytes.data(), &command, sizeof(command));
    std::memcpy(bytes.data() + 8, &claimed, sizeof(claimed));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    EXPECT_TRUE(write_all(socket_.descriptor(), bytes));
  }
  template <class T>
  void send(int32_t command, const T& payload) {
    send(command, std::as_bytes(std::span(&payload, 1)), sizeof(T));
  }
  void send_map(const MemoryMap& map, const File& file) {
    struct {
      int32_t command = 0, padding = 0;
      uint64_t bytes = sizeof(MemoryMap);
      MemoryMap map;
    } whole{.map = map};
    EXPECT_EQ(test::send_with_file(socket_.descriptor(), std::as_bytes(std::span(&whole, 1)), file.descriptor()),
              static_cast<ssize_t>(sizeof(whole)));
  }
  uint64_t answer() {
    struct {
      int32_t command, padding;
      uint64_t bytes, value;
    } got{};
    EXPECT_TRUE(read_all(socket_.descriptor(), std::as_writable_bytes(std::span(&got, 1))));
    EXPECT_EQ(got.command, 1);
    EXPECT_EQ(got.bytes, 8u);
    return got.value;
  }
  uint64_t config(uint32_t offset, int32_t bytes = 4) {
    send(3, ConfigAccess{offset, 0, bytes});
    return answer();
  }
  void set_config(uint32_t offset, uint32_t value, int32_t bytes = 4) {
    send(2, ConfigAccess{offset, value, bytes});
    answer();
  }
  uint64_t bar(uint64_t address, uint32_t bytes = 4, bool memory = true) {
    send(5, BarAccess{address, 0, bytes, static_cast<uint8_t>(memory), {}});
    return answer();
  }
  void reset() {
    send(7, {}, 0);
    answer();
  }

 private:
  File socket_;
  std::optional<DeviceServer> server_;
  std::optional<Result<void>> result_;
  std::jthread thread_;
};

TEST(DeviceServer, ShowsTheDeviceAsQemuSizesIt) {
  ProxyClient client("icl");
  EXPECT_EQ(client.config(0), 0x8a52'8086u);
  EXPECT_EQ(client.config(0, 2), 0x8086u);
  // The proxy treats each dword as a separate BAR, so before the first reset the upper half reads as no BAR.
  client.set_config(0x10, 0xffff'ffff);
  client.set_config(0x14, 0xffff'ffff);
  EXPECT_EQ(client.config(0x10), 0xff00'0004u);
  EXPECT_EQ(client.config(0x14), 0u);
  client.reset();
  client.set_config(0x14, 0xffff'ffff);
  EXPECT_NE(client.config(0x14), 0u);
  // Requests of the machine contain absolute addresses.
  client.set_config(0x10, 0xe000'0000);
  client.set_config(0x14, 0);
  client.set_config(4, 6, 2);
  EXPECT_EQ(client.bar(0xe013'0044) & 1, 0u);
  client.send(4, BarAccess{0xe000'a188, 0x0001'0001, 4, 1, {}});  // force wake, and its acknowledgement
  EXPECT_EQ(client.answer(), 0u);
  EXPECT_EQ(client.bar(0xe013'0044) & 1, 1u);
  EXPECT_TRUE(client.end().ok());
  EXPECT_EQ(client.statistics().dropped, 0u);
}

TEST(DeviceServer, AnswersInvalidRequests) {
  ProxyClient client("g45");
  for (const int32_t bytes : {0, 3, 5, 8, -1, 0x7fff'ffff}) EXPECT_EQ(client.config(0, bytes), kAllOnes) << bytes;
  for (const uint32_t bytes : {0u, 3u, 16u, 0xffff'ffffu}) EXPECT_EQ(client.bar(0xe000'0000, bytes), kAllOnes) << bytes;
  EXPECT_EQ(client.bar(0x1234), kAllOnes) << "in no BAR";
  EXPECT_EQ(client.bar(~uint64_t{0}, 8), kAllOnes);
  static_cast<void>(client.config(0xffff'fffc));
  static_cast<void>(client.config(0x101));
  static_cast<void>(client.bar(0xffff'ffff, 8, false));
  const uint32_t little = 0;
  client.send(5, little);  // the payload is too small
  EXPECT_EQ(client.answer(), kAllOnes);
  client.send(3, {}, 0);
  EXPECT_EQ(client.answer(), kAllOnes);
  client.send(0, little);  // no reply to these requests
  client.send(6, {}, 0);
  client.send(1, {}, 0);
  client.send(99, little);
  client.send(-1, little);
  EXPECT_EQ(client.config(0) & 0xffff, 0x8086u) << "and the server continues";
  EXPECT_TRUE(client.end().ok());
  EXPECT_GE(client.statistics().dropped, 14u);
}

TEST(DeviceServer, EndsWithTheMachine) {
  for (const size_t part : {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{20}}) {
    ProxyClient client("snb");
    const std::vector<std::byte> zeros(part > 16 ? part - 16 : 0);
    if (part >= 16) client.send(3, zeros, sizeof(ConfigAccess));
    EXPECT_TRUE(client.end().ok()) << part;
  }
  ProxyClient client("snb");
  client.send(3, {}, uint64_t{1} << 40);
  EXPECT_FALSE(client.end().ok()) << "no message is that long";
}

TEST(DeviceServer, EndsOnInvalidMemoryMap) {
  ProxyClient client("snb");
  File file(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(file.descriptor(), 0x1000), 0);
  MemoryMap map{};
  map.bytes[0] = 0x2000;
  // A piece of the memory map needs a descriptor.
  client.send(0, map);
  EXPECT_EQ(client.config(0) & 0xffff, 0x8086u);
  client.send_map(map, file);
  EXPECT_FALSE(client.end().ok());
}

// A batch stores to guest memory forever. After the machine has sent another map, the old file is no longer reached.
TEST(DeviceServer, MemoryOutsideTheNewMapIsNotReached) {
  constexpr uint64_t kRam = 0x1000'0000, kBytes = 1 << 20, kBar = 0xe000'0000, kTable = 0x20'0000;
  constexpr uint32_t kRing = 0x1000, kBatch = 0x2000, kData = 0x3000, kMark = 0x600d'f00d;
  ProxyClient client("g45");
  const auto make = [&] {
    File file(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(file.descriptor(), kBytes), 0);
    return file;
  };
  const auto view = [&](const File& file) {
    void* const place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    EXPECT_NE(place, MAP_FAILED);
    return static_cast<uint32_t*>(place);
  };
  const File first = make(), second = make();
  uint32_t* const words = view(first);
  uint32_t* const others = view(second);
  const auto put = [](uint32_t* at, std::initializer_list<uint32_t> values) {
    std::copy(values.begin(), values.end(), at);
  };
  for (uint32_t* const each : {words, others}) {
    put(each + kRing / 4, {0x1880'0080, kBatch});                                       // MI_BATCH_BUFFER_START
    put(each + kBatch / 4, {0x1040'0002, 0, kData, kMark, 0x1880'0080, kBatch, 0, 0});  // MI_STORE_DATA_IMM, again
  }
  MemoryMap map{};
  map.address[0] = kRam;
  map.bytes[0] = kBytes;
  client.send_map(map, first);
  const auto poke = [&](uint64_t offset, uint32_t value) {
    client.send(4, BarAccess{kBar + offset, value, 4, 1, {}});
    EXPECT_EQ(client.answer(), 0u);
  };
  client.set_config(0x10, static_cast<uint32_t>(kBar));
  client.set_config(0x14, 0);
  client.set_config(4, 6, 2);
  poke(0x2020, 1);  // the table is enabled
  for (uint32_t page = 0; page < 8; ++page) {
    poke(kTable + page * 4, static_cast<uint32_t>(kRam + page * 4096) | 1);
  }
  poke(0x2038, kRing);
  poke(0x203c, 1);  // one page, enabled
  poke(0x2030, 8);
  const auto stores = [&](uint32_t* at) {
    __atomic_store_n(at + kData / 4, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < 500 && __atomic_load_n(at + kData / 4, __ATOMIC_RELAXED) != kMark; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return __atomic_load_n(at + kData / 4, __ATOMIC_RELAXED) == kMark;
  };
  ASSERT_TRUE(stores(words));
  client.send_map(map, second);
  EXPECT_EQ(client.config(0) & 0xffff, 0x8086u);  // the new map holds
  __atomic_store_n(words + kData / 4, 0, __ATOMIC_RELAXED);
  EXPECT_TRUE(stores(others)) << "the batch continues in the new memory";
  EXPECT_EQ(__atomic_load_n(words + kData / 4, __ATOMIC_RELAXED), 0u) << "the old file was written";
  // No memory at all.
  client.send(0, MemoryMap{});
  EXPECT_EQ(client.config(0) & 0xffff, 0x8086u);
  __atomic_store_n(others + kData / 4, 0, __ATOMIC_RELAXED);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(__atomic_load_n(others + kData / 4, __ATOMIC_RELAXED), 0u);
  EXPECT_TRUE(client.end().ok());
  munmap(words, kBytes);
  munmap(others, kBytes);
}

// The fuzzer's body, on a few streams of messages.
TEST(DeviceServer, SurvivesHostileStreams) {
  std::vector<uint8_t> stream;
  for (uint32_t i = 0; i < 2000; ++i) stream.push_back(static_cast<uint8_t>(i * 2654435761u >> 24));
  for (size_t size : {size_t{0}, size_t{1}, size_t{17}, size_t{500}, size_t{2000}}) {
    fuzz::vm_stream(std::span(stream).first(size));
  }
  std::vector<uint8_t> orders{3};
  for (uint8_t command = 0; command < 9; ++command) {
    for (const uint8_t bytes : std::initializer_list<uint8_t>{0, 12, 24, 192}) {
      orders.insert(orders.end(), {command, 0, 0, 0, 0, 0, 0, 0, bytes, 0, 0, 0, 0, 0, 0, 0});
      orders.resize(orders.size() + bytes, command);
    }
  }
  fuzz::vm_stream(orders);
}

// Recorded messages of QEMU while Linux booted, bound its driver and ran a command, complete and truncated.
TEST(DeviceServer, SurvivesRecordedAndTruncatedStreams) {
  const auto folder = test::source_folder() / "tests" / "fuzz" / "corpus" / "fuzz_vm";
  unsigned count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    ASSERT_GT(bytes.size(), 1000u);
    const std::span stream(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    fuzz::vm_stream(stream);
    fuzz::vm_stream(stream.first(bytes.size() / 2));
    ++count;
  }
  EXPECT_GE(count, 8u);
}

TEST(GuestSetup, FitsTheMachine) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const device::DeviceOptions options = guest_device_options(model);
    EXPECT_TRUE(device::check_options(model, options).ok()) << model.name;
    const uint64_t end = end_of_guest_memory(model, options);
    EXPECT_LE(end, kGuestMemoryBytes) << model.name;
    EXPECT_GE(end, kGuestMemoryBytes / 2) << model.name;
    if (options.stolen_base != 0) {
      EXPECT_LE(end + gtt_bytes(model, options), options.stolen_base) << model.name;
      EXPECT_LE(options.stolen_base + stolen_bytes(model, options), kGuestMemoryBytes) << model.name;
    }
    EXPECT_EQ(module_options(model).empty(), model.local_bytes == 0) << model.name;
  }
}

}  // namespace
}  // namespace halogen::vm
