#include "memory/iommu.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bits.h"
#include "base/check.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using hw::VtdRegister;
using spec::StructId;

enum class Kind : uint8_t { read_only, read_write, own };  // own: after_write() decides

struct Row {
  VtdRegister at;
  StructId layout;
  Kind kind;
  const char* name;
};

// The registers without the fault records.
constexpr Row kRows[] = {
    {VtdRegister::VERSION, StructId::VTD_VERSION, Kind::read_only, "VER"},
    {VtdRegister::CAPABILITY, StructId::VTD_CAPABILITY, Kind::read_only, "CAP"},
    {VtdRegister::EXTENDED_CAPABILITY, StructId::VTD_EXTENDED_CAPABILITY, Kind::read_only, "ECAP"},
    {VtdRegister::GLOBAL_COMMAND, StructId::VTD_GLOBAL_COMMAND, Kind::own, "GCMD"},
    {VtdRegister::GLOBAL_STATUS, StructId::VTD_GLOBAL_STATUS, Kind::read_only, "GSTS"},
    {VtdRegister::ROOT_TABLE_ADDRESS, StructId::VTD_ROOT_TABLE_ADDRESS, Kind::read_write, "RTADDR"},
    {VtdRegister::CONTEXT_COMMAND, StructId::VTD_CONTEXT_COMMAND, Kind::read_write, "CCMD"},
    {VtdRegister::FAULT_STATUS, StructId::VTD_FAULT_STATUS, Kind::own, "FSTS"},
    {VtdRegister::FAULT_EVENT_CONTROL, StructId::VTD_EVENT_CONTROL, Kind::own, "FECTL"},
    {VtdRegister::FAULT_EVENT_DATA, StructId::VTD_EVENT_DATA, Kind::read_write, "FEDATA"},
    {VtdRegister::FAULT_EVENT_ADDRESS, StructId::VTD_EVENT_ADDRESS, Kind::read_write, "FEADDR"},
    {VtdRegister::INVALIDATION_QUEUE_HEAD, StructId::VTD_QUEUE_POINTER, Kind::read_only, "IQH"},
    {VtdRegister::INVALIDATION_QUEUE_TAIL, StructId::VTD_QUEUE_POINTER, Kind::read_write, "IQT"},
    {VtdRegister::INVALIDATION_QUEUE_ADDRESS, StructId::VTD_QUEUE_ADDRESS, Kind::read_write, "IQA"},
    {VtdRegister::INVALIDATION_STATUS, StructId::VTD_INVALIDATION_STATUS, Kind::own, "ICS"},
    {VtdRegister::INVALIDATION_EVENT_CONTROL, StructId::VTD_EVENT_CONTROL, Kind::own, "IECTL"},
    {VtdRegister::INVALIDATION_EVENT_DATA, StructId::VTD_EVENT_DATA, Kind::read_write, "IEDATA"},
    {VtdRegister::INVALIDATION_EVENT_ADDRESS, StructId::VTD_EVENT_ADDRESS, Kind::read_write, "IEADDR"},
    {VtdRegister::PAGE_REQUEST_QUEUE_HEAD, StructId::VTD_QUEUE_POINTER, Kind::read_write, "PQH"},
    {VtdRegister::PAGE_REQUEST_QUEUE_TAIL, StructId::VTD_QUEUE_POINTER, Kind::read_write, "PQT"},
    {VtdRegister::PAGE_REQUEST_QUEUE_ADDRESS, StructId::VTD_QUEUE_ADDRESS, Kind::read_write, "PQA"},
    {VtdRegister::PAGE_REQUEST_STATUS, StructId::VTD_PAGE_REQUEST_STATUS, Kind::own, "PRS"},
    {VtdRegister::PAGE_REQUEST_EVENT_CONTROL, StructId::VTD_EVENT_CONTROL, Kind::own, "PECTL"},
    {VtdRegister::PAGE_REQUEST_EVENT_DATA, StructId::VTD_EVENT_DATA, Kind::read_write, "PEDATA"},
    {VtdRegister::PAGE_REQUEST_EVENT_ADDRESS, StructId::VTD_EVENT_ADDRESS, Kind::read_write, "PEADDR"},
    {VtdRegister::INVALIDATE_ADDRESS, StructId::VTD_INVALIDATE_ADDRESS, Kind::read_write, "IVA"},
    {VtdRegister::IOTLB_INVALIDATE, StructId::VTD_IOTLB_INVALIDATE, Kind::read_write, "IOTLB"},
};

