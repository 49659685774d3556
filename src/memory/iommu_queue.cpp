// The invalidation queue: software's commands to the unit, and its answers to page requests.
#include <array>

#include "base/bits.h"
#include "memory/iommu.h"
#include "spec/field_visitor.h"

namespace halogen::memory {
namespace {

using hw::VtdDescriptorType;
using hw::VtdGranularity;
using Level = DirectedInvalidation::Level;

constexpr unsigned kEntryBytes = 16;
constexpr unsigned kEntryBits = 4;
constexpr unsigned kQueueUnit = 256 * kEntryBytes;
constexpr unsigned kDeviceBits = 3;  // functions of a device in a source id
constexpr uint16_t kGraphicsSource = kGraphicsBus << 8 | kGraphicsDevice << kDeviceBits;

bool is_graphics(uint16_t source_id) {
  return (source_id & ~(kFunctions - 1)) == kGraphicsSource;
}

template <class Entry>
bool has_reserved(spec::GenId gen, std::span<const uint32_t> dwords) {
  return spec::has_reserved_set(Entry::kDesc, gen, dwords);
}

}  // namespace

Iommu::Queue Iommu::queue(Register address) const {
  const auto base = get<hw::VTD_QUEUE_ADDRESS>(address);
  return {base.address.value, uint64_t{kQueueUnit} << base.size};
}

// Executes entries up to the tail. An entry that is wrong stops the queue at its place until software clears the error.
void Iommu::run_queue() {
  const auto on = [&] {
    return get<hw::VTD_GLOBAL_STATUS>(Register::GLOBAL_STATUS).queued_invalidation &&
           !get<hw::VTD_FAULT_STATUS>(Register::FAULT_STATUS).queue_error;
  };
  const Queue ring = queue(Register::INVALIDATION_QUEUE_ADDRESS);
  const uint64_t tail = uint64_t{get<hw::VTD_QUEUE_POINTER>(Register::INVALIDATION_QUEUE_TAIL).entry} << kEntryBits;
  if (on() && tail >= ring.bytes) {
    return stop_queue(tail, "tail outside the queue");
  }
  while (on()) {
    const uint64_t head = uint64_t{get<hw::VTD_QUEUE_POINTER>(Register::INVALIDATION_QUEUE_HEAD).entry} << kEntryBits;
    if (head == tail) {
      return;
    }
    std::array<uint32_t, 4> entry{};
    if (!parts_.port.read(PhysAddr(ring.address + head), std::as_writable_bytes(std::span(entry)))) {
      return stop_queue(ring.address + head, "no memory at the entry");
    }
    if (!execute(entry)) {
      return stop_queue(ring.address + head, "entry of an unknown kind, or with reserved bits set");
    }
    const uint64_t next = (head + kEntryBytes) % ring.bytes;
    set(Register::INVALIDATION_QUEUE_HEAD, hw::VTD_QUEUE_POINTER{.entry = static_cast<uint16_t>(next >> kEntryBits)});
  }
}

void Iommu::stop_queue(uint64_t at, const char* why) {
  raise(EventKind::undefined_behaviour, "invalidation queue", at, 0, why);
  auto status = get<hw::VTD_FAULT_STATUS>(Register::FAULT_STATUS);
  status.queue_error = true;
  set(Register::FAULT_STATUS, status);
  raise_event(kFaultEvent);
}

// Executes an entry. False: the entry is wrong.
bool Iommu::execute(std::span<const uint32_t, 4> entry) {
  switch (hw::VTD_INVALIDATE_WAIT::unpack(model_->gen, entry).type) {
    case VtdDescriptorType::CONTEXT_CACHE:
      return invalidate_contexts(entry);
    case VtdDescriptorType::IOTLB:
    case VtdDescriptorType::EXTENDED_IOTLB:
      return invalidate_translations(entry);
    case VtdDescriptorType::PASID_CACHE:
      return invalidate_pasids(entry);
    case VtdDescriptorType::WAIT:
      return wait(entry);
    case VtdDescriptorType::PAGE_GROUP_RESPONSE:
      return answer_group(entry);
    case VtdDescriptorType::PAGE_STREAM_RESPONSE:
      return answer_stream(entry);
    case VtdDescriptorType::DEVICE_TLB:
    case VtdDescriptorType::INTERRUPT_ENTRY_CACHE:
    case VtdDescriptorType::EXTENDED_DEVICE_TLB:
      return false;  // functions that the capabilities do not list
  }
  return false;
}

// Invalidates context entries and all that depends on them. Domains are not distinguished, so more may be invalidated
// than the request names.
void Iommu::invalidate(VtdGranularity granularity, uint16_t source_id, unsigned function_mask) {
  if (granularity == VtdGranularity::RESERVED) {
    raise(EventKind::undefined_behaviour, "context cache", 0, 0, "reserved invalidation granularity");
    return;
  }
  if (granularity != VtdGranularity::SELECTIVE) {
    parts_.gam.invalidate({.level = Level::context});
    return;
  }
  // The mask leaves out the highest function bits that are compared: none, bit 2, bits 2:1, all.
  constexpr unsigned kIgnored[] = {0, 4, 6, 7};
  for (unsigned function = 0; function < kFunctions && is_graphics(source_id); ++function) {
    if (((function ^ source_id) & (kFunctions - 1) & ~kIgnored[function_mask & 3]) == 0) {
      parts_.gam.invalidate({.level = Level::context, .function = function});
    }
  }
}

bool Iommu::invalidate_contexts(std::span<const uint32_t, 4> entry) {
  using Entry = hw::VTD_INVALIDATE_CONTEXT_CACHE;
  const auto order = Entry::unpack(model_->gen, entry);
  if (has_reserved<Entry>(model_->gen, entry) || order.granularity == VtdGranularity::RESERVED) {
    return false;
  }
  invalidate(order.granularity, order.source_id, order.function_mask);
  return true;
}

bool Iommu::invalidate_translations(std::span<const uint32_t, 4> entry) {
  using Plain = hw::VTD_INVALIDATE_IOTLB;
  using Extended = hw::VTD_INVALIDATE_EXTENDED_IOTLB;
  if (Plain::unpack(model_->gen, entry).type == VtdDescriptorType::IOTLB) {
    if (has_reserved<Plain>(model_->gen, entry) ||
        Plain::unpack(model_->gen, entry).granularity == VtdGranularity::RESERVED) {
      return false;
    }
    parts_.gam.invalidate({.level = Level::walk});  // addresses are guest physical
    return true;
  }
  const auto order = Extended::unpack(model_->gen, entry);
  if (has_reserved<Extended>(model_->gen, entry)) {
    return false;
  }
  switch (order.granularity) {
    case hw::VtdPasidGranularity::ALL_WITH_GLOBAL:
    case hw::VtdPasidGranularity::ALL_PASIDS:
      parts_.gam.invalidate({.level = Level::walk});
      return true;
    case hw::VtdPasidGranularity::ONE_PASID:
      parts_.gam.invalidate({.level = Level::walk, .pasid = order.pasid});
      return true;
    case hw::VtdPasidGranularity::PAGE:
      if (order.mask != 0) {  // several pages: all pages of the process
        parts_.gam.invalidate({.level = Level::walk, .pasid = order.pasid});
      } else {
        parts_.gam.invalidate({.level = Level::page, .pasid = order.pasid, .address = order.address.value});
      }
      return true;
  }
  return false;
}

bool Iommu::invalidate_pasids(std::span<const uint32_t, 4> entry) {
  using Entry = hw::VTD_INVALIDATE_PASID_CACHE;
  if (has_reserved<Entry>(model_->gen, entry)) {
    return false;
  }
  const auto order = Entry::unpack(model_->gen, entry);
  DirectedInvalidation command{.level = Level::pasid};
  if (order.one_pasid) {
    command.pasid = order.pasid;
  }
  parts_.gam.invalidate(command);
  return true;
}

// Executes a wait entry. All entries before it are done, because invalidations are immediate.
bool Iommu::wait(std::span<const uint32_t, 4> entry) {
  using Entry = hw::VTD_INVALIDATE_WAIT;
  if (has_reserved<Entry>(model_->gen, entry)) {
    return false;
  }
  const auto order = Entry::unpack(model_->gen, entry);
  if (order.write_status) {
    const uint32_t status = order.status;
    if (!parts_.port.write(order.address, std::as_bytes(std::span(&status, 1)))) {
      raise(EventKind::unmapped_memory, "invalidation wait", order.address.value, status, "status write dropped");
    }
  }
  if (order.interrupt && !get<hw::VTD_INVALIDATION_STATUS>(Register::INVALIDATION_STATUS).wait_complete) {
    set(Register::INVALIDATION_STATUS, hw::VTD_INVALIDATION_STATUS{.wait_complete = true});
    raise_event(kInvalidationEvent);
  }
  return true;
}

bool Iommu::answer_group(std::span<const uint32_t, 4> entry) {
  using Entry = hw::VTD_PAGE_GROUP_RESPONSE;
  if (has_reserved<Entry>(model_->gen, entry)) {
    return false;
  }
  const auto order = Entry::unpack(model_->gen, entry);
  answer(order.group_index, order.pasid, order.source_id, order.response);
  return true;
}

bool Iommu::answer_stream(std::span<const uint32_t, 4> entry) {
  using Entry = hw::VTD_PAGE_STREAM_RESPONSE;
  if (has_reserved<Entry>(model_->gen, entry)) {
    return false;
  }
  const auto order = Entry::unpack(model_->gen, entry);
  answer(order.group_index, order.pasid, static_cast<uint16_t>(order.bus << 8 | order.device_function), order.response);
  return true;
}

// Passes an answer on to the graphics device. A group has one request.
void Iommu::answer(uint16_t group, uint32_t pasid, uint16_t source_id, hw::VtdResponse response) {
  const auto& outstanding = parts_.faults.state().outstanding;
  for (const PageRequest& request : outstanding) {
    if (is_graphics(source_id) && request.group == group && request.pasid == pasid &&
        request.function == (source_id & (kFunctions - 1))) {
      const PageResponse answered{pasid, request.address, response == hw::VtdResponse::SUCCESS};
      parts_.gam.page_response(answered);
      return;
    }
  }
  raise(EventKind::undefined_behaviour, "page response", group, pasid, "no page request of this group is outstanding");
}

}  // namespace halogen::memory
