#include "engine/submit/context_status.h"

#include <array>
#include <span>

#include "base/bits.h"
#include "engine/engine.h"
#include "hw/execlist.h"
#include "hw/mi.h"
#include "spec/first_bit.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint16_t kIdleContext = 0x7ff;
constexpr unsigned kDwordBits = 32;
constexpr unsigned kReasonBits = 9;  // bits of a status that EXECLIST_STATUS shows
constexpr unsigned kPlaneBits = 3;

// Returns the number of the plane, pipe or token that the context waited for, in the newer form. Planes and pipes are
// numbered from 1, as in MI_WAIT_FOR_EVENT_2. The plane select of flips has no value 3.
uint8_t number_of(const ContextSwitch& change) {
  const uint8_t next = static_cast<uint8_t>(change.wait_detail + 1);
  switch (change.reason) {
    case LeaveReason::sync_flip:
      return change.wait_detail < 3 ? next : change.wait_detail;
    case LeaveReason::vblank:
    case LeaveReason::scan_line:
      return next;
    case LeaveReason::semaphore:
      return change.wait_detail;
    case LeaveReason::complete:
    case LeaveReason::preempted:
      return 0;
  }
  return 0;
}

// Returns the status in the form that has one flag for each reason.
hw::CONTEXT_STATUS flags_of(const ContextSwitch& change) {
  hw::CONTEXT_STATUS status;
  status.idle_to_active = !change.away;
  status.preempted = change.away && change.new_queue;
  status.element_switch = change.away && !change.new_queue && change.to;
  status.active_to_idle = change.away && !change.to;
  status.lite_restore = change.lite_restore;
  if (change.away && !change.lite_restore) {
    status.context_complete = change.reason == LeaveReason::complete;
    status.wait_on_sync_flip = change.reason == LeaveReason::sync_flip;
    status.wait_on_vblank = change.reason == LeaveReason::vblank;
    status.wait_on_scanline = change.reason == LeaveReason::scan_line;
    status.wait_on_semaphore = change.reason == LeaveReason::semaphore;
    const bool displays = status.wait_on_sync_flip || status.wait_on_vblank || status.wait_on_scanline;
    status.display_plane = displays ? change.wait_detail & low_mask(kPlaneBits) : 0;
  }
  if (change.polls) {
    status.semaphore_wait_mode = hw::SemaphoreWaitMode::POLLING_MODE;
  }
  return status;
}

}  // namespace

hw::CONTEXT_DESCRIPTOR descriptor_of(spec::GenId gen, uint64_t value) {
  const std::array<uint32_t, 2> dwords{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> kDwordBits)};
  return hw::CONTEXT_DESCRIPTOR::unpack(gen, dwords);
}

ContextStatusBuffer::ContextStatusBuffer(Engine& engine) : engine_(engine) {
  engine.registers().use({RegisterId::CSB_INTERRUPT_MASK, RegisterId::CTXT_ST_PTR, RegisterId::CTXT_ST_BUF,
                          RegisterId::CTXT_ST_BUF_UPPER});
  const auto entries_of = [&](RegisterId id) {
    unsigned dwords = 0;
    while (engine.registers().slot(id, dwords) != nullptr) {
      ++dwords;
    }
    return dwords / 2;
  };
  upper_first_ = entries_of(RegisterId::CTXT_ST_BUF);
  entries_ = upper_first_ + entries_of(RegisterId::CTXT_ST_BUF_UPPER);
  const spec::GenId gen = engine.gen();
  const spec::Layout* const page = hw::HARDWARE_STATUS_PAGE::kDesc.layout(gen);
  if (page == nullptr || page->groups.empty()) {
    return;
  }
  first_dword_ = page->groups.front().first_bit / kDwordBits;
  if (const auto index = spec::first_bit_of(gen, &hw::HARDWARE_STATUS_PAGE::last_written_status_offset)) {
    index_dword_ = *index / kDwordBits;
  }
  names_both_ = spec::first_bit_of(gen, &hw::CONTEXT_STATUS::sw_context_id_to).has_value();
}

