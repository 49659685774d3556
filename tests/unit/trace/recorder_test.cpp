// Recordings of a guest's work and their replay.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"
#include "trace/recorder.h"

namespace halogen::trace {
namespace {

constexpr uint64_t kSettleLimit = 1'000'000;

// A guest whose memory is an array, with the recorder between it and the device.
class Guest final : public device::Host {
 public:
  explicit Guest(const char* name) : memory_(kPages * 4096) {
    const spec::DeviceModel& model = *spec::find_device(name);
    auto sink = std::make_unique<MemorySink>();
    sink_ = sink.get();
    recorder_ = Recorder::create(model, std::move(sink), true, true, "test", kSettleLimit).value();
    device::DeviceOptions options;
    options.table_enabled = true;
    options.power_gating = false;
    device_ = device::Device::create(model, *this, options).value();
    device_->config_write(4, 2, 6);
    recorder_->watch(*device_);
  }

  bool read_memory(PhysAddr, std::span<std::byte>) override { return false; }
  bool write_memory(PhysAddr, std::span<const std::byte>) override { return false; }
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    if (bytes > 4096 || address.value + bytes > memory_.size()) return {};
    const auto page = std::span(memory_).subspan(address.value, bytes);
    recorder_->on_page(address.value, page);
    return page;
  }
  void set_interrupt_line(bool) override {}
  void send_message_interrupt(PhysAddr, uint32_t) override {}
  void on_event(const Event&) override {}

  void write(uint64_t offset, uint32_t value) { EXPECT_TRUE(write_long(offset, value)); }
  // Writes a register that starts long work. False: the work has not ended.
  bool write_long(
      uint64_t offset, uint32_t value, const std::function<void()>& meanwhile = [] {}) {
    recorder_->before_write(0, offset);
    device_->bar_write(0, offset, 4, value);
    const bool settled = device_->settle(kSettleLimit);
    meanwhile();
    recorder_->after_write(0, offset, 4, value);
    return settled;
  }
  void write_local(uint64_t offset, uint32_t value, bool behind) {
    constexpr unsigned kLocalBar = 2;
    if (!behind) recorder_->before_write(kLocalBar, offset);
    device_->bar_write(kLocalBar, offset, 4, value);
    if (!behind) recorder_->after_write(kLocalBar, offset, 4, value);
  }
  // Writes a register without notifying the recorder.
  void write_behind(uint64_t offset, uint32_t value) { device_->bar_write(0, offset, 4, value); }
  // Advances time, in which engines work and `meanwhile` runs.
  void pass(
      uint64_t nanoseconds, const std::function<void()>& meanwhile = [] {}) {
    recorder_->before_time();
    device_->advance(nanoseconds);
    meanwhile();
    recorder_->after_time();
  }
  void config_write(uint32_t offset, uint32_t value) {
    device_->config_write(offset, 1, value);
    recorder_->after_config_write(offset, 1, value);
  }
  void reset() {
    device_->reset(device::ResetKind::function_level);
    device_->config_write(4, 2, 6);
    recorder_->after_reset();
  }
  void poke(uint64_t address, std::vector<uint32_t> dwords) {
    std::memcpy(&memory_[address], dwords.data(), dwords.size() * 4);
  }
  uint32_t peek(uint64_t address) const {
    uint32_t value = 0;
    std::memcpy(&value, &memory_[address], sizeof(value));
    return value;
  }
  void have_threads() {
    recorder_->watch_threads([] { return true; });
  }
  device::Device& device() { return *device_; }
  RecordedRun finish() { return *recorder_->finish(); }
  std::span<const std::byte> trace() const { return sink_->bytes(); }

