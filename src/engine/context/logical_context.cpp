#include "engine/context/logical_context.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "engine/context/context_settings.h"
#include "engine/engine.h"
#include "engine/mi/mi_access.h"
#include "hw/context.h"
#include "hw/header_bits.h"
#include "hw/mi_flow.h"
#include "hw/mi_register.h"
#include "hw/ring.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using memory::AccessResult;
using spec::CommandId;
using spec::RegisterId;

constexpr uint32_t kMaskHalf = 0xffff'0000;
constexpr uint32_t kDefaultTail = 7;  // dword of the tail in every image that drivers write

// Registers that a restore must not inherit from the previous context. Some images do not hold them.
constexpr std::initializer_list<RegisterId> kForgotten = {
    RegisterId::CTXT_SR_CTL,   RegisterId::RING_CTL,    RegisterId::RING_HEAD,    RegisterId::RING_TAIL,
    RegisterId::BB_ADDR,       RegisterId::BB_ADDR_UDW, RegisterId::BB_STATE,     RegisterId::SBB_ADDR,
    RegisterId::SBB_ADDR_UDW,  RegisterId::SBB_STATE,   RegisterId::INDIRECT_CTX, RegisterId::INDIRECT_CTX_OFFSET,
    RegisterId::BB_PER_CTX_PTR};

// State of a stream that has no register in an image. The model stores it in bits of BB_STATE that no public source
// names.
constexpr uint32_t kPredicateBits = 0xf;
constexpr uint32_t kPredicateBit = 1u << 4;
constexpr uint32_t kNoPreparser = 1u << 5;
constexpr uint32_t kNoArbitration = 1u << 6;
constexpr uint32_t kLiteRestores = 1u << 7;

GpuVa image_at(GgttOffset context, uint32_t dword) {
  return GpuVa{context.value + LogicalContext::kStatusPageBytes + uint64_t{dword} * sizeof(uint32_t)};
}

}  // namespace

// A masked register is saved with all mask bits set, so that a restore writes every bit.
uint32_t image_value(Engine& engine, const mmio::RegisterSlot& slot) {
  if (slot.policy.masked) {
    return engine.registers().mmio().bank().peek(slot) | kMaskHalf;
  }
  const bool derived = slot.policy.writable() == 0 || slot.desc->id == RegisterId::CTX_TIMESTAMP;
  return derived ? engine.read_register(slot.offset) : engine.registers().mmio().bank().peek(slot);
}

LogicalContext::LogicalContext(Engine& engine) : engine_(engine), tail_at_(kDefaultTail) {
  engine.registers().use(kForgotten);
  engine.registers().use({RegisterId::BB_STACK_WRITE_PORT});
  const spec::DeviceModel& model = engine.generation().model();
  const spec::EngineModel& own = engine.model();
  const mmio::ContextImage image = mmio::ContextImage::for_engine(model.id, own.engine_class);
  words_ = image.build(own.mmio_base);
  for (const mmio::ImageSlot& slot : image.slots()) {
    const uint32_t named = slot.relative ? slot.offset + own.mmio_base : slot.offset;
    const uint32_t offset = slot.remapped ? mmio::own_instance(model, own, named) : named;
    if (const mmio::RegisterSlot* const found = engine.registers().mmio().bank().find(offset)) {
      values_.push_back({slot.at + 1, found});
    }
  }
  if (const mmio::RegisterSlot* const tail = engine.registers().slot(RegisterId::RING_TAIL)) {
    const auto found = std::ranges::find(values_, tail, &Value::slot);
    tail_at_ = found == values_.end() ? kDefaultTail : found->at;
  }
}

void LogicalContext::forget() {
  for (const RegisterId id : kForgotten) {
    engine_.registers().poke(id, 0);
  }
  for (unsigned number = 0; number < engine_.state().ring.stack.size(); ++number) {
    engine_.stream_registers().set_stack_dword(number, 0);
  }
  engine_.state().execlist.stack_writes = 0;
  engine_.state().execlist.registers_end = 0;
  forget_settings(engine_);
  unpack_hidden();
}

uint32_t LogicalContext::max_dwords() const {
  return engine_.model().engine_class == spec::EngineClass::render ? kMaxDwords : kReadDwords;
}

