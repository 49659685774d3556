#include "memory/fault_unit.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "hw/fault.h"
#include "hw/gtt.h"
#include "hw/vtd.h"
#include "memory/has_register.h"
#include "spec/item_ids.h"
#include "spec/packed.h"

namespace halogen::memory {
namespace {

using spec::EngineClass;
using spec::RegisterId;

uint64_t page_of(uint64_t address) {
  return address & ~low_mask(kFrameBits);
}

// Gen6: returns the class of the engine that a register belongs to.
std::optional<EngineClass> class_of(RegisterId id) {
  if (id == RegisterId::RCS_FAULT_REG) {
    return EngineClass::render;
  }
  if (id == RegisterId::VCS_FAULT_REG) {
    return EngineClass::video;
  }
  return id == RegisterId::BCS_FAULT_REG ? std::optional(EngineClass::blit) : std::nullopt;
}

// Returns the engine's number, cut to the field, which is three bits wide up to Gen11.
uint8_t fitting_engine_id(const spec::EngineModel& engine, spec::GenId gen) {
  for (const spec::FieldDesc& field : hw::FAULT_REG::kDesc.layout(gen)->fields) {
    if (field.name == "engine_id") {
      return static_cast<uint8_t>(engine.fault_id & low_mask(field.width));
    }
  }
  return 0;
}

template <class Register>
void fill_engine_register(uint32_t& stored, const Fault& fault, uint8_t source_id, spec::GenId gen) {
  Register value;
  value.virtual_address_of_fault = GpuVa(fault.address & low_mask(32) & ~low_mask(kFrameBits));
  value.gttsel = fault.global ? Register::Gttsel::GGTT : Register::Gttsel::PPGTT;
  value.srcid_of_fault = source_id;
  value.fault_type = fault.below == 0 ? Register::FaultType::page_fault : Register::FaultType::invalid_pd_fault;
  value.valid_bit = true;
  stored = spec::packed32(value, gen);
}

void set_stream(hw::PGTBL_ER& errors, FaultStream stream, FaultReason reason) {
  switch (stream) {
    case FaultStream::command_fetch:
      errors.command_fetch_gtt_entry = true;
      break;
    case FaultStream::cs:
      errors.cs_gtt_entry = true;
      break;
    case FaultStream::vertex_fetch:
      errors.vertex_fetch_gtt_entry = true;
      break;
    case FaultStream::state_cache:
      errors.state_cache_gtt_entry = true;
      break;
    case FaultStream::sampler_cache:
      errors.sampler_cache_gtt_entry = true;
      break;
    case FaultStream::render_cache:
      errors.render_cache_gtt_entry = true;
      break;
    case FaultStream::cursor:
      errors.cursor_gtt_entry = true;
      break;
    case FaultStream::overlay:
      errors.overlay_gtt_entry = true;
      break;
    case FaultStream::display_a:
      errors.display_a_gtt_entry = true;
      break;
    case FaultStream::display_b:
      errors.display_b_gtt_entry = true;
      break;
    case FaultStream::host:  // only this stream has a bit for a valid entry whose page is not allowed
      (reason == FaultReason::page_hole ? errors.host_pte_data : errors.host_gtt_entry) = true;
      break;
  }
}

bool same_page(const PageRequest& request, const PageResponse& response) {
  return request.pasid == response.pasid && request.address == page_of(response.address);
}

}  // namespace

std::array<uint32_t, 4> pack(const PageRequest& request, spec::GenId gen) {
  hw::PAGE_REQUEST_DESCRIPTOR descriptor;
  descriptor.streaming_response_requested = request.streaming;
  descriptor.pasid_present = true;
  descriptor.last_page_in_group = true;
  descriptor.pasid = request.pasid & 0xfffff;
  descriptor.private_data = request.context_id & 0x7fffff;
  descriptor.group_index = request.group & 0x1ff;
  descriptor.read = request.read;
  descriptor.write = request.write;
  descriptor.execute = request.execute;
  descriptor.privileged = request.privileged;
  descriptor.device_function = static_cast<uint8_t>((2u << 3) | (request.function & 7u));  // bus 0, device 2
  descriptor.address = GpuVa(page_of(request.address));
  std::array<uint32_t, 4> out{};
  const spec::PackResult result = descriptor.pack(gen, out);
  check(result.ok(), result.field);
  return out;
}

FaultUnit::FaultUnit(const spec::DeviceModel& model, const Config& config, EventSink& events, std::string path,
                     FaultListener* listener)
    : model_(&model),
      config_(config),
      style_(has_register(model, RegisterId::FAULT_REG)       ? Style::shared
             : has_register(model, RegisterId::RCS_FAULT_REG) ? Style::per_engine
                                                              : Style::page_table_errors),
      events_(&events),
      path_(std::move(path)),
      listener_(listener) {
  state_.engines.resize(model.engines.size());
}

void FaultUnit::raise(EventKind kind, const Fault& fault, unsigned engine, std::string detail) {
  const std::string_view name = engine < model_->engines.size() ? model_->engines[engine].name : "external";
  events_->on_event(
      {kind, name_of(fault.reason), path_ + "." + std::string(name), fault.address, fault.entry, std::move(detail)});
}

FaultAction FaultUnit::report(unsigned engine, uint8_t source_id, FaultStream stream, const Fault& fault) {
  FaultEngineState& state = state_.engines[engine];
  if (is_recoverable(fault.reason) && state.context.page_requests) {
    const FaultAction action = report_recoverable(engine, fault);
    if (action != FaultAction::skip) {
      return action;
    }
  }
  record(engine, source_id, stream, fault);
  if (remapping_ != nullptr && state.context.remapped && !fault.global) {
    remapping_->on_remapping_fault(state.context, fault);
  }
  if (!fault.repeated) {
    raise(EventKind::fault, fault, engine, {});
  }
  state.unserved |= !fault.global;
  tell_pending(engine);
  if (listener_ != nullptr) {
    listener_->on_fault(engine, fault);
    if (fault.reason == FaultReason::update_not_writeback) {
      listener_->on_catastrophic(engine, fault);
    }
  }
  return give_up(engine, fault);
}

void FaultUnit::report_external(FaultStream stream, const Fault& fault) {
  const auto no_engine = static_cast<unsigned>(state_.engines.size());
  if (style_ == Style::page_table_errors) {
    record(no_engine, 0, stream, fault);
  }
  raise(EventKind::fault, fault, no_engine, {});
  if (listener_ != nullptr) {
    listener_->on_fault(no_engine, fault);
  }
}

// Sends a page request. Skip: the fault cannot be repaired this way.
FaultAction FaultUnit::report_recoverable(unsigned engine, const Fault& fault) {
  FaultEngineState& state = state_.engines[engine];
  const uint64_t page = page_of(fault.address);
  if (state.in_reset) {
    return FaultAction::stop;
  }
  if (state.refused == page) {
    state.refused.reset();
    return FaultAction::skip;
  }
  // Reads of tiled resource tables use fault and halt, whatever the context's model is.
  const FaultModel model = fault.tile_table ? FaultModel::halt : state.context.model;
  if (model != FaultModel::halt && model != FaultModel::stream) {
    return FaultAction::skip;
  }
  PageRequest request;
  request.engine = engine;
  request.pasid = state.context.pasid;
  request.context_id = state.context.context_id;
  request.function = state.context.function;
  request.address = page;
  request.read = fault.direction == Direction::read;
  request.write = fault.direction == Direction::write;
  request.execute = fault.instruction;
  request.privileged = state.context.privileged;
  request.streaming = model == FaultModel::stream;
  if (!send(request)) {
    return FaultAction::stop;  // the engine tries again
  }
  if (model == FaultModel::halt) {
    state.waiting = page;
    tell_pending(engine);
    return FaultAction::wait;
  }
  return FaultAction::filter;
}

// Returns the fate of an access that no page response can repair.
FaultAction FaultUnit::give_up(unsigned engine, const Fault& fault) {
  FaultEngineState& state = state_.engines[engine];
  if (style_ == Style::page_table_errors) {
    return FaultAction::skip;  // the chip has no fault models
  }
  if (fault.tile_table) {
    state.reset_expected = true;  // the walk of the tables continues with wrong data
    return FaultAction::skip;
  }
  if (state.continue_after_fault || state.context.model == FaultModel::carry_on) {
    return FaultAction::skip;
  }
  return FaultAction::hang;
}

// False: neither the queue nor the register has room.
bool FaultUnit::send(PageRequest& request) {
  const auto same = [&](const PageRequest& other) {
    return other.pasid == request.pasid && other.address == request.address && other.engine == request.engine &&
           other.write == request.write && other.execute == request.execute;
  };
  if (std::ranges::any_of(state_.outstanding, same) || (state_.held && same(*state_.held))) {
    return true;  // requested before
  }
  if (state_.outstanding.size() >= config_.queue_entries) {
    state_.overflow = true;
    if (state_.held) {
      return false;
    }
    request.group = static_cast<uint16_t>(state_.next_group++ & 0x1ff);
    state_.held = request;
    return true;
  }
  request.group = static_cast<uint16_t>(state_.next_group++ & 0x1ff);
  state_.outstanding.push_back(request);
  state_.queue.push_back(request);
  if (remapping_ != nullptr) {
    remapping_->on_request_queued();
  }
  return true;
}

void FaultUnit::release_held() {
  if (state_.held && state_.outstanding.size() < config_.queue_entries) {
    const PageRequest request = *state_.held;
    state_.held.reset();
    state_.outstanding.push_back(request);
    state_.queue.push_back(request);
    if (remapping_ != nullptr) {
      remapping_->on_request_queued();
    }
  }
}

std::optional<PageRequest> FaultUnit::take_request() {
  if (state_.queue.empty()) {
    return std::nullopt;
  }
  PageRequest request = state_.queue.front();
  state_.queue.pop_front();
  return request;
}

bool FaultUnit::respond(const PageResponse& response) {
  const auto is_answered = [&](const PageRequest& request) { return same_page(request, response); };
  const bool known = std::ranges::any_of(state_.outstanding, is_answered) || (state_.held && is_answered(*state_.held));
  std::erase_if(state_.outstanding, is_answered);
  std::erase_if(state_.queue, is_answered);
  if (state_.held && is_answered(*state_.held)) {
    state_.held.reset();
  }
  release_held();
  for (unsigned number = 0; number < state_.engines.size(); ++number) {
    FaultEngineState& engine = state_.engines[number];
    if (engine.waiting == page_of(response.address) && engine.context.pasid == response.pasid) {
      engine.waiting.reset();
      if (!response.success) {
        engine.refused = page_of(response.address);
      }
      tell_pending(number);
      if (listener_ != nullptr) {
        listener_->on_resume(number);
      }
    }
  }
  return known;
}

void FaultUnit::set_context(unsigned engine, const FaultContext& context) {
  FaultEngineState& state = state_.engines[engine];
  state.context = context;
  state.waiting.reset();
  state.refused.reset();
  tell_pending(engine);
}

// Tells the listener of a change. Gen4 has page table errors instead.
void FaultUnit::tell_pending(unsigned engine) {
  FaultEngineState& state = state_.engines[engine];
  const bool pending = style_ != Style::page_table_errors && (state.unserved || state.waiting);
  if (std::exchange(state.pending, pending) != pending && listener_ != nullptr) {
    const bool repair = state.context.model == FaultModel::halt || state.context.model == FaultModel::stream;
    listener_->on_pending(engine, pending, repair);
  }
}

bool FaultUnit::reset_engine(unsigned engine) {
  FaultEngineState& state = state_.engines[engine];
  state.in_reset = true;
  if (state_.held && state_.held->engine == engine) {
    return false;
  }
  const bool goes_on = state.continue_after_fault;
  const uint32_t reported = state.fault_reg;
  const bool pending = state.pending;
  state = {};
  state.continue_after_fault = goes_on;
  state.fault_reg = reported;
  state.pending = pending;
  tell_pending(engine);
  return true;
}

void FaultUnit::reset_device() {
  for (unsigned number = 0; number < state_.engines.size(); ++number) {
    const bool pending = state_.engines[number].pending;
    state_.engines[number] = {};
    state_.engines[number].pending = pending;
    tell_pending(number);
  }
  state_.fault_reg = 0;
  state_.tlb_data[0] = state_.tlb_data[1] = 0;
  state_.arbiter_errors = 0;
  state_.page_table_errors = 0;
}

void FaultUnit::report_large_page(unsigned engine, uint64_t address) {
  Fault where;
  where.address = address;
  raise(EventKind::undefined_behaviour, where, engine, "page larger than 64 KB used while the GTT cache is enabled");
}

// Writes the fault registers. The first fault is kept until software clears its valid bit.
void FaultUnit::record(unsigned engine, uint8_t source_id, FaultStream stream, const Fault& fault) {
  const spec::GenId gen = model_->gen;
  if (has_register(*model_, RegisterId::GFX_ARB_ERROR_RPT)) {
    hw::GFX_ARB_ERROR_RPT errors = hw::GFX_ARB_ERROR_RPT::unpack(gen, std::span(&state_.arbiter_errors, 1));
    (fault.below == 0 ? errors.tlb_page_fault_error : errors.invalid_page_directory_entry_error) = true;
    state_.arbiter_errors = spec::packed32(errors, gen);
  }
  switch (style_) {
    case Style::page_table_errors: {
      hw::PGTBL_ER errors = hw::PGTBL_ER::unpack(gen, std::span(&state_.page_table_errors, 1));
      set_stream(errors, stream, fault.reason);
      state_.page_table_errors = spec::packed32(errors, gen);
      return;
    }
    case Style::per_engine: {
      uint32_t& stored = state_.engines[engine].fault_reg;
      if (!hw::RCS_FAULT_REG::unpack(gen, std::span(&stored, 1)).valid_bit) {
        fill_engine_register<hw::RCS_FAULT_REG>(stored, fault, source_id, gen);
      }
      return;
    }
    case Style::shared:
      break;
  }
  if (hw::FAULT_REG::unpack(gen, std::span(&state_.fault_reg, 1)).valid_bit) {
    return;
  }
  hw::FAULT_REG value;
  value.engine_id = fitting_engine_id(model_->engines[engine], gen);
  value.gttsel = fault.global ? hw::FAULT_REG::Gttsel::GGTT : hw::FAULT_REG::Gttsel::PPGTT;
  value.srcid_of_fault = source_id;
  value.fault_type = static_cast<hw::FAULT_REG::FaultType>(fault.below & 3);
  value.valid_bit = true;
  state_.fault_reg = spec::packed32(value, gen);
  hw::FAULT_TLB_DATA0 low;
  low.fault_address_43_12 = static_cast<uint32_t>(bits(fault.address, 43, 12));
  hw::FAULT_TLB_DATA1 high;
  high.fault_address_47_44 = static_cast<uint8_t>(bits(fault.address, 47, 44));
  high.gttsel = fault.global ? hw::FAULT_TLB_DATA1::Gttsel::GGTT : hw::FAULT_TLB_DATA1::Gttsel::PPGTT;
  state_.tlb_data[0] = spec::packed32(low, gen);
  state_.tlb_data[1] = spec::packed32(high, gen);
}

const FaultEngineState* FaultUnit::engine_of(RegisterId id) const {
  const std::optional<EngineClass> wanted = class_of(id);
  for (size_t i = 0; wanted && i < state_.engines.size(); ++i) {
    if (model_->engines[i].engine_class == *wanted) {
      return &state_.engines[i];
    }
  }
  return nullptr;
}

FaultEngineState* FaultUnit::engine_of(RegisterId id) {
  return const_cast<FaultEngineState*>(std::as_const(*this).engine_of(id));
}

bool FaultUnit::owns(RegisterId id) const {
  const bool ours = class_of(id) || id == RegisterId::FAULT_REG || id == RegisterId::FAULT_TLB_DATA0 ||
                    id == RegisterId::FAULT_TLB_DATA1 || id == RegisterId::GFX_ARB_ERROR_RPT ||
                    (id == RegisterId::PGTBL_ER && style_ == Style::page_table_errors);
  return ours && has_register(*model_, id);
}

uint32_t FaultUnit::read(RegisterId id) const {
  if (id == RegisterId::FAULT_REG) {
    return state_.fault_reg;
  }
  if (id == RegisterId::FAULT_TLB_DATA0 || id == RegisterId::FAULT_TLB_DATA1) {
    return state_.tlb_data[id == RegisterId::FAULT_TLB_DATA1 ? 1 : 0];
  }
  if (id == RegisterId::GFX_ARB_ERROR_RPT) {
    return state_.arbiter_errors;
  }
  if (id == RegisterId::PGTBL_ER) {
    return state_.page_table_errors;
  }
  const FaultEngineState* engine = engine_of(id);
  return engine == nullptr ? 0 : engine->fault_reg;
}

// Only the fault registers can be written. Page table errors stay until a device reset.
void FaultUnit::write(RegisterId id, uint32_t value) {
  if (id == RegisterId::FAULT_REG) {
    state_.fault_reg = value;
    const bool valid = hw::FAULT_REG::unpack(model_->gen, std::span(&value, 1)).valid_bit;
    for (unsigned number = 0; !valid && number < state_.engines.size(); ++number) {
      state_.engines[number].unserved = false;
      tell_pending(number);
    }
  } else if (FaultEngineState* engine = engine_of(id)) {
    engine->fault_reg = value;
    engine->unserved &= hw::RCS_FAULT_REG::unpack(model_->gen, std::span(&value, 1)).valid_bit;
    tell_pending(static_cast<unsigned>(engine - state_.engines.data()));
  }
}

}  // namespace halogen::memory
