// The reports of the unit to software: page requests in their queue, and faults in their records.
#include <array>

#include "base/bits.h"
#include "memory/iommu.h"

namespace halogen::memory {
namespace {

using hw::VtdFaultReason;

constexpr unsigned kEntryBytes = 16;
constexpr unsigned kEntryBits = 4;
constexpr unsigned kRecordDwords = 4;

VtdFaultReason reason_of(const Fault& fault) {
  switch (fault.reason) {
    case FaultReason::root_not_present:
      return VtdFaultReason::ROOT_NOT_PRESENT;
    case FaultReason::context_not_present:
      return VtdFaultReason::CONTEXT_NOT_PRESENT;
    case FaultReason::context_invalid:
      return VtdFaultReason::CONTEXT_INVALID;
    case FaultReason::not_canonical:
    case FaultReason::out_of_range:
      return VtdFaultReason::ADDRESS_TOO_WIDE;
    case FaultReason::second_level_absent:
    case FaultReason::second_level_denied:
      return fault.direction == Direction::write ? VtdFaultReason::WRITE_DENIED : VtdFaultReason::READ_DENIED;
    case FaultReason::table_hole:
      return VtdFaultReason::TABLE_UNREADABLE;
    case FaultReason::reserved_bit:
      return VtdFaultReason::RESERVED_BITS;
    case FaultReason::pasid_out_of_range:
      return VtdFaultReason::PASID_OUT_OF_RANGE;
    case FaultReason::pasid_not_present:
      return VtdFaultReason::PASID_NOT_PRESENT;
    case FaultReason::not_present:
      return VtdFaultReason::FIRST_LEVEL_NOT_PRESENT;
    case FaultReason::write_denied:
    case FaultReason::privilege_denied:
      return VtdFaultReason::FIRST_LEVEL_DENIED;
    case FaultReason::request_denied:
      return VtdFaultReason::SUPERVISOR_DENIED;
    case FaultReason::execute_denied:
      return VtdFaultReason::EXECUTE_DENIED;
    case FaultReason::none:
    case FaultReason::page_hole:
    case FaultReason::table_disabled:
    case FaultReason::update_not_writeback:
      return VtdFaultReason::OTHER;
  }
  return VtdFaultReason::OTHER;
}

}  // namespace

void Iommu::on_request_queued() {
  post_requests();
}

// Moves requests from the graphics device to the queue in memory until the queue is full. A queue with an address is
// enabled. One entry stays free: equal pointers mean an empty queue.
void Iommu::post_requests() {
  const Queue ring = queue(Register::PAGE_REQUEST_QUEUE_ADDRESS);
  if (ring.address == 0) {
    return;  // software takes requests from the graphics device
  }
  while (!parts_.faults.state().queue.empty()) {
    auto status = get<hw::VTD_FAULT_STATUS>(Register::FAULT_STATUS);
    if (status.request_overflow) {
      return;
    }
    const uint64_t head = uint64_t{get<hw::VTD_QUEUE_POINTER>(Register::PAGE_REQUEST_QUEUE_HEAD).entry} << kEntryBits;
    const uint64_t tail =
        (uint64_t{get<hw::VTD_QUEUE_POINTER>(Register::PAGE_REQUEST_QUEUE_TAIL).entry} << kEntryBits) % ring.bytes;
    const uint64_t next = (tail + kEntryBytes) % ring.bytes;
    if (next == head % ring.bytes) {
      status.request_overflow = true;
      set(Register::FAULT_STATUS, status);
      raise_event(kFaultEvent);
      return;
    }
    const PageRequest request = *parts_.faults.take_request();
    const std::array<uint32_t, 4> entry = pack(request, model_->gen);
    if (!parts_.port.write(PhysAddr(ring.address + tail), std::as_bytes(std::span(entry)))) {
      raise(EventKind::unmapped_memory, "page request queue", ring.address + tail, request.address, "request lost");
    }
    set(Register::PAGE_REQUEST_QUEUE_TAIL, hw::VTD_QUEUE_POINTER{.entry = static_cast<uint16_t>(next >> kEntryBits)});
    if (!get<hw::VTD_PAGE_REQUEST_STATUS>(Register::PAGE_REQUEST_STATUS).pending) {
      set(Register::PAGE_REQUEST_STATUS, hw::VTD_PAGE_REQUEST_STATUS{.pending = true});
      raise_event(kRequestEvent);
    }
  }
}

void Iommu::on_remapping_fault(const FaultContext& context, const Fault& fault) {
  hw::VTD_FAULT_RECORD entry;
  entry.address = GpuVa(fault.address & ~low_mask(kFrameBits));
  entry.source_id = static_cast<uint16_t>(kGraphicsBus << 8 | kGraphicsDevice << 3 | context.function);
  entry.privileged = context.privileged;
  entry.execute = fault.instruction;
  entry.pasid_present = true;
  entry.reason = static_cast<uint8_t>(reason_of(fault));
  entry.pasid = context.pasid & static_cast<uint32_t>(low_mask(20));
  entry.read = fault.direction == Direction::read;
  entry.valid = true;
  record(entry);
}

// Writes a fault to the next record. A fault that a valid record already shows is not recorded again; without a free
// record it is lost, and so are the following ones until software clears the overflow.
void Iommu::record(const hw::VTD_FAULT_RECORD& fault) {
  auto status = get<hw::VTD_FAULT_STATUS>(Register::FAULT_STATUS);
  for (unsigned i = 0; i < IommuState::kFaultRecords; ++i) {
    if (get<hw::VTD_FAULT_RECORD>(Register::FAULT_RECORDS, i) == fault) {
      return;
    }
  }
  if (status.overflow) {
    return;
  }
  if (get<hw::VTD_FAULT_RECORD>(Register::FAULT_RECORDS, state_.next_record).valid) {
    status.overflow = true;
    set(Register::FAULT_STATUS, status);
    raise_event(kFaultEvent);
    return;
  }
  set(Register::FAULT_RECORDS, fault, state_.next_record);
  const bool first = !status.pending;
  if (first) {
    status.pending = true;
    status.first_record = state_.next_record;
    set(Register::FAULT_STATUS, status);
  }
  state_.next_record = static_cast<uint8_t>((state_.next_record + 1) % IommuState::kFaultRecords);
  if (first) {
    raise_event(kFaultEvent);
  }
}

// Clears the valid bit of a record if software writes one to it. The rest of a record cannot be written.
void Iommu::clear_record(unsigned dword, uint32_t value) {
  const unsigned number = dword / kRecordDwords;
  std::array<uint32_t, kRecordDwords> written{};
  written[dword % kRecordDwords] = value;
  if (!hw::VTD_FAULT_RECORD::unpack(model_->gen, written).valid) {
    return;
  }
  auto entry = get<hw::VTD_FAULT_RECORD>(Register::FAULT_RECORDS, number);
  entry.valid = false;
  set(Register::FAULT_RECORDS, entry, number);
  update_pending();
}

void Iommu::update_pending() {
  auto status = get<hw::VTD_FAULT_STATUS>(Register::FAULT_STATUS);
  bool any = false;
  for (unsigned i = 0; i < IommuState::kFaultRecords; ++i) {
    any |= get<hw::VTD_FAULT_RECORD>(Register::FAULT_RECORDS, i).valid;
  }
  status.pending = any;
  set(Register::FAULT_STATUS, status);
  if (!status.pending && !status.overflow && !status.queue_error && !status.request_overflow) {
    drop_event(kFaultEvent);
  }
}

// Clears the status bits that software writes one to, and continues what they held up.
void Iommu::clear_fault_status(uint32_t old_value, uint32_t value) {
  const auto ones = hw::VTD_FAULT_STATUS::unpack(model_->gen, std::span(&value, 1));
  auto status = hw::VTD_FAULT_STATUS::unpack(model_->gen, std::span(&old_value, 1));
  status.overflow &= !ones.overflow;
  status.queue_error &= !ones.queue_error;
  status.completion_error &= !ones.completion_error;
  status.timeout &= !ones.timeout;
  status.request_overflow &= !ones.request_overflow;
  set(Register::FAULT_STATUS, status);
  update_pending();
  if (ones.request_overflow) {
    post_requests();
  }
}

}  // namespace halogen::memory
