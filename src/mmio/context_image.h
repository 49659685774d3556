// Logical context and power context images as tables: where in an image a register stands, and an image ready for
// memory. Seed 000, "CSFE Execlist Context" and "Power Context Image"; the render image from public driver facts.
// Left out: when an image is loaded and saved; the command streamer does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spec/device_model.h"
#include "spec/tables.h"

namespace halogen::mmio {

// A register pair of an image.
struct ImageSlot {
  uint32_t at;      // dword of the register word; the value is the next one
  uint32_t offset;  // as the table has it: from the engine's MMIO base when `relative`
  bool relative;
  bool remapped;  // the offset names the first instance of the unit: see own_instance()
  bool operator==(const ImageSlot&) const = default;
};

// MI_LOAD_REGISTER_IMM with its remap bit: an offset that names a register of the first unit of a kind means the same
// register of the engine's own unit. Offsets of other registers stay.
uint32_t own_instance(const spec::DeviceModel& model, const spec::EngineModel& engine, uint32_t offset);

class ContextImage {
 public:
  // The logical context image of an engine class; empty when we have none.
  static ContextImage for_engine(spec::DeviceId device, spec::EngineClass engine);
  // A single image, such as "dg1_power_full"; empty when there is none of that name.
  static ContextImage named(std::string_view name);
  explicit ContextImage(std::vector<const spec::ContextImageDesc*> parts);

  bool empty() const { return parts_.empty(); }
  uint32_t dwords() const;
  std::vector<ImageSlot> slots() const;

  // Dword of the value of the `nth` occurrence of a register; nothing when the image does not hold it.
  std::optional<uint32_t> value_at(uint32_t offset, unsigned nth = 0) const;

  // Headers, register words and zero values, as hardware writes them for the engine at `engine_base`.
  std::vector<uint32_t> build(uint32_t engine_base) const;

 private:
  std::vector<const spec::ContextImageDesc*> parts_;  // in order, without gap
};

}  // namespace halogen::mmio
