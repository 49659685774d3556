#include "memory/gam.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "hw/gam.h"
#include "hw/mi.h"
#include "memory/has_register.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using spec::EngineClass;
using spec::RegisterId;

constexpr unsigned kPasidBits = 20;

// The registers of one engine. `number` is its number in the class.
struct PortRow {
  EngineClass engine_class;
  uint8_t number;
  RegisterId from;
  RegisterId to;
  RegisterId element;
  RegisterId pdp0;
  RegisterId pdp;
};
constexpr PortRow kPorts[] = {
    {EngineClass::render, 0, RegisterId::GAM_MSG_FROM_RCS, RegisterId::GAM_MSG_TO_RCS,
     RegisterId::GAM_RENDER_ELEMENT_DESCRIPTOR, RegisterId::GAM_RENDER_PDP0, RegisterId::GAM_RENDER_PDP},
    {EngineClass::video, 0, RegisterId::GAM_MSG_FROM_VCS0, RegisterId::GAM_MSG_TO_VCS0,
     RegisterId::GAM_MEDIA0_ELEMENT_DESCRIPTOR, RegisterId::GAM_MEDIA0_PDP0, RegisterId::GAM_MEDIA0_PDP},
    {EngineClass::video, 1, RegisterId::GAM_MSG_FROM_VCS1, RegisterId::GAM_MSG_TO_VCS1,
     RegisterId::GAM_MEDIA1_ELEMENT_DESCRIPTOR, RegisterId::GAM_MEDIA1_PDP0, RegisterId::GAM_MEDIA1_PDP},
    {EngineClass::vebox, 0, RegisterId::GAM_MSG_FROM_VECS, RegisterId::GAM_MSG_TO_VECS,
     RegisterId::GAM_VEBOX_ELEMENT_DESCRIPTOR, RegisterId::GAM_VEBOX_PDP0, RegisterId::GAM_VEBOX_PDP},
    {EngineClass::blit, 0, RegisterId::GAM_MSG_FROM_BCS, RegisterId::GAM_MSG_TO_BCS,
     RegisterId::GAM_BLITTER_ELEMENT_DESCRIPTOR, RegisterId::GAM_BLITTER_PDP0, RegisterId::GAM_BLITTER_PDP},
};

const PortRow* find_port(RegisterId id) {
  for (const PortRow& row : kPorts) {
    if (id == row.from || id == row.to || id == row.element || id == row.pdp0 || id == row.pdp) {
      return &row;
    }
  }
  return nullptr;
}

uint32_t half(uint64_t value, unsigned dword) {
  return static_cast<uint32_t>(dword == 0 ? value : value >> 32);
}

}  // namespace

WalkMode ContextDefinition::mode() const {
  if (!legacy) {
    return WalkMode::advanced48;
  }
  if (!per_process) {
    return WalkMode::ggtt;
  }
  return wide ? WalkMode::legacy48 : WalkMode::legacy32;
}

// The low part of the element descriptor is the context descriptor of the execlists. The manual prints the function
// number for the walker's register only; later software uses its bits for priorities.
ContextDefinition decode_context(const spec::DeviceModel& model, const std::array<uint64_t, 5>& registers) {
  const std::array<uint32_t, 2> raw{half(registers[0], 0), half(registers[0], 1)};
  const auto descriptor = hw::CONTEXT_DESCRIPTOR::unpack(model.gen, raw);
  ContextDefinition context;
  using Mode = hw::ContextAddressingMode;
  const Mode mode = descriptor.addressing_mode;
  context.valid = descriptor.valid;
  context.legacy = mode == Mode::LEGACY_32B || mode == Mode::LEGACY_64B;
  context.per_process = context.legacy && descriptor.privilege_access;
  context.privileged = !context.legacy && descriptor.privilege_access;
  context.wide = mode != Mode::LEGACY_32B;
  context.accessed_dirty = mode == Mode::ADVANCED_AD;
  context.deeper_coherency = !context.legacy && descriptor.l3_llc_coherency_support;
  context.fault_model = static_cast<FaultModel>(descriptor.fault_handling);
  context.context_id = raw[1];
  if (has_register(model, RegisterId::GAM_RENDER_ELEMENT_DESCRIPTOR)) {
    context.function = hw::GAM_RENDER_ELEMENT_DESCRIPTOR::unpack(model.gen, raw).function_number;
  }
  if (!context.legacy) {
    context.pasid = static_cast<uint32_t>(registers[1] & low_mask(kPasidBits));
    return context;
  }
  const uint64_t address = low_mask(model.physical_bits) & ~low_mask(kFrameBits);
  const unsigned count = context.wide ? 1 : 4;
  for (unsigned i = 0; i < count; ++i) {
    context.pointers[i] = registers[1 + i] & address;
  }
  return context;
}

