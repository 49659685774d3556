#include "decode/context_image.h"

#include <map>

#include "base/bits.h"
#include "engine/command_stream.h"

namespace halogen::decode {
namespace {

constexpr uint64_t kRegisterState = 0x1000;  // behind the per-process status page
constexpr uint64_t kRegisterBytes = 0x140;   // the ring context; engine context follows

// Register offsets from the engine's base.
constexpr uint32_t kRingTail = 0x30;
constexpr uint32_t kRingHead = 0x34;
constexpr uint32_t kRingStart = 0x38;
constexpr uint32_t kRingControl = 0x3c;
constexpr uint32_t kPdp0Low = 0x270;
constexpr uint32_t kOffsetMask = 0xfff;  // images hold whole offsets or, with relative loads, the low part

// The image is a command stream itself: loads of registers, with gaps of no-operations.
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

}  // namespace

ContextDescriptor::ContextDescriptor(uint64_t descriptor)
    : valid(bit(descriptor, 0)), four_levels(bit(descriptor, 4)), image(bits(descriptor, 31, 12) << 12) {}

std::optional<ContextRing> read_context_image(const ContextDescriptor& context, MemoryImage& memory,
                                              const spec::CommandTable& table) {
  LoadCollector loads;
  engine::CommandStream stream(table, memory);
  const GpuVa at{context.image + kRegisterState};
  stream.start({.space = engine::StreamSpace::ggtt, .address = at, .end = at + kRegisterBytes});
  stream.run(loads, kRegisterBytes);
  const auto* head = loads.get(kRingHead);
  if (head == nullptr || loads.get(kRingStart) == nullptr || loads.get(kRingControl) == nullptr) return std::nullopt;
  ContextRing ring;
  ring.start = align_down(loads.value(kRingStart), 4096);
  ring.bytes = (bits(loads.value(kRingControl), 20, 12) + 1) * 4096;
  ring.head = bits(head->value, 20, 2) * 4 % ring.bytes;
  ring.head_at = head->address;
  // Hardware looks at bits 20:3; some writers use dword granularity.
  ring.tail = bits(loads.value(kRingTail), 20, 2) * 4;
  if (ring.tail >= ring.bytes) return std::nullopt;
  ring.root.valid = true;
  ring.root.four_levels = context.four_levels;
  for (uint32_t i = 0; i < ring.root.pointers.size(); ++i) {
    const uint64_t low = loads.value(kPdp0Low + i * 8);
    const uint64_t high = loads.value(kPdp0Low + i * 8 + 4);
    ring.root.pointers[i] = low | (high << 32);
  }
  return ring;
}

}  // namespace halogen::decode
