// Messages with any descriptor, any payload, any surface and sampler state. The input is a chip, a page of state and
// then one message after the other; memory, registers and local memory are exactly as large as they are, so the
// sanitizers see any byte outside. What must hold besides: lanes that are off keep their part of the response of a
// gather.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "message/shared_functions.h"
#include "spec/device_model.h"

namespace halogen::fuzz {

class MessageWorld final : private FaultHandler, private message::Groups {
 public:
  explicit MessageWorld(const spec::DeviceModel& model)
      : generation_(model), formats_(*spec::find_device("dg1"), 39), bytes_(kBytes), local_(1000) {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, kBytes, &frames_});
    WalkContext context;
    context.format = formats_.find(WalkMode::legacy48);
    context.roots[0] = kTables;
    for (uint64_t level = 0; level < 3; ++level) {
      entry(kTables + level * kPage) = (kTables + (level + 1) * kPage) | 3;
    }
    for (uint64_t page = 0; page < kPages; ++page) {
      entry(kTables + 3 * kPage + page * 8) = page * kPage | 3;
    }
    space_.load(context);
  }

  void run(std::span<const uint8_t> data) {
    const size_t state = std::min<size_t>(data.size() / 2, 2 * kPage);
    std::memcpy(bytes_.data(), data.data(), state);
    data = data.subspan(state);
    message::Environment environment{.space = &space_, .groups = this, .bases = {}};
    environment.sampler_table = 0x800;
    functions_.begin(generation_, environment);
    while (!data.empty()) {
      send(data);
    }
  }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kBytes = 1 << 20;
  static constexpr uint64_t kTables = 512 << 10;
  static constexpr uint64_t kPages = 16;

  template <class T>
  static T take(std::span<const uint8_t>& data) {
    T value{};
    const size_t size = std::min(data.size(), sizeof(T));
    std::memcpy(&value, data.data(), size);
    data = data.subspan(size);
    return value;
  }
  uint64_t& entry(uint64_t at) { return *reinterpret_cast<uint64_t*>(bytes_.data() + at); }

  void send(std::span<const uint8_t>& data) {
    // Mostly functions that are there.
    constexpr std::array<uint8_t, 8> kFunctions{2, 3, 7, 9, 10, 12, 12, 10};
    const auto kind = take<uint8_t>(data);
    eu::Message sent;
    sent.function = kind < 0xf0 ? kFunctions[kind % kFunctions.size()] : static_cast<uint8_t>(kind & 15);
    sent.descriptor = take<uint32_t>(data);
    const auto shape = take<uint16_t>(data);
    sent.extended = (shape & 1) != 0 ? uint32_t{take<uint16_t>(data)} << 12 : 0;
    sent.channels = take<uint16_t>(data);
    sent.exec_size = static_cast<uint8_t>(1u << (shape >> 1 & 3) << 1);
    action_ = (shape & 8) != 0 ? FaultAction::stop : FaultAction::skip;
    const size_t payload = std::min<size_t>(data.size(), (shape >> 4 & 7) * eu::kGrfBytes);
    std::memcpy(thread_.grf.data(), data.data(), payload);
    data = data.subspan(payload);
    const size_t length = sent.descriptor >> 25 & 15;
    const size_t cut = std::min<size_t>(length, shape >> 8 & 15);
    sent.first = thread_.registers(0, cut);
    sent.second = thread_.registers(cut, length - cut);
    // The response may lie over the payload.
    sent.response = thread_.registers(shape >> 12, sent.descriptor >> 20 & 31);
    functions_.send(thread_, sent);
  }

  FaultAction on_fault(const Fault& /*fault*/) override { return action_; }
  std::span<std::byte> local_memory(uint32_t /*group*/) override { return local_; }
  void arrive(eu::Thread& /*thread*/) override {}

  Generation generation_;
  PageFormats formats_;
  std::vector<std::byte> bytes_;
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  Tlb tlb_{64};
  FaultAction action_ = FaultAction::skip;
  AddressSpace space_{memory_, tlb_, 1, *this};
  std::vector<std::byte> local_;
  message::SharedFunctions functions_;
  eu::Thread thread_;
};

inline void message(std::span<const uint8_t> data) {
  constexpr std::array kChips{"bdw", "skl", "icl", "dg1"};
  if (data.size() < 2) return;
  MessageWorld world(*spec::find_device(kChips[data[0] % kChips.size()]));
  world.run(data.subspan(1));
}

}  // namespace halogen::fuzz