Gam::Gam(const spec::DeviceModel& model, const Parts& parts, EventSink& events, std::string path)
    : model_(&model), parts_(parts), events_(&events), path_(std::move(path)) {
  engines_.resize(model.engines.size());
  answers_.resize(model.engines.size());
}

void Gam::raise(unsigned number, EventKind kind, uint64_t value, std::string detail) {
  events_->on_event(
      {kind, "GAM", path_ + "." + std::string(model_->engines[number].name), 0, value, std::move(detail)});
}

void Gam::attach(unsigned engine, AddressSpace& space) {
  engines_[engine].spaces.push_back(&space);
  space.load(engines_[engine].walk);
}

void Gam::attach_default(AddressSpace& space) {
  default_spaces_.push_back(&space);
  space.load(global_);
}

void Gam::set_global(const WalkContext& walk) {
  global_ = walk;
  for (AddressSpace* space : default_spaces_) {
    space->load(walk);
  }
  for (unsigned number = 0; number < engines_.size(); ++number) {
    if (engines_[number].loaded && engines_[number].definition.mode() == WalkMode::ggtt) {
      resolve(number);
    }
  }
}

bool Gam::medium_pages() const {
  switch (halogen::medium_pages(*model_)) {
    case MediumPages::none:
      return false;
    case MediumPages::by_register:
      return bits(medium_enable_, 3, 0) == 15;
    case MediumPages::always:
      return true;
  }
  return false;
}

uint32_t Gam::on_message(unsigned number, uint32_t written) {
  Engine& engine = engines_[number];
  const uint32_t message = written & (written >> 16) & (kAvailable | kLaunched);
  uint32_t answer = 0;
  if ((message & kAvailable) != 0) {
    drop_caches(number);  // the caches of the old context
    engine.stage = ContextStage::ready;
    answer |= kAvailable;
  }
  if ((message & kLaunched) != 0) {
    if (engine.stage != ContextStage::ready) {
      raise(number, EventKind::undefined_behaviour, written,
            "context launched without a preceding context available message");
    }
    launch(number);
    engine.stage = ContextStage::confirmed;
    answer |= kLaunched;
  }
  answers_[number] |= answer;
  return answer | (answer << 16);
}

void Gam::write_descriptor(unsigned engine, unsigned part, uint64_t value) {
  check(part < 5, "an element descriptor and four pointers");
  engines_[engine].registers[part] = value;
}

void Gam::launch(unsigned number) {
  Engine& engine = engines_[number];
  leave(engine);
  engine.launched = engine.registers;
  engine.loaded = true;
  engine.definition = decode_context(*model_, engine.registers);
  const ContextDefinition& context = engine.definition;
  if (!context.valid) {
    engine.error = true;  // the launch continues
    raise(number, EventKind::undefined_behaviour, engine.registers[0], "context launched with an invalid descriptor");
  }
  if (context.legacy == (context.fault_model != FaultModel::hang)) {
    raise(number, EventKind::undefined_behaviour, engine.registers[0],
          context.legacy ? "legacy context with a fault model other than fault-and-hang"
                         : "advanced context with the fault model fault-and-hang");
  }
  if (!context.legacy && gtt_cache_enabled()) {
    raise(number, EventKind::undefined_behaviour, gtt_cache_,
          "advanced context launched while the GTT cache is enabled");
  }
  drop_caches(number);
  resolve(number);
  enter(engine);
  parts_.faults.set_context(number, fault_context(engine));
}