LogicalContext::Result LogicalContext::restore(GgttOffset context, uint32_t& at, uint32_t to) {
  const uint32_t max = max_dwords();
  if (at >= std::min(to, max)) {
    return Result::done;
  }
  const auto buffer = std::make_unique_for_overwrite<uint32_t[]>(max);
  const std::span words(buffer.get(), max);
  // Most images are short, so later parts are read only when they are reached.
  uint32_t there = at;
  const auto read_to = [&](uint32_t wanted) {
    if (wanted <= there) {
      return AccessResult::ok;
    }
    const auto until = static_cast<uint32_t>(std::min<uint64_t>(align_up(wanted, kReadDwords), max));
    const uint32_t from = std::exchange(there, until);
    return engine_.data_space(memory::TableKind::global, memory::Stream::ring)
        .read(image_at(context, from), std::as_writable_bytes(words.subspan(from, until - from)));
  };
  engine_.ring().set_restoring(true);
  Result result = Result::done;
  const bool from_start = at == 0;
  const ExeclistState before = engine_.state().execlist;
  const uint32_t end = std::min(to, max);
  // After its first kReadDwords an image is parsed only up to the end of its registers, if it states one, and while it
  // holds pipeline state. Memory after that may belong to something else.
  bool in_settings = false;
  const auto continues = [&] {
    return at < kReadDwords || in_settings || at <= engine_.state().execlist.registers_end;
  };
  while (at < end && result == Result::done && continues()) {
    if (const AccessResult read = read_to(at + 1); !ok(read)) {
      engine_.stopped_by_fault(read);
      result = Result::stopped;
      break;
    }
    if (words[at] == 0) {  // most dwords of an image are no-ops
      in_settings = false;
      at = static_cast<uint32_t>(std::find_if(words.begin() + at, words.begin() + std::min(end, there),
                                              [](uint32_t word) { return word != 0; }) -
                                 words.begin());
      continue;
    }
    const auto [desc, length] = engine_.table().frame(words[at]);
    const bool whole = desc != nullptr && at + length <= max;
    if (const AccessResult read = whole ? read_to(at + length) : AccessResult::ok; !ok(read)) {
      engine_.stopped_by_fault(read);
      result = Result::stopped;
    } else if (!whole) {
      engine_.state().header = words[at];
      engine_.errors().raise(ErrorKind::instruction);
      engine_.hang(desc == nullptr ? "unknown command in a context image" : "command longer than its context image");
      result = Result::stopped;
    } else if (desc->id == CommandId::MI_BATCH_BUFFER_END) {
      result = Result::ended;
    } else {
      const CommandPlace place{StreamSpace::ggtt, 0, image_at(context, at)};
      result = restore_command({*desc, words.subspan(at, length), place}) ? Result::done : Result::stopped;
      at += length;
      in_settings = hw::ClientHeader::kClient.of(words[at - length]) != hw::ClientHeader::mi;
    }
    if (engine_.state().execlist.phase != before.phase || engine_.state().execlist.running != before.running) {
      result = Result::stopped;  // a register write has reset the engine
    }
  }
  engine_.ring().set_restoring(false);
  if (from_start) {
    unpack_hidden();
  }
  return result;
}

bool LogicalContext::restore_command(const Command& command) {
  switch (command.desc.id) {
    case CommandId::MI_LOAD_REGISTER_IMM:
      load_registers(command.dwords);
      return true;
    case CommandId::MI_NOOP:  // the number is the end of the registers: see logical_context.h
      engine_.state().execlist.registers_end = hw::MI_NOOP::unpack(engine_.gen(), command.dwords).identification_number;
      return true;
    case CommandId::MI_FORCE_WAKEUP:
      return true;
    default:
      break;
  }
  return restore_setting(engine_, command);
}

void LogicalContext::load_registers(std::span<const uint32_t> command) {
  const spec::GenId gen = engine_.gen();
  const spec::EngineModel& own = engine_.model();
  const auto load = hw::MI_LOAD_REGISTER_IMM::unpack(gen, command);
  const size_t count = hw::MI_LOAD_REGISTER_IMM::count_pairs(gen, command);
  for (size_t i = 0; i < count; ++i) {
    const auto pair = hw::MI_LOAD_REGISTER_IMM::unpack_pairs(gen, command, i);
    uint32_t offset = pair.register_offset;
    if (offset == 0) {
      continue;  // a pair without a register
    }
    if (load.add_cs_mmio_start_offset) {
      offset = own_register(own, offset);
    }
    if (load.mmio_remap_enable) {
      offset = mmio::own_instance(engine_.generation().model(), own, offset);
    }
    load_register(offset, pair.data_dword);
  }
}