constexpr uint32_t kRecords = static_cast<uint32_t>(VtdRegister::FAULT_RECORDS);
constexpr uint32_t kRecordBytes = 16;

size_t dwords_of(StructId id, spec::GenId gen) {
  return spec::desc(id).dwords_of_gen[static_cast<size_t>(gen)];
}

// Returns the row of the register that holds a dword.
const Row* find_row(uint32_t offset, spec::GenId gen) {
  const auto found = std::ranges::find_if(kRows, [&](const Row& row) {
    const auto first = static_cast<uint32_t>(row.at);
    return offset >= first && offset < first + 4 * dwords_of(row.layout, gen);
  });
  return found == std::end(kRows) ? nullptr : &*found;
}

// Returns the bits of a dword that fields of the layout use.
uint32_t field_bits(StructId id, spec::GenId gen, unsigned dword) {
  uint64_t mask = 0;
  for (const spec::FieldDesc& field : spec::desc(id).layout(gen)->fields) {
    mask |= low_mask(field.width) << field.first_bit;
  }
  return static_cast<uint32_t>(mask >> (32 * dword));
}

bool is_record(uint32_t offset) {
  return offset >= kRecords && offset < kRecords + IommuState::kFaultRecords * kRecordBytes;
}

}  // namespace

Iommu::Iommu(const spec::DeviceModel& model, const Parts& parts, EventSink& events, std::string path)
    : model_(&model), parts_(parts), events_(&events), path_(std::move(path)) {
  reset();
}

void Iommu::raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) const {
  events_->on_event({kind, item, path_, address, value, std::move(detail)});
}

void Iommu::reset() {
  state_ = {};
  set(Register::VERSION, hw::VTD_VERSION{.minor = 0, .major = 1});
  hw::VTD_CAPABILITY can;
  can.domains = 6;
  can.second_level_39 = can.second_level_48 = true;
  can.max_address_width = 47;
  can.zero_length_read = true;
  can.fault_record_offset = kRecords / 16;
  can.second_level_2m = can.second_level_1g = true;
  can.page_selective = true;
  can.fault_records = IommuState::kFaultRecords - 1;
  can.max_address_mask = 18;
  can.first_level_1g = true;
  set(Register::CAPABILITY, can);
  hw::VTD_EXTENDED_CAPABILITY more;
  more.coherent = more.queued_invalidation = true;
  more.iotlb_offset = static_cast<uint16_t>(Register::INVALIDATE_ADDRESS) / 16;
  more.extended_context = more.memory_type = more.nesting = more.deferred_invalidate = true;
  more.page_requests = more.execute_requests = more.supervisor_requests = more.extended_accessed = true;
  more.pasid_bits = 19;
  more.pasid = true;
  set(Register::EXTENDED_CAPABILITY, more);
  for (const EventRegisters& event : {kFaultEvent, kInvalidationEvent, kRequestEvent}) {
    set(event.control, hw::VTD_EVENT_CONTROL{.mask = true});
  }
  parts_.vtd.set_root(0);
}

void Iommu::restore(const IommuState& state) {
  state_ = state;
  parts_.vtd.set_root(get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS).translation ? state_.root : 0);
}

uint64_t Iommu::read(uint32_t offset, unsigned bytes) const {
  if ((bytes != 4 && bytes != 8) || offset % bytes != 0 || offset > kBytes - bytes) {
    raise(EventKind::bad_access, "IOMMU", offset, bytes, "read of a size or place that registers do not have");
    return 0;
  }
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes / 4; ++i) {
    const uint32_t at = offset + 4 * i;
    if (is_record(at) || find_row(at, model_->gen) != nullptr) {
      value |= uint64_t{state_.registers[at / 4]} << (32 * i);
    } else {
      raise(EventKind::unclaimed_register, "IOMMU", at, 0, "read of an offset without a register");
    }
  }
  return value;
}