// Finds the tables that the descriptors name. An invalidation calls it too, so that the caches are filled again before
// the context continues.
void Gam::resolve(unsigned number) {
  Engine& engine = engines_[number];
  const ContextDefinition& context = engine.definition;
  Fault fault;
  engine.walk = {};
  engine.pasid_cache.reset();
  engine.second_level.reset();
  if (context.mode() == WalkMode::ggtt) {
    engine.walk = global_;
  } else if (context.legacy) {
    engine.walk.format = parts_.formats.find(context.mode());
    engine.walk.table_space = table_space_;
    std::copy_n(context.pointers, 4, engine.walk.roots);
  } else {
    resolve_advanced(number, fault);
  }
  apply_switches(engine);
  if (fault) {
    engine.walk.format = nullptr;
    engine.walk.unusable = fault.reason;
    raise(number, EventKind::fault, context.pasid, std::string(name_of(fault.reason)));
  } else if (engine.walk.format == nullptr) {
    raise(number, EventKind::unsupported, engine.registers[0], "page table mode not supported by the device");
  }
  if (engine.stage != ContextStage::idle) {
    parts_.faults.update_context(number, fault_context(engine));
  }
  load_spaces(engine);
}

// Sets the rules that come from the device and this unit's registers and do not depend on the tables.
void Gam::apply_switches(Engine& engine) {
  engine.walk.medium_pages = medium_pages() && (!engine.pasid_cache || engine.pasid_cache->medium_pages);
  engine.walk.local_memory = model_->has(spec::Feature::local_memory);
  engine.walk.gtt_cache = gtt_cache_enabled() && engine.definition.mode() != WalkMode::ggtt;
}

void Gam::resolve_advanced(unsigned number, Fault& fault) {
  Engine& engine = engines_[number];
  const ContextDefinition& definition = engine.definition;
  const VtdContext* context = parts_.vtd.context(definition.function, fault);
  if (context == nullptr) {
    return;
  }
  engine.pasid_cache = parts_.vtd.read_pasid(*context, definition.pasid, fault);
  if (!engine.pasid_cache) {
    return;
  }
  if (definition.privileged && !engine.pasid_cache->supervisor_requests) {
    fault.reason = FaultReason::request_denied;
    return;
  }
  if (context->nesting) {
    engine.second_level.emplace(model_->gen, context->second_level);
  }
  engine.walk = advanced_walk(parts_.formats, *context, *engine.pasid_cache,
                              engine.second_level ? &*engine.second_level : nullptr, definition.privileged,
                              definition.accessed_dirty, parts_.types.state().page_updates_ignore_type);
}

// Counts the use of a PASID by a context that begins to run.
void Gam::enter(Engine& engine) {
  Fault fault;
  const bool runs = engine.pasid_cache && engine.walk.format != nullptr;
  const VtdContext* context = runs ? parts_.vtd.context(engine.definition.function, fault) : nullptr;
  if (context != nullptr && !engine.counted_pasid && parts_.vtd.count_use(*context, engine.definition.pasid, +1)) {
    engine.counted_pasid = engine.definition.pasid;
  }
}

// Ends the use of a PASID by a context that is done or switched out.
void Gam::leave(Engine& engine) {
  if (!engine.counted_pasid) {
    return;
  }
  Fault fault;
  if (const VtdContext* context = parts_.vtd.context(engine.definition.function, fault)) {
    parts_.vtd.count_use(*context, *engine.counted_pasid, -1);
  }
  engine.counted_pasid.reset();
}

