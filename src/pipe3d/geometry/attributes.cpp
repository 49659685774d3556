#include "pipe3d/geometry/attributes.h"

#include <bit>

#include "surface/texel_format.h"

namespace halogen::pipe3d {
namespace {

constexpr size_t kAttribute = 16;  // dwords of an attribute

uint32_t constant_of(hw::AttributeConstant source, size_t component, uint32_t primitive) {
  switch (source) {
    case hw::AttributeConstant::CONST_0001_FLOAT:
      return component == 3 ? surface::kFloatOne : 0;
    case hw::AttributeConstant::CONST_1111_FLOAT:
      return surface::kFloatOne;
    case hw::AttributeConstant::PRIM_ID:
      return primitive;
    default:
      return 0;
  }
}

uint32_t component_of(const Slot* entry, uint32_t slots, uint32_t slot, const Attribute& attribute, bool front,
                      size_t component) {
  using Swizzle = hw::AttributeSwizzle;
  const bool facing =
      attribute.swizzle == Swizzle::INPUTATTR_FACING || attribute.swizzle == Swizzle::INPUTATTR_FACING_W;
  const bool w = attribute.swizzle == Swizzle::INPUTATTR_W || attribute.swizzle == Swizzle::INPUTATTR_FACING_W;
  const uint32_t at = slot + (facing && !front ? 1 : 0);
  return at < slots && entry != nullptr ? entry[at][w ? 3 : component] : 0;
}

float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t as_bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

}  // namespace

void set_up_attributes(const Setup& setup, uint32_t entry_slots, const ScreenPrimitive& primitive,
                       std::vector<uint32_t>& out) {
  out.assign(setup.count * kAttribute, 0);
  const std::array<const Slot*, 3> corners =
      primitive.cut ? primitive.whole
                    : std::array{primitive.vertex[0].slots, primitive.vertex[1].slots,
                                 vertices_of(primitive.shape) > 2 ? primitive.vertex[2].slots : nullptr};
  for (size_t i = 0; i < setup.count; ++i) {
    const Attribute& attribute = setup.attributes[i];
    const uint32_t slot = setup.read_offset + attribute.source;
    for (size_t c = 0; c < 4; ++c) {
      uint32_t* const data = out.data() + i * kAttribute + c * 4;
      const bool id = i == setup.primitive_id_attribute && (setup.primitive_id_mask >> c & 1) != 0;
      if (id || (attribute.override_mask >> c & 1) != 0) {
        data[3] = id ? primitive.id : constant_of(attribute.constant, c, primitive.id);
        continue;
      }
      if (primitive.shape == Shape::point && attribute.sprite) {
        // The weights of a point are its sprite coordinates, from the upper left corner.
        const bool lower = setup.sprite_lower_left;
        data[0] = c == 0 ? surface::kFloatOne : 0;
        data[1] = c == 1 ? as_bits(lower ? -1.0f : 1.0f) : 0;
        data[3] = c == 3 || (c == 1 && lower) ? surface::kFloatOne : 0;
        continue;
      }
      const auto value = [&](const Slot* entry) {
        return component_of(entry, entry_slots, slot, attribute, primitive.front, c);
      };
      if (attribute.flat || (primitive.shape == Shape::point && !primitive.cut)) {
        data[3] = value(attribute.flat ? primitive.flat : corners[0]);
        continue;
      }
      const uint32_t a0 = value(corners[0]);
      const float first = as_float(value(corners[1])) - as_float(a0);
      const float second = corners[2] != nullptr ? as_float(value(corners[2])) - as_float(a0) : 0.0f;
      if (primitive.shape == Shape::point) {  // at a vertex of a cut primitive
        const std::array<double, 2>& weight = primitive.vertex[0].whole.perspective;
        data[3] = as_bits(static_cast<float>(as_float(a0) + weight[0] * first + weight[1] * second));
        continue;
      }
      data[3] = a0;
      data[0] = as_bits(first);
      data[1] = as_bits(second);
    }
  }
}

}  // namespace halogen::pipe3d