void Iommu::write(uint32_t offset, unsigned bytes, uint64_t value) {
  if ((bytes != 4 && bytes != 8) || offset % bytes != 0 || offset > kBytes - bytes) {
    raise(EventKind::bad_access, "IOMMU", offset, value, "write of a size or place that registers do not have");
    return;
  }
  for (unsigned i = 0; i < bytes / 4; ++i) {
    write_dword(offset + 4 * i, static_cast<uint32_t>(value >> (32 * i)));
  }
}

void Iommu::write_dword(uint32_t offset, uint32_t value) {
  if (is_record(offset)) {
    return clear_record((offset - kRecords) / 4, value);
  }
  const Row* const row = find_row(offset, model_->gen);
  if (row == nullptr) {
    raise(EventKind::unclaimed_register, "IOMMU", offset, value, "write of an offset without a register");
    return;
  }
  const unsigned dword = (offset - static_cast<uint32_t>(row->at)) / 4;
  const uint32_t fields = field_bits(row->layout, model_->gen, dword);
  if ((value & ~fields) != 0) {
    raise(EventKind::reserved_bits, row->name, offset, value, "write of reserved bits");
  }
  uint32_t& stored = state_.registers[offset / 4];
  const uint32_t old = stored;
  if (row->kind == Kind::read_write) {
    stored = value & fields;
  }
  after_write(row->at, dword != 0, old, value & fields);
}

// Does what the write of a dword starts. The upper dwords of commands hold their start bits.
void Iommu::after_write(Register at, bool upper, uint32_t old_value, uint32_t value) {
  switch (at) {
    case Register::GLOBAL_COMMAND:
      return command(value);
    case Register::CONTEXT_COMMAND:
      return upper ? context_command() : void();
    case Register::IOTLB_INVALIDATE:
      return upper ? iotlb_command() : void();
    case Register::FAULT_STATUS:
      return clear_fault_status(old_value, value);
    case Register::INVALIDATION_QUEUE_TAIL:
      return upper ? void() : run_queue();
    case Register::INVALIDATION_QUEUE_ADDRESS:
      if (get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS).queued_invalidation && value != old_value) {
        raise(EventKind::undefined_behaviour, "IQA", static_cast<uint32_t>(at), value,
              "changed while queued invalidation is enabled");
      }
      return;
    case Register::PAGE_REQUEST_QUEUE_HEAD:
    case Register::PAGE_REQUEST_QUEUE_ADDRESS:
      return post_requests();
    case Register::INVALIDATION_STATUS:
      if (hw::VTD_INVALIDATION_STATUS::unpack(model_->gen, std::span(&value, 1)).wait_complete) {
        set(at, hw::VTD_INVALIDATION_STATUS{});
        drop_event(kInvalidationEvent);
      }
      return;
    case Register::PAGE_REQUEST_STATUS:
      if (hw::VTD_PAGE_REQUEST_STATUS::unpack(model_->gen, std::span(&value, 1)).pending) {
        set(at, hw::VTD_PAGE_REQUEST_STATUS{});
        drop_event(kRequestEvent);
      }
      return;
    case Register::FAULT_EVENT_CONTROL:
    case Register::INVALIDATION_EVENT_CONTROL:
    case Register::PAGE_REQUEST_EVENT_CONTROL: {
      auto control = get<hw::VTD_EVENT_CONTROL>(at);
      control.mask = hw::VTD_EVENT_CONTROL::unpack(model_->gen, std::span(&value, 1)).mask;
      set(at, control);
      for (const EventRegisters& event : {kFaultEvent, kInvalidationEvent, kRequestEvent}) {
        if (event.control == at) {
          unmask_event(event);
        }
      }
      return;
    }
    case Register::VERSION:
    case Register::CAPABILITY:
    case Register::EXTENDED_CAPABILITY:
    case Register::GLOBAL_STATUS:
    case Register::ROOT_TABLE_ADDRESS:
    case Register::FAULT_EVENT_DATA:
    case Register::FAULT_EVENT_ADDRESS:
    case Register::INVALIDATION_QUEUE_HEAD:
    case Register::INVALIDATION_EVENT_DATA:
    case Register::INVALIDATION_EVENT_ADDRESS:
    case Register::PAGE_REQUEST_QUEUE_TAIL:
    case Register::PAGE_REQUEST_EVENT_DATA:
    case Register::PAGE_REQUEST_EVENT_ADDRESS:
    case Register::INVALIDATE_ADDRESS:
    case Register::FAULT_RECORDS:
      return;
  }
}

