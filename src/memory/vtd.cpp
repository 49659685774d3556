#include "memory/vtd.h"

#include <algorithm>
#include <atomic>
#include <span>

#include "base/bits.h"
#include "hw/vtd.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using Entry = hw::EXTENDED_CONTEXT_ENTRY;

constexpr unsigned kRootEntryBytes = 16;
constexpr unsigned kContextEntryBytes = 32;
constexpr unsigned kPasidBits = 20;

template <size_t N>
bool read_dwords(const PhysicalMemory& memory, uint64_t address, std::array<uint32_t, N>& dwords) {
  return memory.read(MemorySpace::system, PhysAddr(address), std::as_writable_bytes(std::span(dwords)));
}

// Returns whether a structure has reserved bits set, or address bits that the host does not have.
bool has_reserved_bits(spec::StructId id, spec::GenId gen, std::span<const uint32_t> dwords, unsigned address_bits) {
  const spec::Layout* layout = spec::desc(id).layout(gen);
  if (layout == nullptr) {
    return true;
  }
  for (const spec::ReservedDesc& reserved : layout->reserved) {
    for (unsigned done = 0; done < reserved.width; done += 64) {
      const unsigned width = reserved.width - done < 64 ? reserved.width - done : 64;
      if (!reserved.ignored && get_bits(dwords, reserved.first_bit + done, width) != 0) {
        return true;
      }
    }
  }
  for (const spec::GroupDesc& group : layout->groups) {
    for (unsigned i = 0; i < group.count; ++i) {
      for (const spec::ReservedDesc& reserved : group.reserved) {
        if (get_bits(dwords, group.first_bit + i * group.element_bits + reserved.first_bit, reserved.width) != 0) {
          return true;
        }
      }
    }
  }
  for (const spec::FieldDesc& field : layout->fields) {
    if (field.type == spec::FieldType::phys) {
      const unsigned base = field.first_bit / 64u * 64u;
      const unsigned end = field.first_bit + field.width - base;
      if (end > address_bits && get_bits(dwords, base + address_bits, end - address_bits) != 0) {
        return true;
      }
    }
  }
  return false;
}

void fail(Fault& fault, FaultReason reason, uint64_t entry_address, uint64_t entry = 0) {
  fault.reason = reason;
  fault.entry_address = entry_address;
  fault.entry = entry;
}

// Returns whether a context entry allows requests with a PASID.
bool translates_pasids(const Entry& entry) {
  using Type = Entry::TranslationType;
  return entry.pasid_enable &&
         (entry.translation_type == Type::UNTRANSLATED_ONLY || entry.translation_type == Type::ALL_REQUESTS ||
          entry.translation_type == Type::GUEST_MODE || entry.translation_type == Type::GUEST_MODE_ALL);
}

uint8_t writeback_types(const Entry& entry, const VtdConfig& config) {
  if (!config.memory_types) {
    return 0xff;
  }
  uint8_t mask = 0;
  for (unsigned i = 0; i < 8 && !entry.cache_disable; ++i) {
    if (entry.pat[i].type == Entry::Pat::Type::WB) {
      mask = static_cast<uint8_t>(mask | (1u << i));
    }
  }
  return mask;
}

}  // namespace

VtdUnit::VtdUnit(const spec::DeviceModel& model, const PhysicalMemory& memory, const VtdConfig& config)
    : model_(&model), memory_(&memory), config_(config) {}

void VtdUnit::set_root(uint64_t register_value) {
  root_ = register_value & low_mask(config_.host_address_bits) & ~low_mask(kFrameBits);
  extended_ = bit(register_value, 11);
  invalidate_context_cache();
}

void VtdUnit::invalidate_context_cache() {
  cache_.fill(std::nullopt);
}

std::optional<VtdContext> VtdUnit::read_context(unsigned function, Fault& fault) const {
  const uint64_t root_at = root_ + kGraphicsBus * kRootEntryBytes;
  std::array<uint32_t, 4> root{};
  if (!extended_ || !read_dwords(*memory_, root_at, root)) {
    fail(fault, FaultReason::root_not_present, root_at);
    return std::nullopt;
  }
  const auto root_entry = hw::EXTENDED_ROOT_ENTRY::unpack(model_->gen, root);
  constexpr bool kUpper = kGraphicsDevice >= 16;
  if (!(kUpper ? root_entry.upper_present : root_entry.lower_present) ||
      has_reserved_bits(spec::StructId::EXTENDED_ROOT_ENTRY, model_->gen, root, config_.host_address_bits)) {
    fail(fault, FaultReason::root_not_present, root_at, get_bits(root, 0, 64));
    return std::nullopt;
  }
  const PhysAddr table = kUpper ? root_entry.upper_context_table : root_entry.lower_context_table;
  const uint64_t at = table.value + ((kGraphicsDevice % 16) * kFunctions + function) * kContextEntryBytes;
  std::array<uint32_t, 8> raw{};
  const bool whole = read_dwords(*memory_, at, raw);
  const Entry entry = Entry::unpack(model_->gen, raw);
  if (!whole || !entry.present) {
    fail(fault, FaultReason::context_not_present, at, get_bits(raw, 0, 64));
    return std::nullopt;
  }
  using Width = Entry::AddressWidth;
  const bool width_known = entry.address_width == Width::WIDTH_39 || entry.address_width == Width::WIDTH_48;
  if (!translates_pasids(entry) || (entry.nesting_enable && !width_known) ||
      has_reserved_bits(spec::StructId::EXTENDED_CONTEXT_ENTRY, model_->gen, raw, config_.host_address_bits)) {
    fail(fault, FaultReason::context_invalid, at, get_bits(raw, 0, 64));
    return std::nullopt;
  }
  VtdContext context;
  context.faults_disabled = entry.fault_processing_disable;
  context.nesting = entry.nesting_enable;
  context.extended_accessed = entry.extended_accessed_enable;
  context.no_execute = entry.no_execute_enable;
  context.write_protect = entry.write_protect_enable;
  context.supervisor_execute_protection = entry.supervisor_execute_protection;
  context.execute_requests = entry.execute_requests_enable;
  context.page_requests = entry.page_request_enable;
  context.deferred_invalidate = entry.deferred_invalidate_enable;
  context.writeback_types = writeback_types(entry, config_);
  context.domain = entry.domain_identifier;
  context.pasid_table = entry.pasid_table.value;
  context.pasids = 1u << std::min(entry.pasid_table_size + 5u, kPasidBits);
  context.pasid_state_table = entry.pasid_state_table.value;
  context.second_level = {entry.second_level_table.value,
                          static_cast<uint8_t>(entry.address_width == Width::WIDTH_39 ? 3 : 4),
                          config_.host_address_bits, entry.second_level_execute_enable};
  return context;
}

