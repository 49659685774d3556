// Logical context and power context images as tables: the dword of each register in an image, and an initial image. DG1
// PRM vol. 13, "CSFE Execlist Context" and "Power Context Image" (seed 000); the render image is from public driver
// facts. The command streamer loads and saves images.
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
  uint32_t at;      // dword index of the register; its value is the next dword
  uint32_t offset;  // as in the table: relative to the engine's MMIO base if `relative`
  bool relative;
  bool remapped;  // the offset names the first instance of the unit: see own_instance()
  bool operator==(const ImageSlot&) const = default;
};

// Applies the remap bit of MI_LOAD_REGISTER_IMM: an offset in the first unit of a class is changed to the same register
// of the engine's own unit. Other offsets are unchanged.
uint32_t own_instance(const spec::DeviceModel& model, const spec::EngineModel& engine, uint32_t offset);

class ContextImage {
 public:
  // Returns the logical context image of an engine class. Empty: not known.
  static ContextImage for_engine(spec::DeviceId device, spec::EngineClass engine);
  // Returns a single image, such as "dg1_power_full". Empty: there is no image of that name.
  static ContextImage named(std::string_view name);
  explicit ContextImage(std::vector<const spec::ContextImageDesc*> parts);

  bool empty() const { return parts_.empty(); }
  uint32_t dwords() const;
  std::vector<ImageSlot> slots() const;

  // Returns the dword of the value of the `nth` occurrence of a register. No value: the image does not hold it.
  std::optional<uint32_t> value_at(uint32_t offset, unsigned nth = 0) const;

  // Returns headers, register offsets and zero values, as hardware writes them for the engine at `engine_base`.
  std::vector<uint32_t> build(uint32_t engine_base) const;

 private:
  std::vector<const spec::ContextImageDesc*> parts_;  // in order, contiguous
};

}  // namespace halogen::mmio
