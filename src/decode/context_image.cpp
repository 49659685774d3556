#include "decode/context_image.h"

#include <map>

#include "base/bits.h"
#include "engine/stream/command_stream.h"
#include "hw/context.h"
#include "hw/ring.h"
#include "spec/packing.h"

namespace halogen::decode {
namespace {

constexpr uint64_t kRegisterState = 0x1000;  // after the per-process status page
constexpr uint64_t kRegisterBytes = 0x140;   // the ring context; engine context follows

constexpr uint32_t kOffsetMask = 0xfff;  // images hold whole offsets or, for relative loads, the low part

// The image is itself a command stream: register loads, and no-operations in the gaps.
class LoadCollector final : public engine::CommandVisitor {
 public:
  engine::Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                          const engine::CommandPlace& place) override {
    if (&desc == load_) {
      for (size_t i = 1; i + 1 < dwords.size(); i += 2) {
        values_.try_emplace(dwords[i] & kOffsetMask, Value{dwords[i + 1], place.address.value + (i + 1) * 4});
      }
    }
    return &desc == end_ ? engine::Next::stop() : engine::Next::advance();
  }
  engine::Next on_unknown(std::span<const uint32_t>, const engine::CommandPlace&) override {
    return engine::Next::stop();
  }
  void on_truncated(const spec::CommandDesc*, std::span<const uint32_t>, uint32_t,
                    const engine::CommandPlace&) override {}

  struct Value {
    uint32_t value;
    uint64_t address;
  };
  const Value* get(uint32_t offset) const {
    const auto it = values_.find(offset);
    return it == values_.end() ? nullptr : &it->second;
  }
  uint64_t value(uint32_t offset) const { return get(offset) != nullptr ? get(offset)->value : 0; }

 private:
  const spec::CommandDesc* load_ = spec::find_command("MI_LOAD_REGISTER_IMM");
  const spec::CommandDesc* end_ = spec::find_command("MI_BATCH_BUFFER_END");
  std::map<uint32_t, Value> values_;  // the first load of each register counts
};

memory::WalkMode mode_of(hw::ContextAddressingMode mode) {
  switch (mode) {
    case hw::ContextAddressingMode::LEGACY_32B:
      return memory::WalkMode::legacy32;
    case hw::ContextAddressingMode::LEGACY_64B:
      return memory::WalkMode::legacy48;
    case hw::ContextAddressingMode::ADVANCED:
    case hw::ContextAddressingMode::ADVANCED_AD:
      return memory::WalkMode::advanced48;
  }
  return memory::WalkMode::advanced48;
}

}  // namespace

std::optional<ContextRing> read_context_image(const hw::CONTEXT_DESCRIPTOR& context, const spec::DeviceModel& device,
                                              MemoryImage& memory, const spec::CommandTable& table) {
  LoadCollector loads;
  engine::CommandStream stream(table, memory);
  const GpuVa at{context.logical_ring_context_address.value + kRegisterState};
  stream.start({.space = engine::StreamSpace::ggtt, .address = at, .end = at + kRegisterBytes});
  stream.run(loads, kRegisterBytes);
  const auto loaded = [&](const spec::RegisterDesc& desc) { return loads.get(desc.offset(device.id)); };
  const auto* head = loaded(hw::RING_HEAD::kDesc);
  const auto* start = loaded(hw::RING_START::kDesc);
  const auto* control = loaded(hw::RING_CTL::kDesc);
  const auto* tail = loaded(hw::RING_TAIL::kDesc);
  if (head == nullptr || start == nullptr || control == nullptr) return std::nullopt;
  constexpr uint64_t kPage = 4096;
  ContextRing ring;
  ring.start = spec::unpack_register<hw::RING_START>(device.gen, start->value).starting_address.value;
  ring.bytes =
      (spec::unpack_register<hw::RING_CTL>(device.gen, control->value).buffer_length_pages_minus_1 + uint64_t{1}) *
      kPage;
  ring.head = spec::unpack_register<hw::RING_HEAD>(device.gen, head->value).head_offset % ring.bytes;
  ring.head_at = head->address;
  // Hardware uses qwords; some writers use the granularity of the head, a dword.
  ring.tail = tail == nullptr ? 0 : spec::unpack_register<hw::RING_HEAD>(device.gen, tail->value).head_offset;
  if (ring.tail >= ring.bytes) return std::nullopt;
  ring.root.valid = true;
  ring.root.mode = mode_of(context.addressing_mode);
  for (uint32_t i = 0; i < ring.root.pointers.size(); ++i) {
    const uint32_t offset = hw::PDP::kDesc.offset(device.id) + i * hw::PDP::kDesc.stride;
    const uint64_t value = loads.value(offset) | (loads.value(offset + 4) << 32);
    ring.root.pointers[i] = spec::unpack_register<hw::PDP>(device.gen, value).address.value;
  }
  return ring;
}

}  // namespace halogen::decode