const VtdContext* VtdUnit::context(unsigned function, Fault& fault) {
  std::optional<VtdContext>& cached = cache_[function % kFunctions];
  if (!cached) {
    cached = read_context(function % kFunctions, fault);
  }
  return cached ? &*cached : nullptr;
}

std::optional<VtdPasid> VtdUnit::read_pasid(const VtdContext& context, uint32_t pasid, Fault& fault) const {
  uint64_t at = context.pasid_table + uint64_t{pasid} * 8;
  if (pasid >= context.pasids) {
    fail(fault, FaultReason::pasid_out_of_range, at);
    return std::nullopt;
  }
  if (context.nesting) {  // the PASID table lies in guest memory
    const auto nested = SecondLevel(model_->gen, context.second_level).translate(*memory_, at);
    if (nested.fault != FaultReason::none || !nested.readable) {
      fail(fault, nested.fault != FaultReason::none ? nested.fault : FaultReason::second_level_denied, at);
      return std::nullopt;
    }
    at = nested.address;
  }
  std::array<uint32_t, 2> raw{};
  const bool whole = read_dwords(*memory_, at, raw);
  const auto entry = hw::PASID_ENTRY::unpack(model_->gen, raw);
  if (!whole || !entry.present ||
      has_reserved_bits(spec::StructId::PASID_ENTRY, model_->gen, raw, config_.host_address_bits)) {
    fail(fault, FaultReason::pasid_not_present, at, get_bits(raw, 0, 64));
    return std::nullopt;
  }
  VtdPasid result;
  result.table = entry.first_level_table.value;
  result.type_index = static_cast<uint8_t>((entry.pcd ? 2 : 0) | (entry.pwt ? 1 : 0));
  result.supervisor_requests = entry.supervisor_requests_enable;
  result.medium_pages = entry.first_level_64k_pages;
  return result;
}

bool VtdUnit::count_use(const VtdContext& context, uint32_t pasid, int change) const {
  if (!context.deferred_invalidate || pasid >= context.pasids) {
    return false;
  }
  const uint64_t at = context.pasid_state_table + uint64_t{pasid} * 8 + 4;  // the count is in the upper dword
  std::byte* frame = memory_->frame(MemorySpace::system, PhysAddr(at));
  if (frame == nullptr) {
    return false;
  }
  std::atomic_ref<uint32_t> stored(*reinterpret_cast<uint32_t*>(frame + (at & (kFrameBytes - 4))));
  uint32_t old = stored.load();
  uint32_t next = 0;
  do {
    const std::array<uint32_t, 2> raw{0, old};
    hw::PASID_STATE_ENTRY entry = hw::PASID_STATE_ENTRY::unpack(model_->gen, raw);
    const int count = std::clamp(entry.active_reference_count + change, 0, 0xffff);
    next = (old & ~0xffffu) | static_cast<uint32_t>(count);
  } while (!stored.compare_exchange_weak(old, next));
  return true;
}

WalkContext advanced_walk(const PageFormats& formats, const VtdContext& context, const VtdPasid& pasid,
                          const SecondLevel* second_level, bool supervisor, bool accessed_dirty,
                          bool updates_ignore_type) {
  WalkContext walk;
  walk.format = formats.find(WalkMode::advanced48);
  walk.roots[0] = pasid.table;
  walk.medium_pages = pasid.medium_pages;
  walk.accessed_dirty = accessed_dirty;
  walk.extended_accessed = context.extended_accessed;
  walk.execute_disable = context.no_execute;
  walk.write_protect = context.write_protect;
  walk.supervisor = supervisor;
  walk.execute_requests = context.execute_requests;
  walk.supervisor_execute_protection = context.supervisor_execute_protection;
  walk.root_type_index = pasid.type_index;
  walk.writeback_types = updates_ignore_type ? uint8_t{0xff} : context.writeback_types;
  walk.nested = second_level;
  return walk;
}

}  // namespace halogen::memory
