// Messages without running threads: the registers of one thread, mapped memory, and one group. Descriptors are the
// numbers that drivers' kernels contain.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "message/shared_functions.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::message {

constexpr uint8_t kSampler = 2, kGateway = 3, kUrb = 6, kSpawner = 7, kConstantCache = 9, kPort0 = 10, kPixel = 11,
                  kPort1 = 12;

class OneGroup final : public Groups {
 public:
  std::span<std::byte> local_memory(uint32_t group) override {
    return group == 0 ? std::span(local) : std::span<std::byte>();
  }
  void arrive(eu::Thread& thread) override {
    ++arrived;
    ++thread.notification[0];
  }
  std::vector<std::byte> local = std::vector<std::byte>(1024);
  unsigned arrived = 0;
};

class MessageBench : public testing::TestWithParam<std::string> {
 protected:
  static constexpr uint64_t kBytes = 2 << 20;
  static constexpr uint64_t kVa =
      0x0000'7654'0000'0000;                      // address at which the memory is mapped; nothing else is mapped
  static constexpr uint32_t kStates = 0x10'0000;  // surface states and tables, from kVa
  static constexpr uint32_t kTable = 0x1000;      // binding table, from kStates
  static constexpr uint32_t kSamplers = 0x2000;   // from kStates: the dynamic base

  MessageBench() {
    environment_.space = &memory_.space();
    environment_.groups = &group_;
    environment_.bases.general = kVa;
    environment_.bases.surface = kVa + kStates;
    environment_.bases.dynamic = kVa + kStates;
    environment_.bases.bindless_surface = kVa + kStates;
    environment_.binding_table = kVa + kStates + kTable;
    environment_.sampler_table = kSamplers;
    functions_.set_events(&log_, "gpu0.rcs0");
    begin();
  }

  // Maps the same bytes at address 0 too, and places state there: for chips with 32-bit addresses.
  void map_low() {
    memory_.map_low();
    environment_.bases = {};
    environment_.bases.surface = kStates;
    environment_.bases.dynamic = kStates;
    begin();
  }

  void begin() { functions_.begin(generation_, environment_); }

  // `at`: offset from kVa.
  uint64_t& word64(uint64_t at) { return memory_.at<uint64_t>(at); }
  uint32_t& word(uint64_t at) { return memory_.at<uint32_t>(at); }
  float& real(uint64_t at) { return memory_.at<float>(at); }
  uint8_t& byte(uint64_t at) { return memory_.at<uint8_t>(at); }

  uint32_t& grf(size_t reg, size_t dword = 0) {
    return *reinterpret_cast<uint32_t*>(thread_.grf.data() + reg * 32 + dword * 4);
  }
  uint64_t& grf64(size_t reg, size_t qword = 0) {
    return *reinterpret_cast<uint64_t*>(thread_.grf.data() + reg * 32 + qword * 8);
  }
  void set_lanes(size_t reg, std::initializer_list<uint32_t> values) {
    size_t lane = 0;
    for (const uint32_t value : values) {
      grf(reg, lane++) = value;
    }
  }

  // Stores the sixteen dwords of a surface state at binding table index `index`.
  void bind(uint8_t index, const std::vector<uint32_t>& state) {
    const uint32_t at = 0x4000 + index * 64u;
    word(kStates + kTable + index * 4u) = at;
    for (size_t i = 0; i < state.size(); ++i) {
      word(kStates + at + i * 4) = state[i];
    }
    begin();
  }
  // Binds a buffer of bytes with the state that drivers use.
  void bind_raw(uint8_t index, uint64_t offset, uint64_t bytes) {
    const uint64_t last = bytes - 1;
    bind(index, {0x87fd'4000, 0, static_cast<uint32_t>((last & 0x7f) | (last >> 7 & 0x3fff) << 16),
                 static_cast<uint32_t>((last >> 21) << 21), 0, 0, 0, 0, static_cast<uint32_t>(kVa + offset),
                 static_cast<uint32_t>((kVa + offset) >> 32), 0, 0, 0, 0, 0, 0});
  }

  static constexpr size_t kPayload = 10;
  static constexpr size_t kResponse = 60;
  // Sends a message with its payload at r10 and its response at r60. `split`: number of registers of the first source;
  // the others start at r30.
  eu::SendOutcome send(uint8_t function, uint32_t descriptor, uint32_t channels, uint8_t exec_size = 16,
                       std::optional<size_t> split = std::nullopt, uint32_t extended = 0) {
    const size_t length = descriptor >> 25 & 15;
    const size_t first = split.value_or(length);
    eu::Message message;
    message.function = function;
    message.descriptor = descriptor;
    message.extended = extended;
    message.first = thread_.registers(kPayload, first);
    if (split) {
      message.second = thread_.registers(30, length);
    }
    message.response = thread_.registers(kResponse, descriptor >> 20 & 31);
    message.channels = channels;
    message.exec_size = exec_size;
    return functions_.send(thread_, message);
  }
  uint32_t response(size_t reg, size_t lane) { return grf(kResponse + reg, lane); }

  test::MappedMemory memory_{kBytes, kVa};
  const spec::DeviceModel& model_ = *spec::find_device(GetParam());
  Generation generation_{model_};
  OneGroup group_;
  EventLog log_;
  Environment environment_;
  SharedFunctions functions_;
  eu::Thread thread_;
};

}  // namespace halogen::message