void Iommu::translate(bool on) {
  parts_.vtd.set_root(on ? state_.root : 0);
  parts_.gam.invalidate({.level = DirectedInvalidation::Level::context});
}

// Handles the global command. The bits for translation and the queue are levels: each write of the register sets or
// clears them. The other bits start something.
void Iommu::command(uint32_t value) {
  const auto wanted = hw::VTD_GLOBAL_COMMAND::unpack(model_->gen, std::span(&value, 1));
  auto status = get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS);
  const hw::VTD_GLOBAL_STATUS before = status;
  if (wanted.compatibility_interrupts || wanted.set_interrupt_table || wanted.interrupt_remapping ||
      wanted.advanced_fault_log || wanted.set_fault_log || wanted.write_buffer_flush) {
    raise(EventKind::unsupported, "GCMD", static_cast<uint32_t>(Register::GLOBAL_COMMAND), value,
          "command starts a function that the capability registers do not list");
  }
  if (wanted.set_root_table) {
    const size_t at = static_cast<size_t>(Register::ROOT_TABLE_ADDRESS) / 4;
    state_.root = state_.registers[at] | uint64_t{state_.registers[at + 1]} << 32;
    status.root_table_set = true;
  }
  status.translation = wanted.translation;
  status.queued_invalidation = wanted.queued_invalidation;
  set(Register::GLOBAL_STATUS, status);
  if (status.translation != before.translation) {
    translate(status.translation);
  } else if (wanted.set_root_table && status.translation) {
    parts_.vtd.set_root(state_.root);  // cached entries of running contexts stay until software invalidates them
  }
  if (status.queued_invalidation != before.queued_invalidation) {
    set(Register::INVALIDATION_QUEUE_HEAD, hw::VTD_QUEUE_POINTER{});
    run_queue();
  }
}

void Iommu::context_command() {
  auto order = get<hw::VTD_CONTEXT_COMMAND>(Register::CONTEXT_COMMAND);
  if (!order.invalidate) {
    return;
  }
  if (get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS).queued_invalidation) {
    raise(EventKind::undefined_behaviour, "CCMD", static_cast<uint32_t>(Register::CONTEXT_COMMAND), 0,
          "used while queued invalidation is enabled");
  }
  invalidate(order.request, order.source_id, order.function_mask);
  order.invalidate = false;
  order.done = order.request;
  set(Register::CONTEXT_COMMAND, order);
}

void Iommu::iotlb_command() {
  auto order = get<hw::VTD_IOTLB_INVALIDATE>(Register::IOTLB_INVALIDATE);
  if (!order.invalidate) {
    return;
  }
  if (get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS).queued_invalidation) {
    raise(EventKind::undefined_behaviour, "IOTLB", static_cast<uint32_t>(Register::IOTLB_INVALIDATE), 0,
          "used while queued invalidation is enabled");
  }
  order.invalidate = false;
  order.done = order.request;
  if (order.request != hw::VtdGranularity::RESERVED) {
    // Pages of this command are guest physical: every translation may depend on them.
    parts_.gam.invalidate({.level = DirectedInvalidation::Level::walk});
    order.done = order.request == hw::VtdGranularity::GLOBAL ? hw::VtdGranularity::GLOBAL : hw::VtdGranularity::DOMAIN;
  }
  set(Register::IOTLB_INVALIDATE, order);
}

// ---- messages of events

void Iommu::raise_event(const EventRegisters& event) {
  auto control = get<hw::VTD_EVENT_CONTROL>(event.control);
  if (control.mask) {
    control.pending = true;
    set(event.control, control);
    return;
  }
  parts_.port.send_message(get<hw::VTD_EVENT_ADDRESS>(event.address).address, get<hw::VTD_EVENT_DATA>(event.data).data);
}

void Iommu::unmask_event(const EventRegisters& event) {
  auto control = get<hw::VTD_EVENT_CONTROL>(event.control);
  if (!control.mask && std::exchange(control.pending, false)) {
    set(event.control, control);
    raise_event(event);
  }
}

// Cancels a pending message, because its cause is gone.
void Iommu::drop_event(const EventRegisters& event) {
  auto control = get<hw::VTD_EVENT_CONTROL>(event.control);
  control.pending = false;
  set(event.control, control);
}

}  // namespace halogen::memory