void LogicalContext::load_register(uint32_t offset, uint32_t value) {
  const mmio::RegisterSlot* const slot = engine_.registers().mmio().bank().find(offset);
  if (slot != nullptr && slot->engine == &engine_.model()) {
    switch (slot->desc->id) {
      case RegisterId::IPEHR:
        engine_.state().header = value;
        return;
      case RegisterId::BB_STACK_WRITE_PORT:
        engine_.stream_registers().set_stack_dword(engine_.state().execlist.stack_writes++, value);
        return;
      default:
        break;
    }
    if (slot->policy.writable() == 0) {
      return;  // only for software to read, for example TIMESTAMP
    }
  }
  engine_.write_register(offset, value);
}

memory::AccessResult LogicalContext::sample_tail(GgttOffset context) {
  uint32_t tail = 0;
  const AccessResult result = engine_.data_space(memory::TableKind::global, memory::Stream::ring)
                                  .read(image_at(context, tail_at_), std::as_writable_bytes(std::span(&tail, 1)));
  if (!ok(result)) {
    return result;
  }
  const hw::RING_TAIL sampled = spec::unpack_register<hw::RING_TAIL>(engine_.gen(), tail);
  engine_.stream_registers().publish();
  engine_.registers().set(sampled);
  engine_.ring().adopt();
  return result;
}

void LogicalContext::restore_tables(GgttOffset context) {
  memory::AddressSpace& memory = engine_.data_space(memory::TableKind::global, memory::Stream::ring);
  for (const Value& value : values_) {
    if (value.slot->desc->id == RegisterId::PDP) {
      engine_.write_register(value.slot->offset, memory.load_value<uint32_t>(image_at(context, value.at)));
    }
  }
}

memory::AccessResult LogicalContext::save(GgttOffset context) {
  engine_.stream_registers().publish();
  pack_hidden();
  std::vector<uint32_t> words = words_;
  unsigned stack = 0;
  for (const Value& value : values_) {
    words[value.at] = value.slot->desc->id == RegisterId::BB_STACK_WRITE_PORT
                          ? engine_.stream_registers().stack_dword(stack++)
                          : image_value(engine_, *value.slot);
  }
  append_settings(engine_, context.value, max_dwords(), words);
  if (engine_.registers().get<hw::CTXT_SR_CTL>().engine_context_save_inhibit) {
    words.resize(std::min<size_t>(words.size(), kRingDwords));
  }
  memory::AddressSpace& memory = engine_.data_space(memory::TableKind::global, memory::Stream::ring);
  const auto write = [&](size_t from, size_t to) {
    to = std::min(to, words.size());
    return from >= to ? AccessResult::ok
                      : memory.write(image_at(context, static_cast<uint32_t>(from)),
                                     std::as_bytes(std::span(words).subspan(from, to - from)));
  };
  // The tail belongs to software, which may write a new one at any time before it submits the context again.
  const AccessResult result = write(0, tail_at_);
  return ok(result) ? write(tail_at_ + 1, words.size()) : result;
}

void LogicalContext::pack_hidden() {
  const EngineState& state = engine_.state();
  auto attributes = engine_.registers().get<hw::BB_STATE>();
  attributes.undocumented_31_6 = (state.predicate & kPredicateBits) | (state.predicate_bit ? kPredicateBit : 0) |
                                 (state.preparser ? 0 : kNoPreparser) | (state.arbitration ? 0 : kNoArbitration) |
                                 (state.lite_restores ? kLiteRestores : 0);
  engine_.registers().set(attributes);
}

void LogicalContext::unpack_hidden() {
  EngineState& state = engine_.state();
  const uint32_t bits = engine_.registers().get<hw::BB_STATE>().undocumented_31_6;
  state.predicate = static_cast<uint8_t>(bits & kPredicateBits);
  state.predicate_bit = (bits & kPredicateBit) != 0;
  state.preparser = (bits & kNoPreparser) == 0;
  state.arbitration = (bits & kNoArbitration) == 0;
  state.lite_restores = (bits & kLiteRestores) != 0;
}

}  // namespace halogen::engine