 private:
  static constexpr size_t kPages = 64;
  std::vector<std::byte> memory_;
  std::unique_ptr<Recorder> recorder_;
  MemorySink* sink_ = nullptr;
  std::unique_ptr<device::Device> device_;
};

constexpr uint64_t kRing = 0x1'0000;
constexpr uint64_t kData = 0x2'0000;
constexpr uint32_t kTail = 0x2030, kHead = 0x2034, kStart = 0x2038, kControl = 0x203c;

void start_ring(Guest& guest) {
  guest.write(kControl, 0);
  guest.write(kHead, 0);
  guest.write(kTail, 0);
  guest.write(kStart, 0x1000);
  guest.write(kControl, 1);
}

// Maps the ring at 1000h and data at 2000h.
void map_pages(Guest& guest) {
  const uint64_t table = guest.device().model().gtt_offset;
  guest.write(table + 4 * 1, kRing | 1);
  guest.write(table + 4 * 2, kData | 1);
}

// Expects that the trace replays to the same memory with the same number of commands.
void expect_same(Guest& guest) {
  const RecordedRun run = guest.finish();
  EXPECT_EQ(run.commands, commands_of(guest.device()));
  EXPECT_GE(run.commands, 1u);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.differences, 0u);
  EXPECT_GE(run.comparisons, 1u);
  const auto source = open_memory(guest.trace());
  aub::Reader reader(*source, "trace");
  Player player;
  player.set_settle_limit(kSettleLimit);
  for (;;) {
    const auto more = reader.next(player);
    ASSERT_TRUE(more.ok()) << more.message();
    if (!*more) break;
  }
  ASSERT_EQ(player.failure(), "");
  EXPECT_EQ(player.simulator()->memory_hash(), run.memory_hash);
  for (uint64_t at = 0; at < 16; at += 4) {
    uint32_t value = 0;
    EXPECT_TRUE(player.read(aub::MemorySpace::system, kData + at, std::as_writable_bytes(std::span(&value, 1))));
    EXPECT_EQ(value, guest.peek(kData + at)) << at;
  }
}

TEST(Recorder, RecordedGuestReplaysToTheSameState) {
  Guest guest("g45");
  const uint64_t table = guest.device().model().gtt_offset;
  const auto base = static_cast<uint32_t>(guest.device().bar_read(0, 0x2020, 4) & ~uint64_t{1});
  guest.write(0x2020, base);  // as Linux does: the enable bit is cleared, and the table stays enabled
  guest.write(table + 4 * 1, kRing | 1);
  guest.write(table + 4 * 2, kData | 1);
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2004, 0xaaaa'0002});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData), 0xaaaa'0001u);
  // The guest overwrites data of the device and submits more work, also after a reset.
  guest.poke(kData, {0x1234'5678});
  guest.poke(kRing + 32, {0x1040'0002, 0, 0x2008, 0xaaaa'0003, 0, 0, 0, 0});
  guest.write(kTail, 64);
  guest.config_write(0xc0, 5);  // render
  guest.write(0x2020, base);
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x200c, 0xaaaa'0004, 0, 0, 0, 0});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData + 12), 0xaaaa'0004u);

  expect_same(guest);
}

// After a reset of the function during work, the engine becomes idle in the replay too, and works again afterwards.
TEST(Recorder, FunctionLevelResetIsReplayed) {
  Guest guest("g45");
  map_pages(guest);
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2004, 0xaaaa'0002});
  guest.write(kTail, 16);
  guest.reset();
  EXPECT_EQ(guest.device().bar_read(0, kTail, 4), 0u);
  guest.write(kTail, 32);  // the ring is disabled, so no command runs in either device
  EXPECT_EQ(guest.peek(kData + 4), 0u);
  map_pages(guest);
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x200c, 0xaaaa'0004, 0, 0, 0, 0});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData + 12), 0xaaaa'0004u);
  expect_same(guest);
}

// Writes of the software between two accesses are not differences, at any address.
TEST(Recorder, SoftwareWritesAreNotDifferences) {
  Guest guest("g45");
  map_pages(guest);
  start_ring(guest);
  for (uint32_t i = 0; i < 4; ++i) {
    guest.poke(kData + 64, {i, ~i});
    guest.poke(kRing + 16 * i, {0x1040'0002, 0, 0x2000 + 4 * i, 0xaaaa'0001 + i});
    guest.write(kTail, 16 * (i + 1));
    guest.poke(kData + 4 * i, {i});  // overwrites data that the device has just written
  }
  const RecordedRun run = guest.finish();
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.unjudged, 0u);
  EXPECT_GE(run.comparisons, 4u);
}

