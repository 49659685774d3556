// Messages with any descriptor, payload, surface and sampler state. The input is a chip, a page of state and then
// messages. Memory, registers and local memory have their exact size, so the sanitizers see any access outside. Also
// checked: no register outside the response changes, and if each lane has its own part of the response, disabled lanes
// keep theirs.
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
#include "fuzz/input.h"
#include "message/shared_functions.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

class MessageWorld final : private message::Groups, private message::Urb {
 public:
  explicit MessageWorld(const spec::DeviceModel& model) : generation_(model), local_(1000) {}

  void run(std::span<const uint8_t> data) {
    const size_t state = std::min<size_t>(data.size() / 2, 2 * kPage);
    std::memcpy(memory_.bytes().data(), data.data(), state);
    message::Environment environment{.space = &memory_.space(), .groups = this, .urb = this, .bases = {}};
    environment.sampler_table = 0x800;
    functions_.begin(generation_, environment);
    for (Input in(data.subspan(state)); !in.empty();) {
      send(in);
    }
  }

 private:
  static constexpr uint64_t kPage = test::MappedMemory::kPage;
  static constexpr uint64_t kPages = 16;

  void send(Input& in) {
    // Mostly functions that exist.
    constexpr std::array<uint8_t, 11> kFunctions{2, 2, 3, 4, 5, 6, 7, 9, 10, 12, 12};
    const auto kind = in.take<uint8_t>();
    eu::Message sent;
    sent.function = kind < 0xf0 ? kFunctions[kind % kFunctions.size()] : static_cast<uint8_t>(kind & 15);
    sent.descriptor = in.take<uint32_t>();
    const auto shape = in.take<uint16_t>();
    sent.extended = (shape & 1) != 0 ? uint32_t{in.take<uint16_t>()} << 12 : 0;
    sent.channels = in.take<uint16_t>();
    sent.exec_size = static_cast<uint8_t>(1u << (shape >> 1 & 3) << 1);
    memory_.set_action((shape & 8) != 0 ? memory::FaultAction::stop : memory::FaultAction::skip);
    in.take_to(thread_.registers(0, shape >> 4 & 7));
    const size_t length = sent.descriptor >> 25 & 15;
    const size_t cut = std::min<size_t>(length, shape >> 8 & 15);
    sent.first = thread_.registers(0, cut);
    sent.second = thread_.registers(cut, length - cut);
    // The response may overlap the payload.
    sent.response = thread_.registers(shape >> 12, sent.descriptor >> 20 & 31);
    const auto before = thread_.grf;
    functions_.send(thread_, sent);
    check_response(sent, before, size_t{static_cast<uint32_t>(shape >> 12)} * eu::kGrfBytes);
  }

  // Returns the number of lanes in a response of dwords. 0: the response is not laid out by lanes.
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

  std::span<std::byte> local_memory(uint32_t /*group*/) override { return local_; }
  void arrive(eu::Thread& /*thread*/) override {}
  std::span<uint32_t> entry(eu::Thread& /*thread*/, uint32_t handle) override {
    return std::span(entry_).first(handle % (entry_.size() + 1));
  }

  Generation generation_;
  test::MappedMemory memory_{kPages * kPage};
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
