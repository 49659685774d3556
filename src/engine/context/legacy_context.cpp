#include "engine/context/legacy_context.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "engine/context/context_settings.h"
#include "engine/engine.h"
#include "engine/submit/submission.h"
#include "hw/blt.h"
#include "hw/context.h"
#include "hw/mi_register.h"

namespace halogen::engine {
namespace {

using memory::AccessResult;
using spec::RegisterId;

constexpr size_t kLineBytes = 64;
constexpr size_t kPairDwords = 3;       // header, register, value
constexpr size_t kLargestBytes = 2048;  // largest image on Gen4
constexpr size_t kPageBytes = 4096;     // size on chips without CXT_SIZE

// Registers that belong to a context: G45 PRM vol. 1b 5.8 (seed 003). Registers that a chip lacks are left out of its
// image.
constexpr std::array kContextRegisters{
    RegisterId::INSTPM,
    RegisterId::CACHE_MODE_0,
    RegisterId::CACHE_MODE_1,
    RegisterId::MI_ARB_STATE,
    RegisterId::IA_VERTICES_COUNT,
    RegisterId::IA_PRIMITIVES_COUNT,
    RegisterId::VS_INVOCATION_COUNT,
    RegisterId::GS_INVOCATION_COUNT,
    RegisterId::GS_PRIMITIVES_COUNT,
    RegisterId::CL_INVOCATION_COUNT,
    RegisterId::CL_PRIMITIVES_COUNT,
    RegisterId::PS_INVOCATION_COUNT,
    RegisterId::PS_DEPTH_COUNT,
    RegisterId::SO_NUM_PRIMS_WRITTEN_GEN6,
    RegisterId::SO_PRIM_STORAGE_NEEDED_GEN6,
};
// With run lists the ring and the per-process table belong to the context too: G45 PRM vol. 1b 4.6 (seed 003). The
// order matters, because writing the start clears the head and the ring must be enabled last.
constexpr std::array kRingRegisters{RegisterId::PGTBL_CTL2, RegisterId::RING_START, RegisterId::RING_HEAD,
                                    RegisterId::RING_TAIL, RegisterId::RING_CTL};

// The list of probed pages follows the largest image of the part, one dword per slot. G45 PRM vol. 1b 1.13 (seed 003)
// says that the list is in memory but not where. This offset is the model's own.
constexpr uint64_t kProbeListOffset = kLargestBytes;

// The running batch, after the registers: marker, attributes, address, end. The marker is an MI_NOOP with an
// identification number, so the image is a valid list of commands up to this point.
constexpr uint32_t kBatchMarker = 0x0000'0b0b;
constexpr size_t kBatchDwords = 6;

std::array<uint32_t, kBatchDwords> pack_batch(Engine& engine) {
  const StreamLevel& place = engine.stream().level();
  const LevelState& level = engine.level();
  const uint32_t attributes = static_cast<uint32_t>(place.space) | static_cast<uint32_t>(level.arbitration) << 8 |
                              (level.privileged ? 1u << 16 : 0);
  return {kBatchMarker,
          attributes,
          static_cast<uint32_t>(place.address.value),
          static_cast<uint32_t>(place.address.value >> 32),
          static_cast<uint32_t>(place.end.value),
          static_cast<uint32_t>(place.end.value >> 32)};
}

// Restores the running batch. Returns the number of dwords that it takes.
size_t unpack_batch(Engine& engine, std::span<const uint32_t> dwords) {
  StreamState stream = engine.stream().state();
  stream.depth = 0;
  if (dwords.size() >= kBatchDwords && dwords[0] == kBatchMarker) {
    stream.depth = 1;
    stream.levels[1] = {.space = static_cast<StreamSpace>((dwords[1] & 0xff) % 3),
                        .address = GpuVa{dwords[2] | uint64_t{dwords[3]} << 32},
                        .end = GpuVa{dwords[4] | uint64_t{dwords[5]} << 32}};
    engine.state().levels[1] = {.privileged = (dwords[1] & 1u << 16) != 0,
                                .arbitration = static_cast<Arbitration>((dwords[1] >> 8 & 0xff) % 3)};
  }
  engine.stream().restore(stream);
  return stream.depth * kBatchDwords;
}

// State of a BLT engine behind this streamer, before the batch: a marker and the values that G45 PRM vol. 1b 8.4 (seed
// 003) lists.
constexpr uint32_t kBlitMarker = 0x0000'0b1b;
constexpr size_t kBlitDwords = 13;
constexpr uint32_t kMonoPattern = 1;
constexpr uint32_t kTiled = 2;

bool has_blits(const Engine& engine) {
  return (hw::XY_SETUP_BLT::kDesc.engines_of_gen[static_cast<size_t>(engine.gen())] &
          spec::mask_of(engine.model().engine_class)) != 0;
}

std::array<uint32_t, kBlitDwords> pack_blit(const blit::SetupState& setup) {
  return {kBlitMarker,
          setup.control,
          setup.background,
          setup.foreground,
          static_cast<uint32_t>(setup.pattern),
          static_cast<uint32_t>(setup.pattern >> 32),
          static_cast<uint32_t>(setup.destination),
          static_cast<uint32_t>(setup.destination >> 32),
          setup.pattern_low,
          setup.pattern_high,
          setup.clip_first,
          setup.clip_end,
          (setup.mono_pattern ? kMonoPattern : 0) | (setup.tiled ? kTiled : 0)};
}

blit::SetupState unpack_blit(std::span<const uint32_t> in) {
  return {.control = in[1],
          .background = in[2],
          .foreground = in[3],
          .pattern = in[4] | uint64_t{in[5]} << 32,
          .destination = in[6] | uint64_t{in[7]} << 32,
          .pattern_low = in[8],
          .pattern_high = in[9],
          .clip_first = in[10],
          .clip_end = in[11],
          .mono_pattern = (in[12] & kMonoPattern) != 0,
          .tiled = (in[12] & kTiled) != 0};
}

// Bits 31:16 of a masked register say which bits a write changes.
constexpr uint32_t kWriteAll = 0xffff'0000;

uint32_t load_header(const Engine& engine) {
  std::array<uint32_t, kPairDwords> command{};
  static_cast<void>(hw::MI_LOAD_REGISTER_IMM{}.pack(engine.gen(), command));
  return command[0];
}

std::vector<const mmio::RegisterSlot*> slots_of(const Engine& engine, bool with_ring) {
  std::vector<const mmio::RegisterSlot*> slots;
  const auto add = [&](RegisterId id) {
    for (unsigned dword = 0; const mmio::RegisterSlot* const slot = engine.registers().slot(id, dword); ++dword) {
      slots.push_back(slot);
    }
  };
  std::ranges::for_each(kContextRegisters, add);
  if (with_ring) {
    add(RegisterId::PROBE_SLOT_VALID);
    std::ranges::for_each(kRingRegisters, add);
  }
  return slots;
}

// Returns the size of an image according to CXT_SIZE, which counts cache lines. If the register states the whole size,
// the result is at most what software was told to allocate. If it states the sizes of parts but not their order, the
// image is as long as all parts together.
size_t image_dwords(const Engine& engine) {
  if (!engine.registers().has(RegisterId::CXT_SIZE)) {
    return kPageBytes / sizeof(uint32_t);
  }
  const auto size = engine.registers().get<hw::CXT_SIZE>();
  const size_t bytes = engine.generation().has(spec::Feature::whole_context_size)
                           ? std::min((size.size_minus_1 + size_t{1}) * kLineBytes, kLargestBytes)
                           : (size_t{size.ring_size} + size.extended_size + size.pipeline_size) * kLineBytes;
  return bytes / sizeof(uint32_t);
}

// Returns the space of contexts, which are indirect data and therefore not snooped.
memory::AddressSpace& context_space(Engine& engine) {
  return engine.data_space(memory::TableKind::global, memory::Stream::constants);
}

// Restores the pipeline state at the end of an image. A command that does not finish has set the engine's activity.
AccessResult restore_settings(Engine& engine, const ContextAddress& place, std::span<const uint32_t> words) {
  forget_settings(engine);
  while (!words.empty() && words[0] != 0) {
    const auto [desc, length] = engine.table().frame(words[0]);
    if (desc != nullptr && desc->id == spec::CommandId::MI_BATCH_BUFFER_END) {
      break;
    }
    if (desc == nullptr || length > words.size()) {
      engine.raise(EventKind::undefined_behaviour, "context image", place.address, words[0],
                   "command unknown or longer than the image; the rest is not restored");
      break;
    }
    const CommandPlace at{place.physical ? StreamSpace::physical : StreamSpace::ggtt, 0, GpuVa{place.address}};
    if (!restore_setting(engine, {*desc, words.first(length), at})) {
      return AccessResult::stopped;
    }
    words = words.subspan(length);
  }
  return AccessResult::ok;
}

}  // namespace

AccessResult save_context(Engine& engine, const ContextAddress& place, bool with_ring) {
  engine.stream_registers().publish();
  const size_t max = image_dwords(engine);
  std::vector<uint32_t> image;
  const uint32_t header = load_header(engine);
  for (const mmio::RegisterSlot* slot : slots_of(engine, with_ring)) {
    const uint32_t value = engine.registers().mmio().bank().peek(*slot);
    image.insert(image.end(),
                 {header, static_cast<uint32_t>(slot->offset), slot->policy.masked ? value | kWriteAll : value});
  }
  const auto append = [&image](const auto& dwords) { image.insert(image.end(), dwords.begin(), dwords.end()); };
  if (has_blits(engine)) {
    append(pack_blit(engine.state().blit.setup));
  }
  if (with_ring && engine.in_batch()) {
    append(pack_batch(engine));
  }
  append_settings(engine, place.address, max, image);
  image.resize(max);  // pads with no-ops, or truncates if software has written a smaller size
  if (place.physical) {
    engine.services().write_physical(PhysAddr{place.address}, std::as_bytes(std::span(image)));
    return AccessResult::ok;
  }
  return context_space(engine).write(GpuVa{place.address}, std::as_bytes(std::span(image)));
}

AccessResult restore_context(Engine& engine, const ContextAddress& place, bool with_ring) {
  const std::vector<const mmio::RegisterSlot*> slots = slots_of(engine, with_ring);
  std::vector<uint32_t> image(image_dwords(engine));
  const auto into = std::as_writable_bytes(std::span(image));
  if (place.physical) {
    if (!engine.services().read_physical(PhysAddr{place.address}, into)) {
      return AccessResult::ok;
    }
  } else if (const AccessResult result = context_space(engine).read(GpuVa{place.address}, into); !ok(result)) {
    return result;
  }
  const uint32_t header = load_header(engine);
  const bool saved_by_hardware = image.size() >= 2 && image[0] == header && image[1] == slots[0]->offset;
  if (!saved_by_hardware) {
    engine.raise(EventKind::undefined_behaviour, "MI_SET_CONTEXT", place.address, image.empty() ? 0 : image[0],
                 "image not saved by hardware; nothing is restored");
    return AccessResult::ok;
  }
  engine.ring().set_restoring(true);
  size_t at = 0;
  for (; at + kPairDwords <= image.size() && image[at] == header; at += kPairDwords) {
    const auto known =
        std::ranges::find(slots, image[at + 1], [](const mmio::RegisterSlot* slot) { return slot->offset; });
    if (known != slots.end() && (*known)->desc->id == RegisterId::PROBE_SLOT_VALID) {
      engine.registers().mmio().bank().poke(**known, image[at + 2]);  // the register is read-only for software
    } else if (known != slots.end()) {
      engine.write_register(image[at + 1], image[at + 2]);
    }
  }
  engine.ring().set_restoring(false);
  if (has_blits(engine) && at + kBlitDwords <= image.size() && image[at] == kBlitMarker) {
    engine.state().blit.setup = unpack_blit(std::span(image).subspan(at));
    at += kBlitDwords;
  }
  if (with_ring) {
    engine.ring().adopt();
    at += unpack_batch(engine, std::span(image).subspan(at));
  }
  return restore_settings(engine, place, std::span(image).subspan(at));
}

bool probe_page(Engine& engine, GpuVa page) {
  memory::AddressSpace& space = engine.data_space(memory::TableKind::per_process);
  return !space.view(page, memory::kRead).bytes.empty();
}

AccessResult store_probe(Engine& engine, unsigned slot, uint32_t page) {
  if (!engine.per_process_space()) {
    return AccessResult::ok;  // no context to store the list with
  }
  const auto current = engine.registers().get<hw::RCCID>();
  if (!current.valid) {
    return AccessResult::ok;
  }
  const GpuVa at{current.context_address.value + kProbeListOffset + slot * sizeof(uint32_t)};
  return context_space(engine).store_value(at, page);
}

bool probe_again(Engine& engine) {
  const auto current = engine.registers().get<hw::RCCID>();
  memory::AddressSpace& memory = context_space(engine);
  bool all = true;
  for (unsigned slot = 0; slot < kProbeSlots; ++slot) {
    const uint32_t valid = engine.registers().peek(RegisterId::PROBE_SLOT_VALID, slot / kProbesOfRegister);
    if ((valid >> slot % kProbesOfRegister & 1) != 0) {
      const GpuVa at{current.context_address.value + kProbeListOffset + slot * sizeof(uint32_t)};
      all &= probe_page(engine, GpuVa{memory.load_value<uint32_t>(at)});
    }
  }
  return all;
}

void switch_run_list_context(Engine& engine) {
  mmio::Registers& registers = engine.registers();
  auto next = registers.get<hw::RNCID>();
  const auto current = registers.get<hw::RCCID>();
  engine.back_end().flush();
  engine.services().flush_translations();
  // Chips with run lists skip faults, so no access stops.
  if (current.valid) {
    static_cast<void>(save_context(engine, {.physical = false, .address = current.context_address.value}, true));
  }
  registers.poke64(RegisterId::RCCID, registers.peek64(RegisterId::RNCID));
  next.valid = false;
  registers.set(next);
  static_cast<void>(restore_context(engine, {.physical = false, .address = next.context_address.value}, true));
  engine.state().activity = Activity::running;
  if (!probe_again(engine)) {
    engine.state().ring.leaving = engine.submission().wants_switch();
  }
}

}  // namespace halogen::engine
