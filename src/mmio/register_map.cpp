#include "mmio/register_map.h"

#include <algorithm>
#include <array>

#include "base/bits.h"

namespace halogen::mmio {

namespace {

constexpr size_t kLikelyPages = 256;  // unused pages are never touched

// Returns the part of a bit range in dword `dword`, as a mask of that dword.
uint32_t part_in_dword(unsigned first_bit, unsigned width, unsigned dword) {
  const unsigned begin = std::max(first_bit, 32 * dword);
  const unsigned end = std::min(first_bit + width, 32 * dword + 32);
  return begin >= end ? 0 : static_cast<uint32_t>(low_mask(end - begin) << (begin - 32 * dword));
}

}  // namespace

AccessPolicy policy_of(const spec::RegisterDesc& desc, spec::GenId gen, unsigned dword) {
  AccessPolicy policy;
  policy.masked = desc.access == spec::Access::masked && dword == 0;
  const spec::Layout* layout = desc.layout(gen);
  if (layout == nullptr) {
    return policy;
  }
  for (const spec::FieldDesc& field : layout->fields) {
    const uint32_t mask = part_in_dword(field.first_bit, field.width, dword);
    switch (field.type == spec::FieldType::mbo ? spec::Access::ro : field.access) {
      case spec::Access::rw:
      case spec::Access::masked:
        policy.rw |= mask;
        break;
      case spec::Access::ro:
        policy.ro |= mask;
        break;
      case spec::Access::wo:
        policy.wo |= mask;
        break;
      case spec::Access::w1c:
        policy.w1c |= mask;
        break;
      case spec::Access::self_clearing:
        policy.self_clearing |= mask;
        break;
      case spec::Access::w_once:
        policy.w_once |= mask;
        break;
    }
  }
  for (const spec::ReservedDesc& reserved : layout->reserved) {
    const uint32_t mask = part_in_dword(reserved.first_bit, reserved.width, dword);
    if (reserved.must_be_one) {
      policy.ones |= mask;
    } else if (!reserved.ignored) {
      policy.reserved |= mask;
    }
  }
  policy.ro &= ~policy.ones;
  if (policy.masked) {
    policy.reserved &= 0xffff;  // the upper half enables bits
  }
  return policy;
}

RegisterMap::RegisterMap(const spec::DeviceModel& model, std::span<const spec::RegisterDesc* const> descs,
                         const ForceWakeConfig& wake, const Steering& steering)
    : model_(&model), bytes_(model.mmio_bytes), pages_(model.mmio_bytes / kPageBytes), table_(kPageDwords), slots_(1) {
  const ForceWake sleeping(wake);
  const auto is_there = [&](const spec::RegisterDesc& desc) {
    return (desc.devices & spec::mask_of(model.id)) != 0 && desc.layout(model.gen) != nullptr;
  };
  // Reserved up front: reallocation would dominate the start-up time of a device.
  size_t count = 1;
  for (const spec::RegisterDesc* desc : descs) {
    if (!is_there(*desc)) {
      continue;
    }
    const auto owns = [&](const spec::EngineModel& engine) {
      return (desc->engines & spec::mask_of(engine.engine_class)) != 0;
    };
    const auto owners = desc->base == spec::RegisterBase::absolute ? 1 : std::ranges::count_if(model.engines, owns);
    count += static_cast<size_t>(owners) * std::max<size_t>(desc->count, 1) * (desc->width_bits / 32);
  }
  slots_.reserve(count);
  table_.reserve(std::min(pages_.size(), kLikelyPages) * kPageDwords);
  for (const spec::RegisterDesc* desc : descs) {
    if (!is_there(*desc)) {
      continue;
    }
    const size_t first = slots_.size();
    if (desc->base == spec::RegisterBase::absolute) {
      add(*desc, nullptr, sleeping, steering);
    } else {
      for (const spec::EngineModel& engine : model.engines) {
        if ((desc->engines & spec::mask_of(engine.engine_class)) != 0) {
          add(*desc, &engine, sleeping, steering);
        }
      }
    }
    extents_.push_back({desc, first, slots_.size() - first});
  }
}

std::shared_ptr<const RegisterMap> RegisterMap::for_device(const spec::DeviceModel& model) {
  return std::make_shared<const RegisterMap>(model, spec::registers(), ForceWakeConfig::for_device(model.id),
                                             Steering(SteeringConfig::for_device(model.id)));
}

void RegisterMap::add(const spec::RegisterDesc& desc, const spec::EngineModel* engine, const ForceWake& wake,
                      const Steering& steering) {
  const uint32_t base = engine == nullptr ? 0 : engine->mmio_base;
  const uint32_t offset = base + desc.offset(model_->id);
  const uint64_t reset = desc.reset_value(model_->id);
  const unsigned dwords = desc.width_bits / 32;
  const std::array<AccessPolicy, 2> policies = {policy_of(desc, model_->gen, 0), policy_of(desc, model_->gen, 1)};
  for (uint32_t index = 0; index < std::max<uint32_t>(desc.count, 1); ++index) {
    for (unsigned dword = 0; dword < dwords; ++dword) {
      RegisterSlot slot;
      slot.desc = &desc;
      slot.engine = engine;
      slot.offset = offset + index * desc.stride + 4 * dword;
      slot.index = static_cast<uint16_t>(index);
      slot.dword = static_cast<uint8_t>(dword);
      slot.policy = policies[dword];
      slot.reset = static_cast<uint32_t>(reset >> (32 * dword));
      place(slot, wake, steering);
    }
  }
}

void RegisterMap::place(RegisterSlot slot, const ForceWake& wake, const Steering& steering) {
  if (slot.offset >= bytes_ || find(slot.offset) != nullptr) {
    refused_.push_back(slot.offset);
    return;
  }
  // Every domain sleeps during this look-up, so an offset that responds now always responds.
  slot.endpoint = wake.reach(slot.offset, false) != Reach::no_endpoint;
  slot.read_domains = wake.reach(slot.offset, false) == Reach::asleep ? wake.domains_of(slot.offset) : 0;
  slot.write_domains = wake.reach(slot.offset, true) == Reach::asleep ? wake.domains_of(slot.offset) : 0;
  slot.copies = static_cast<uint8_t>(std::clamp(steering.copies_of(slot.offset), 1u, 64u));
  slot.first_value = static_cast<uint32_t>(value_count_);
  value_count_ += slot.copies;
  if (slot.policy.w_once != 0) {
    slot.lock_index = static_cast<uint32_t>(lock_count_);
    lock_count_ += slot.copies;
  }
  uint32_t& page = pages_[slot.offset / kPageBytes];
  if (page == 0) {
    page = static_cast<uint32_t>(table_.size());
    table_.resize(table_.size() + kPageDwords);
  }
  table_[page + (slot.offset % kPageBytes) / 4] = static_cast<uint32_t>(slots_.size());
  slots_.push_back(slot);
}

std::span<const RegisterSlot> RegisterMap::slots_of(const spec::RegisterDesc& desc) const {
  const auto found = std::ranges::find(extents_, &desc, &Extent::desc);
  return found == extents_.end() ? std::span<const RegisterSlot>{}
                                 : std::span(slots_).subspan(found->first, found->count);
}

std::span<const RegisterSlot> RegisterMap::slots_of(std::string_view name) const {
  const auto found = std::ranges::find_if(extents_, [name](const Extent& extent) { return extent.desc->name == name; });
  return found == extents_.end() ? std::span<const RegisterSlot>{}
                                 : std::span(slots_).subspan(found->first, found->count);
}

const RegisterSlot* RegisterMap::find(std::string_view name, std::string_view engine, unsigned index) const {
  for (const RegisterSlot& slot : slots_of(name)) {
    const bool engine_fits = engine.empty() || (slot.engine != nullptr && slot.engine->name == engine);
    if (engine_fits && slot.index == index && slot.dword == 0) {
      return &slot;
    }
  }
  return nullptr;
}

}  // namespace halogen::mmio
