// A guest's work, recorded and played again.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "recorder.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::vm {
namespace {

// A guest whose memory is an array, with the recorder between it and a device.
class Guest final : public Host {
 public:
  explicit Guest(const char* name) : memory_(kPages * 4096) {
    const spec::DeviceModel& model = *spec::find_device(name);
    auto sink = std::make_unique<trace::MemorySink>();
    sink_ = sink.get();
    recorder_ = Recorder::create(model, std::move(sink), true, true).value();
    DeviceOptions options;
    options.table_enabled = true;
    options.power_gating = false;
    device_ = Device::create(model, *this, options).value();
    device_->config_write(4, 2, 6);
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

  void write(uint64_t offset, uint32_t value) {
    recorder_->before_write(0, offset);
    device_->bar_write(0, offset, 4, value);
    EXPECT_TRUE(device_->settle());
    recorder_->after_write(0, offset, 4, value);
  }
  void config_write(uint32_t offset, uint32_t value) {
    device_->config_write(offset, 1, value);
    recorder_->after_config_write(offset, 1, value);
  }
  void reset() {
    device_->reset(ResetKind::function_level);
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
  Device& device() { return *device_; }
  RecordedRun finish() { return *recorder_->finish(); }
  std::span<const std::byte> trace() const { return sink_->bytes(); }

 private:
  static constexpr size_t kPages = 64;
  std::vector<std::byte> memory_;
  std::unique_ptr<Recorder> recorder_;
  trace::MemorySink* sink_ = nullptr;
  std::unique_ptr<Device> device_;
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

// The trace gives the same memory, by as many commands.
void expect_same(Guest& guest) {
  const RecordedRun run = guest.finish();
  EXPECT_EQ(run.commands, commands_of(guest.device()));
  EXPECT_GE(run.commands, 1u);
  const auto source = trace::open_memory(guest.trace());
  trace::aub::Reader reader(*source, "trace");
  trace::Player player;
  for (;;) {
    const auto more = reader.next(player);
    ASSERT_TRUE(more.ok()) << more.message();
    if (!*more) break;
  }
  ASSERT_EQ(player.failure(), "");
  EXPECT_EQ(player.machine()->memory_hash(), run.memory_hash);
  for (uint64_t at = 0; at < 16; at += 4) {
    uint32_t value = 0;
    EXPECT_TRUE(player.read(trace::aub::MemorySpace::system, kData + at, std::as_writable_bytes(std::span(&value, 1))));
    EXPECT_EQ(value, guest.peek(kData + at)) << at;
  }
}

TEST(Recorder, WhatAGuestDidIsPlayedAgain) {
  Guest guest("g45");
  const uint64_t table = guest.device().model().gtt_offset;
  const auto base = static_cast<uint32_t>(guest.device().bar_read(0, 0x2020, 4) & ~uint64_t{1});
  guest.write(0x2020, base);  // as Linux does: the switch goes off, the table stays on
  guest.write(table + 4 * 1, kRing | 1);
  guest.write(table + 4 * 2, kData | 1);
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2004, 0xaaaa'0002});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData), 0xaaaa'0001u);
  // The guest changes what the device wrote, and gives it more to do, after a reset too.
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

// A machine that starts again in the middle of work: the engine is idle in the trace too, and works again.
TEST(Recorder, AResetOfTheFunctionIsPlayedAgain) {
  Guest guest("g45");
  const uint64_t table = guest.device().model().gtt_offset;
  const auto map = [&] {
    guest.write(table + 4 * 1, kRing | 1);
    guest.write(table + 4 * 2, kData | 1);
  };
  map();
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x2000, 0xaaaa'0001, 0x1040'0002, 0, 0x2004, 0xaaaa'0002});
  guest.write(kTail, 16);
  guest.reset();
  EXPECT_EQ(guest.device().bar_read(0, kTail, 4), 0u);
  guest.write(kTail, 32);  // a ring that is off: nothing runs, here or there
  EXPECT_EQ(guest.peek(kData + 4), 0u);
  map();
  start_ring(guest);
  guest.poke(kRing, {0x1040'0002, 0, 0x200c, 0xaaaa'0004, 0, 0, 0, 0});
  guest.write(kTail, 32);
  EXPECT_EQ(guest.peek(kData + 12), 0xaaaa'0004u);
  expect_same(guest);
}

}  // namespace
}  // namespace halogen::vm
