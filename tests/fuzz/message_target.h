// Messages with any descriptor, payload, surface and sampler state on every chip. The input changes fields of valid
// states (draw_scene.h) and dwords of memory, and sends messages that drivers use or changed ones. Memory, registers
// and local memory have their exact size, so the sanitizers see any access outside. Also checked: no register outside
// the response changes, and if each lane has its own part of the response, disabled lanes keep theirs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "eu/isa/messages.h"
#include "fuzz/draw_scene.h"
#include "fuzz/input.h"
#include "fuzz/reach.h"
#include "message/shared_functions.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

class MessageWorld final : private message::Groups, private message::Urb {
 public:
  explicit MessageWorld(const spec::DeviceModel& model) : generation_(model), scene_(generation_), local_(1000) {}

  void run(std::span<const uint8_t> data) {
    std::copy(scene_.memory().begin(), scene_.memory().end(), memory_.bytes().begin());
    memory_.space().invalidate();
    thread_ = {};
    begin();
    unsigned more = kOperations;
    for (Input in(data); !in.empty() && more-- != 0;) {
      const auto kind = in.take<uint8_t>();
      if (kind < 0x40) {
        change(in);
      } else if (kind < 0x48) {
        memory_.at<uint32_t>(in.take<uint32_t>() % (scene::kBytes / 4) * 4) = in.take<uint32_t>();
        begin();
      } else {
        send(in);
      }
    }
    reach().input();
    reach().place(
        0, std::memcmp(memory_.bytes().data() + scene::kBuffer, scene_.memory().data() + scene::kBuffer, 0x1000) != 0);
  }

 private:
  static constexpr unsigned kOperations = 64;

  static Reach& reach() {
    static Reach all{"buffer written", "not empty responses"};
    return all;
  }
  void begin() {
    message::Environment environment{.space = &memory_.space(), .groups = this, .urb = this, .bases = {}};
    environment.binding_table = scene::kTable;
    environment.sampler_table = scene::kSamplers;
    functions_.begin(generation_, environment);
  }
  // Changes a surface or a sampler.
  void change(Input& in) {
    const scene::Placed& placed = scene_.structures()[in.take<uint8_t>() % 12];
    std::vector<uint32_t> words = scene_.maker().structure(*placed.desc);
    std::memcpy(words.data(), memory_.bytes().data() + placed.at, words.size() * 4);
    scene_.maker().change(in, *placed.desc, words, 8);
    std::memcpy(memory_.bytes().data() + placed.at, words.data(), words.size() * 4);
    begin();
  }

  void send(Input& in) {
    // Mostly functions that exist.
    constexpr std::array<uint8_t, 11> kFunctions{2, 2, 3, 4, 5, 6, 7, 9, 10, 12, 12};
    const auto kind = in.take<uint8_t>();
    eu::Message sent;
    sent.function = kind < 0xf0 ? kFunctions[kind % kFunctions.size()] : static_cast<uint8_t>(kind & 15);
    const auto shape = in.take<uint16_t>();
    if ((shape & 0xc0) != 0) {  // a message of drivers, with another surface or another bit
      const KernelMaker::Known& known = KernelMaker::known(in.take<uint8_t>());
      sent.descriptor = known.descriptor | (shape >> 8 & 7);
      if (const int number = function_number(known.function); number >= 0) sent.function = static_cast<uint8_t>(number);
      if ((shape & 0x40) == 0) sent.descriptor ^= uint32_t{1} << in.take<uint8_t>() % 32;
    } else {
      sent.descriptor = in.take<uint32_t>();
    }
    sent.extended = (shape & 1) != 0 ? uint32_t{in.take<uint16_t>()} << 12 : 0;
    sent.channels = in.take<uint16_t>();
    sent.exec_size = static_cast<uint8_t>(1u << (shape >> 1 & 3) << 1);
    memory_.set_action((shape & 8) != 0 ? memory::FaultAction::stop : memory::FaultAction::skip);
    if ((shape & 0x8000) != 0) {
      in.take_to(thread_.registers(0, shape >> 4 & 7));
    } else {  // small offsets and coordinates
      const std::span<std::byte> payload = thread_.registers(0, 8);
      for (size_t i = 0; i < payload.size() / 4; ++i) {
        const uint32_t value =
            (shape & 0x4000) != 0 ? static_cast<uint32_t>(i) * 4 : std::bit_cast<uint32_t>(static_cast<float>(i) / 8);
        std::memcpy(payload.data() + i * 4, &value, 4);
      }
    }
    const size_t length = sent.descriptor >> 25 & 15;
    const size_t cut = std::min<size_t>(length, shape >> 8 & 15);
    sent.first = thread_.registers(0, cut);
    sent.second = thread_.registers(cut, length - cut);
    // The response may overlap the payload.
    sent.response = thread_.registers(shape >> 12, sent.descriptor >> 20 & 31);
    const auto before = thread_.grf;
    functions_.send(thread_, sent);
    reach().place(1, thread_.grf != before);
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

  // Returns the number of a function on the generation. -1: none.
  int function_number(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    int& number = numbers_[std::string(name)];
    number = -1;
    for (uint8_t i = 0; i < 16 && number < 0; ++i) {
      if (eu::function_name(generation_.id(), i) == name) number = i;
    }
    return number;
  }

  Generation generation_;
  scene::Scene scene_;
  std::map<std::string, int, std::less<>> numbers_;
  test::MappedMemory memory_{scene::kBytes};
  std::vector<std::byte> local_;
  std::vector<uint32_t> entry_ = std::vector<uint32_t>(37);
  message::SharedFunctions functions_;
  eu::Thread thread_;
};

// Input: one byte for the chip, then operations.
inline void message(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<MessageWorld>> worlds(models.size());
  std::unique_ptr<MessageWorld>& world = worlds[data[0] % models.size()];
  if (!world) world = std::make_unique<MessageWorld>(models[data[0] % models.size()]);
  world->run(data.subspan(1));
}

}  // namespace halogen::fuzz
