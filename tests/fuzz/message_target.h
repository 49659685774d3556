// Messages with any descriptor, any payload, any surface and sampler state. The input is a chip, a page of state and
// then one message after the other; memory, registers and local memory are exactly as large as they are, so the
// sanitizers see any byte outside. What must hold besides: no register outside the response changes, and where each
// lane has its own part of the response, lanes that are off keep theirs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "eu/isa/messages.h"
#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "message/shared_functions.h"
#include "spec/device_model.h"

namespace halogen::fuzz {

class MessageWorld final : private FaultHandler, private message::Groups, private message::Urb {
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
    message::Environment environment{.space = &space_, .groups = this, .urb = this, .bases = {}};
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
    constexpr std::array<uint8_t, 11> kFunctions{2, 2, 3, 4, 5, 6, 7, 9, 10, 12, 12};
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
    const auto before = thread_.grf;
    functions_.send(thread_, sent);
    check_response(sent, before, size_t{static_cast<uint32_t>(shape >> 12)} * eu::kGrfBytes);
  }

  // How many lanes the response of dwords has; 0: it is not laid out by lanes.
  unsigned lanes_of_response(const eu::Message& sent) const {
    using Type = eu::MessageControl::Type;
    using Simd = eu::MessageControl::Simd;
    const eu::MessageControl control = eu::unpack_control(generation_.id(), sent.function & 15u, sent.descriptor);
    const unsigned width = control.simd == Simd::simd16 ? 16 : control.simd == Simd::simd8 ? 8 : 0;
    switch (control.type) {
      case Type::untyped_read:
      case Type::untyped_atomic:
      case Type::a64_untyped_read:
      case Type::dword_scattered_read:
      case Type::byte_scattered_read:
        return width;
      case Type::typed_read:
      case Type::typed_atomic:
      case Type::urb_simd8_read:
        return 8;
      default:
        return control.function == eu::SharedFunction::smpl && !control.half ? width : 0;
    }
  }

  void check_response(const eu::Message& sent, const decltype(eu::Thread::grf)& before, size_t first) const {
    const size_t end = first + sent.response.size();
    for (size_t i = 0; i < before.size(); ++i) {
      check((i >= first && i < end) || thread_.grf[i] == before[i], "a message changes its response only");
    }
    const unsigned lanes = lanes_of_response(sent);
    const bool cleared = std::ranges::all_of(sent.response, [](std::byte byte) { return byte == std::byte{0}; });
    for (size_t i = first; i < end && lanes != 0 && !cleared; ++i) {
      const size_t lane = (i - first) / 4 % lanes;
      check((sent.channels >> lane & 1) != 0 || thread_.grf[i] == before[i], "a lane that is off keeps its part");
    }
  }

  FaultAction on_fault(const Fault& /*fault*/) override { return action_; }
  std::span<std::byte> local_memory(uint32_t /*group*/) override { return local_; }
  void arrive(eu::Thread& /*thread*/) override {}
  std::span<uint32_t> entry(eu::Thread& /*thread*/, uint32_t handle) override {
    return std::span(entry_).first(handle % (entry_.size() + 1));
  }

  Generation generation_;
  PageFormats formats_;
  std::vector<std::byte> bytes_;
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  Tlb tlb_{64};
  FaultAction action_ = FaultAction::skip;
  AddressSpace space_{memory_, tlb_, 1, *this};
  std::vector<std::byte> local_;
  std::vector<uint32_t> entry_ = std::vector<uint32_t>(37);
  message::SharedFunctions functions_;
  eu::Thread thread_;
};

inline void message(std::span<const uint8_t> data) {
  constexpr std::array kChips{"bdw", "skl", "icl", "dg1", "snb", "g45", "i965"};
  if (data.size() < 2) return;
  MessageWorld world(*spec::find_device(kChips[data[0] % kChips.size()]));
  world.run(data.subspan(1));
}

}  // namespace halogen::fuzz