FaultContext Gam::fault_context(const Engine& engine) const {
  const ContextDefinition& definition = engine.definition;
  FaultContext context;
  context.model = definition.legacy ? FaultModel::hang : definition.fault_model;
  context.pasid = definition.pasid;
  context.context_id = definition.context_id;
  context.function = definition.function;
  context.privileged = definition.privileged;
  Fault fault;
  const VtdContext* entry = definition.legacy ? nullptr : parts_.vtd.context(definition.function, fault);
  context.page_requests = entry != nullptr && entry->page_requests;
  context.remapped = !definition.legacy && (entry == nullptr || !entry->faults_disabled);
  return context;
}

void Gam::load_spaces(Engine& engine) {
  for (AddressSpace* space : engine.spaces) {
    space->load(engine.walk);
  }
}

void Gam::drop_caches(unsigned number) {
  Engine& engine = engines_[number];
  parts_.tlbs.invalidate_engine(model_->engines[number].engine_class, number_in_class(number));
  for (AddressSpace* space : engine.spaces) {
    space->invalidate();
  }
}

void Gam::flush(unsigned engine) {
  drop_caches(engine);
}

void Gam::flush_global() {
  parts_.tlbs.invalidate_space(kGlobalSpace);
  for (Engine& engine : engines_) {
    if (engine.loaded && engine.definition.mode() == WalkMode::ggtt) {  // a context without tables of its own
      for (AddressSpace* space : engine.spaces) {
        space->invalidate();
      }
    }
  }
}

void Gam::invalidate(const DirectedInvalidation& command) {
  using Level = DirectedInvalidation::Level;
  if (command.level == Level::context) {
    if (command.function) {
      parts_.vtd.invalidate_context_cache(*command.function);
    } else {
      parts_.vtd.invalidate_context_cache();
    }
  }
  for (unsigned number = 0; number < engines_.size(); ++number) {
    Engine& engine = engines_[number];
    const ContextDefinition& context = engine.definition;
    // An engine that was reset counts too, because its caches are still filled.
    const bool concerned = engine.loaded && !context.legacy && (!command.pasid || *command.pasid == context.pasid) &&
                           (!command.function || *command.function == context.function);
    if (!concerned) {
      continue;
    }
    switch (command.level) {
      case Level::context:
      case Level::pasid:
        drop_caches(number);
        resolve(number);
        if (engine.stage == ContextStage::confirmed) {
          enter(engine);  // an entry may be present now
        }
        break;
      case Level::walk:
        drop_caches(number);
        break;
      case Level::page:
        for (AddressSpace* space : engine.spaces) {
          space->invalidate_page(GpuVa(command.address));
        }
        break;
    }
  }
}

bool Gam::page_response(const PageResponse& response) {
  for (Engine& engine : engines_) {
    if (!engine.definition.legacy && engine.definition.pasid == response.pasid) {
      for (AddressSpace* space : engine.spaces) {
        space->page_response(GpuVa(response.address));
      }
    }
  }
  return parts_.faults.respond(response);
}

bool Gam::reset_engine(unsigned number) {
  Engine& engine = engines_[number];
  leave(engine);
  engine.stage = ContextStage::idle;
  engine.error = false;
  return parts_.faults.reset_engine(number);
}

void Gam::reset_device() {
  for (unsigned number = 0; number < engines_.size(); ++number) {
    Engine& engine = engines_[number];
    leave(engine);
    std::vector<AddressSpace*> spaces = std::move(engine.spaces);
    engine = {};
    engine.spaces = std::move(spaces);
    answers_[number] = 0;
    load_spaces(engine);
  }
  gtt_cache_ = 0;
  medium_enable_ = 0;
  parts_.tlbs.invalidate_all();
  parts_.faults.reset_device();
}