// If the trace lacks a table entry, a store of the replay goes to another page. The recorder reports it, although
// memory is equal again before the next work.
TEST(Recorder, DifferentStoreInReplayIsAFault) {
  Guest guest("g45");
  map_pages(guest);
  start_ring(guest);
  guest.write_behind(guest.device().model().gtt_offset + 4 * 2, (kData + 0x1000) | 1);
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2008, 0xaaaa'0002});
  guest.write(kTail, 16);
  EXPECT_EQ(guest.peek(kData + 0x1000), 0xaaaa'0001u);
  guest.write(guest.device().model().gtt_offset + 4 * 2, kData | 1);
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData + 8), 0xaaaa'0002u);
  const RecordedRun run = guest.finish();
  EXPECT_GE(run.differences, 1u);
  EXPECT_NE(run.fault.find("0x21000 differs"), std::string::npos) << run.fault;
  EXPECT_NE(run.fault.find("after the write to 0x2030"), std::string::npos) << run.fault;
}

// Other threads may write while the device works for one thread; the writes of that work are compared anyway.
TEST(Recorder, WritesOfOtherThreadsAreNotDifferences) {
  for (const bool misses_entry : {false, true}) {
    Guest guest("g45");
    guest.have_threads();
    map_pages(guest);
    start_ring(guest);
    guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2008, 0xaaaa'0002});
    EXPECT_TRUE(guest.write_long(kTail, 16, [&] { guest.poke(kRing + 0x800, {0x5555'5555}); }));
    if (misses_entry) guest.write_behind(guest.device().model().gtt_offset + 4 * 2, (kData + 0x1000) | 1);
    EXPECT_TRUE(guest.write_long(kTail, 32));
    const RecordedRun run = guest.finish();
    EXPECT_EQ(run.fault.empty(), !misses_entry) << run.fault;
    EXPECT_GE(run.unjudged, 1u);
  }
}

// Timestamps that commands write are equal in both devices, however much time passed while the engines were idle.
TEST(Recorder, ReplayHasTheSameTime) {
  Guest guest("g45");
  map_pages(guest);
  start_ring(guest);
  guest.pass(123'456'789);
  guest.poke(kRing, {0x1240'0001, 0x235c, 0x2000});  // MI_STORE_REGISTER_MEM of TIMESTAMP, the upper half
  guest.poke(kRing + 12, {0x1040'0002, 0, 0x2008, 0xaaaa'0001, 0});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData + 8), 0xaaaa'0001u);
  EXPECT_NE(guest.peek(kData), 0u);
  expect_same(guest);
}

// Work that runs concurrently with the software is counted but not compared.
TEST(Recorder, WorkConcurrentWithTheSoftwareIsCounted) {
  Guest guest("g45");
  map_pages(guest);
  start_ring(guest);
  // An endless batch: a store and a jump back to the store.
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1880'0080, 0x1000, 0, 0});
  guest.write_long(kTail, 32);
  guest.pass(1'000'000, [&] { guest.poke(kData, {0x5555'5555}); });
  const RecordedRun run = guest.finish();
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.unjudged, 1u);
}

// Local memory is compared at the end, because writes that bypassed the recorder are missing in a replay.
TEST(Recorder, LocalMemoryIsComparedAtTheEnd) {
  for (const bool behind : {false, true}) {
    Guest guest("dg1");
    guest.write_local(0x10'0000, 0x1111'1111, false);
    guest.write_local(0x20'0000, 0x2222'2222, behind);
    const RecordedRun run = guest.finish();
    EXPECT_EQ(run.differences, behind ? 1u : 0u);
    EXPECT_EQ(run.fault.find("local memory at 0x200000 differs") != std::string::npos, behind) << run.fault;
  }
}

}  // namespace
}  // namespace halogen::trace