void ContextStatusBuffer::set_first_dword(unsigned dword) {
  index_dword_ += dword - first_dword_;
  first_dword_ = dword;
}

// The bit positions of the mask are not public. The model uses those of the status flags.
bool ContextStatusBuffer::masked(const ContextSwitch& change) const {
  const auto mask = engine_.registers().get<hw::CSB_INTERRUPT_MASK>();
  const hw::CONTEXT_STATUS flags = flags_of(change);
  return (mask.idle_to_active && flags.idle_to_active) || (mask.preempted && flags.preempted) ||
         (mask.element_switch && flags.element_switch) || (mask.active_to_idle && flags.active_to_idle) ||
         (mask.context_complete && flags.context_complete) || (mask.wait_on_sync_flip && flags.wait_on_sync_flip) ||
         (mask.wait_on_vblank && flags.wait_on_vblank) || (mask.wait_on_scanline && flags.wait_on_scanline) ||
         (mask.wait_on_semaphore && flags.wait_on_semaphore) || (mask.lite_restore && flags.lite_restore);
}

uint64_t ContextStatusBuffer::pack(const ContextSwitch& change) const {
  hw::CONTEXT_STATUS status = flags_of(change);
  if (names_both_) {
    const hw::SemaphoreWaitMode mode = status.semaphore_wait_mode;
    status = {};
    status.semaphore_wait_mode = mode;
    status.new_queue = change.new_queue;
    const auto to = change.to ? descriptor_of(engine_.gen(), *change.to) : hw::CONTEXT_DESCRIPTOR{};
    const auto away = change.away ? descriptor_of(engine_.gen(), *change.away) : hw::CONTEXT_DESCRIPTOR{};
    const hw::CONTEXT_DESCRIPTOR& known = change.away ? away : to;
    status.engine_class = known.engine_class;
    status.engine_instance = known.engine_instance;
    status.sw_context_id_to = change.to ? to.sw_context_id : kIdleContext;
    status.sw_counter_to = to.sw_counter;
    status.sw_context_id_away = change.away ? away.sw_context_id : kIdleContext;
    status.sw_counter_away = away.sw_counter;
    status.switch_detail = change.away && !change.lite_restore ? static_cast<hw::ContextSwitchDetail>(change.reason)
                                                               : hw::ContextSwitchDetail::COMPLETE;
    status.wait_detail = change.away && !change.lite_restore ? number_of(change) : 0;
  } else {
    status.context_id = change.away ? static_cast<uint32_t>(*change.away >> kDwordBits) : 0;
  }
  std::array<uint32_t, 2> dwords{};
  if (!names_both_ && change.new_queue && !change.to) {
    status.preempted_to_idle = true;
    if (!status.pack(engine_.gen(), dwords)) {  // older status formats have no such flag
      status.preempted_to_idle = false;
    }
  }
  static_cast<void>(status.pack(engine_.gen(), dwords));
  return dwords[0] | uint64_t{dwords[1]} << kDwordBits;
}

memory::AccessResult ContextStatusBuffer::report(const ContextSwitch& change) {
  mmio::Registers& registers = engine_.registers();
  const uint64_t status = pack(change);
  if (!names_both_) {
    engine_.state().execlist.last_switch = static_cast<uint32_t>(status & low_mask(kReasonBits));
  }
  if (masked(change)) {
    return memory::AccessResult::ok;
  }
  auto pointers = registers.get<hw::CTXT_ST_PTR>();
  const unsigned entry = pointers.write_pointer + 1u < entries_ ? pointers.write_pointer + 1u : 0;
  pointers.write_pointer = static_cast<uint8_t>(entry);
  registers.set(pointers);
  if (entry < upper_first_) {
    registers.poke64(RegisterId::CTXT_ST_BUF, status, entry);
  } else {
    registers.poke64(RegisterId::CTXT_ST_BUF_UPPER, status, entry - upper_first_);
  }
  memory::AccessResult result = engine_.status_page().write64(first_dword_ + 2 * entry, status);
  if (ok(result)) {
    result = engine_.status_page().write(index_dword_, entry);
  }
  engine_.services().interrupt(EngineCause::context_switch);
  return result;
}

}  // namespace halogen::engine
