#include "mmio/context_image.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "hw/mi_register.h"
#include "spec/device_model.h"
#include "spec/item_ids.h"  // generated

namespace halogen::mmio {

namespace {

constexpr uint32_t kFirstAbsoluteOffset = 0x1000;
constexpr uint32_t kEmptyPair = 0;       // counted by the header, without register: both dwords are zero
constexpr uint32_t kUnitBytes = 0x4000;  // registers of one media unit

using spec::RegisterId;

// Registers with one copy per engine (EngineModel::register_set): the first copies are contiguous, the others are in a
// second range.
struct Runs {
  RegisterId first;
  RegisterId second;
};
constexpr Runs kRuns[] = {{RegisterId::TRTT_CR, RegisterId::TRTT_CR_2},
                          {RegisterId::GFX_AUX_TABLE_BASE_ADDR, RegisterId::GFX_AUX_TABLE_BASE_ADDR_2}};

std::optional<uint32_t> place_in(const spec::RegisterDesc& run, spec::DeviceId device, uint32_t offset) {
  const uint32_t start = run.offset(device);
  if (start == spec::kNoOffset || offset < start || offset - start >= run.count * run.stride) {
    return std::nullopt;
  }
  return (offset - start) % run.stride;
}

// Returns the header of an entry's MI_LOAD_REGISTER_IMM.
hw::MI_LOAD_REGISTER_IMM load_of(const spec::ContextImageDesc& image, const spec::ImageEntry& entry) {
  const auto device = static_cast<spec::DeviceId>(std::countr_zero(image.devices));
  return hw::MI_LOAD_REGISTER_IMM::unpack(spec::model(device).gen, std::span(&entry.lri, 1));
}

uint32_t start_of(const spec::ContextImageDesc& image) {
  return image.entries.front().at;
}

uint32_t end_of(const spec::ContextImageDesc& image) {
  const spec::ImageEntry& last = image.entries.back();
  return last.at + last.dwords();
}

}  // namespace

uint32_t own_instance(const spec::DeviceModel& model, const spec::EngineModel& engine, uint32_t offset) {
  const uint32_t own = engine.register_set;
  for (const Runs& runs : kRuns) {
    const spec::RegisterDesc& first = spec::desc(runs.first);
    const spec::RegisterDesc& second = spec::desc(runs.second);
    std::optional<uint32_t> place = place_in(first, model.id, offset);
    if (!place) {
      place = place_in(second, model.id, offset);
    }
    if (place && own != spec::EngineModel::kNoId) {
      return own < first.count ? first.offset(model.id) + own * first.stride + *place
                               : second.offset(model.id) + (own - first.count) * second.stride + *place;
    }
  }
  for (const spec::EngineModel& other : model.engines) {
    if (other.engine_class == engine.engine_class && offset >= other.mmio_base &&
        offset - other.mmio_base < kUnitBytes) {
      return offset - other.mmio_base + engine.mmio_base;
    }
  }
  return offset;
}

ContextImage ContextImage::for_engine(spec::DeviceId device, spec::EngineClass engine) {
  std::vector<const spec::ContextImageDesc*> parts;
  for (const spec::ContextImageDesc& image : spec::context_images()) {
    if ((image.devices & spec::mask_of(device)) != 0 && (image.engines & spec::mask_of(engine)) != 0 &&
        image.name.find("_context_") != std::string_view::npos) {
      parts.push_back(&image);
    }
  }
  return ContextImage(std::move(parts));
}

ContextImage ContextImage::named(std::string_view name) {
  std::vector<const spec::ContextImageDesc*> parts;
  for (const spec::ContextImageDesc& image : spec::context_images()) {
    if (image.name == name) {
      parts.push_back(&image);
    }
  }
  return ContextImage(std::move(parts));
}

ContextImage::ContextImage(std::vector<const spec::ContextImageDesc*> parts) : parts_(std::move(parts)) {
  std::ranges::sort(parts_, {}, [](const spec::ContextImageDesc* part) { return start_of(*part); });
  uint32_t at = parts_.empty() ? 0 : start_of(*parts_.front());
  for (const spec::ContextImageDesc* part : parts_) {
    check(start_of(*part) == at, part->name);
    at = end_of(*part);
  }
}

uint32_t ContextImage::dwords() const {
  return parts_.empty() ? 0 : end_of(*parts_.back());
}

std::vector<ImageSlot> ContextImage::slots() const {
  std::vector<ImageSlot> out;
  for (const spec::ContextImageDesc* part : parts_) {
    for (const spec::ImageEntry& entry : part->entries) {
      const auto load = load_of(*part, entry);
      uint32_t at = entry.at + 1u;
      for (const spec::ImageRegister& reg : entry.registers) {
        const bool relative =
            reg.offset != kEmptyPair && (load.add_cs_mmio_start_offset || reg.offset < kFirstAbsoluteOffset);
        out.push_back({.at = at, .offset = reg.offset, .relative = relative, .remapped = load.mmio_remap_enable});
        at += 2;
      }
    }
  }
  return out;
}

std::optional<uint32_t> ContextImage::value_at(uint32_t offset, unsigned nth) const {
  for (const ImageSlot& slot : slots()) {
    if (slot.offset == offset && nth-- == 0) {
      return slot.at + 1;
    }
  }
  return std::nullopt;
}

std::vector<uint32_t> ContextImage::build(uint32_t engine_base) const {
  std::vector<uint32_t> out(dwords(), 0);  // 0 is MI_NOOP
  for (const spec::ContextImageDesc* part : parts_) {
    for (const spec::ImageEntry& entry : part->entries) {
      if (entry.noops != 0) {
        continue;
      }
      out[entry.at] = entry.lri;
      const uint32_t base = load_of(*part, entry).add_cs_mmio_start_offset ? 0 : engine_base;
      for (size_t i = 0; i < entry.registers.size(); ++i) {
        const uint32_t offset = entry.registers[i].offset;
        const bool relative = offset != kEmptyPair && offset < kFirstAbsoluteOffset;
        out[entry.at + 1 + 2 * i] = relative ? offset + base : offset;
      }
    }
  }
  return out;
}

}  // namespace halogen::mmio