GamState Gam::state() const {
  GamState state;
  for (const Engine& engine : engines_) {
    state.engines.push_back(
        {engine.stage, engine.registers, engine.launched, engine.loaded, engine.error, engine.counted_pasid});
  }
  state.answers = answers_;
  state.gtt_cache = gtt_cache_;
  state.medium_enable = medium_enable_;
  return state;
}

void Gam::restore(const GamState& state) {
  check(state.engines.size() == engines_.size(), "a snapshot of another device");
  answers_ = state.answers;
  gtt_cache_ = state.gtt_cache;
  medium_enable_ = state.medium_enable;
  parts_.tlbs.invalidate_all();
  for (unsigned number = 0; number < engines_.size(); ++number) {
    const GamState::Engine& saved = state.engines[number];
    std::vector<AddressSpace*> spaces = std::move(engines_[number].spaces);
    Engine& engine = engines_[number] = {};
    engine.spaces = std::move(spaces);
    engine.stage = saved.stage;
    engine.registers = saved.registers;
    engine.launched = saved.launched;
    engine.loaded = saved.loaded;
    engine.error = saved.error;
    engine.counted_pasid = saved.counted_pasid;
    if (engine.loaded) {
      engine.definition = decode_context(*model_, engine.launched);
      resolve(number);
    } else {
      load_spaces(engine);
    }
  }
}

unsigned Gam::number_in_class(unsigned engine) const {
  const auto engine_class = model_->engines[engine].engine_class;
  return static_cast<unsigned>(std::ranges::count_if(
      model_->engines.first(engine), [&](const auto& other) { return other.engine_class == engine_class; }));
}

int Gam::engine_of(EngineClass engine_class, unsigned number) const {
  for (unsigned i = 0; i < model_->engines.size(); ++i) {
    if (model_->engines[i].engine_class == engine_class && number_in_class(i) == number) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool Gam::owns(RegisterId id) const {
  return (find_port(id) != nullptr || id == RegisterId::GTT_CACHE_EN || id == RegisterId::GAMW_ECO_DEV_RW_IA) &&
         has_register(*model_, id);
}

uint32_t Gam::read(RegisterId id, unsigned index, unsigned dword) const {
  if (id == RegisterId::GTT_CACHE_EN) {
    return gtt_cache_;
  }
  if (id == RegisterId::GAMW_ECO_DEV_RW_IA) {
    return medium_enable_;
  }
  const PortRow* row = find_port(id);
  const int engine = row == nullptr ? -1 : engine_of(row->engine_class, row->number);
  if (engine < 0 || id == row->from || id == row->to) {
    return 0;  // message bits clear themselves
  }
  const unsigned part = id == row->element ? 0 : id == row->pdp0 ? 1 : 2 + std::min(index, 2u);
  return half(engines_[static_cast<unsigned>(engine)].registers[part], dword);
}

void Gam::write(RegisterId id, uint32_t value) {
  if (id == RegisterId::GTT_CACHE_EN || id == RegisterId::GAMW_ECO_DEV_RW_IA) {
    (id == RegisterId::GTT_CACHE_EN ? gtt_cache_ : medium_enable_) = value;
    for (Engine& engine : engines_) {  // the setting applies to running contexts too
      if (engine.loaded) {
        apply_switches(engine);
        load_spaces(engine);
      }
    }
    return;
  }
  const PortRow* row = find_port(id);
  const int engine = row == nullptr ? -1 : engine_of(row->engine_class, row->number);
  if (engine >= 0 && id == row->from) {
    on_message(static_cast<unsigned>(engine), value);
  }
}

uint32_t Gam::take_answer(RegisterId id) {
  const PortRow* row = find_port(id);
  const int engine = row == nullptr || id != row->to ? -1 : engine_of(row->engine_class, row->number);
  return engine < 0 ? 0 : std::exchange(answers_[static_cast<unsigned>(engine)], 0);
}

}  // namespace halogen::memory
