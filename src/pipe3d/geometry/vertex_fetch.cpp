#include "pipe3d/geometry/vertex_fetch.h"

#include <array>
#include <cstring>

#include "message/environment.h"
#include "surface/texel_format.h"
#include "surface/vertex_format.h"

namespace halogen::pipe3d {
namespace {

constexpr size_t kLine_B = 64;  // size of the buffer for a read; each read is shorter

}  // namespace

VertexFetch::Index VertexFetch::index(uint32_t n) {
  if (!draw_->indexed) {
    return {.vertex = n, .cut = false};
  }
  const IndexBuffer& indices = state_->indices;
  const uint64_t at = (uint64_t{draw_->first} + n) * indices.index_B;
  uint32_t value = 0;
  if (at + indices.index_B <= indices.bytes) {
    std::array<std::byte, kLine_B> bytes{};
    const auto into = std::span(bytes).first(indices.index_B);
    stopped_ = !ok(space_->read(wrapped_address(indices.address + at), into)) || stopped_;
    std::memcpy(&value, bytes.data(), sizeof(value));
  }
  return {.vertex = value, .cut = indices.cut_enable && value == indices.cut_index};
}

std::array<uint32_t, 4> VertexFetch::source(const VertexElement& element, uint32_t vertex, uint32_t instance) {
  const surface::TexelFormat& format = surface::texel_format(element.format);
  const surface::VertexFormat* const own = format.known() ? nullptr : surface::vertex_format(element.format);
  if (!format.known() && own == nullptr) {
    ++unknown_;
    return {};
  }
  const uint32_t size = own != nullptr ? own->bytes() : format.bytes();
  std::array<std::byte, kLine_B> bytes{};
  const VertexBuffer& buffer = state_->buffers[element.buffer % kMaxBuffers];
  // Sequential draws add the first vertex, indexed draws the base vertex. Both wrap at 32 bits.
  uint64_t number = draw_->indexed ? vertex + static_cast<uint32_t>(draw_->base_vertex) : vertex + draw_->first;
  number &= 0xffff'ffff;
  if (element.instanced) {
    number = uint64_t{draw_->first_instance} + (element.step_rate != 0 ? instance / element.step_rate : 0);
  }
  const uint64_t at = number * buffer.pitch + element.offset;
  if (buffer.valid && !buffer.null && at + size <= buffer.bytes) {
    stopped_ = !ok(space_->read(wrapped_address(buffer.address + at), std::span(bytes).first(size))) || stopped_;
    return own != nullptr ? surface::unpack_vertex(*own, bytes.data()) : surface::unpack_texel(format, bytes.data());
  }
  return {};
}

uint32_t VertexFetch::system(SystemValue value, uint32_t vertex, uint32_t instance, uint32_t primitive) const {
  switch (value) {
    case SystemValue::vertex_id:
      return vertex;
    case SystemValue::instance_id:
      return instance;
    case SystemValue::primitive_id:
      return primitive;
    case SystemValue::first_vertex:
      return draw_->indexed ? static_cast<uint32_t>(draw_->base_vertex) : draw_->first;
    case SystemValue::first_instance:
      return draw_->first_instance;
    case SystemValue::parameter_0:
      return draw_->parameters[0];
    case SystemValue::parameter_1:
      return draw_->parameters[1];
    case SystemValue::parameter_2:
      return draw_->parameters[2];
    case SystemValue::none:
      break;
  }
  return 0;
}

void VertexFetch::fetch(uint32_t vertex, uint32_t instance, uint32_t primitive, std::span<uint32_t> entry) {
  using Control = hw::VertexComponentControl;
  edge_ = true;
  for (const VertexElement& element : state_->elements) {
    bool from_buffer = false;
    for (const Control control : element.control) {
      from_buffer = from_buffer || control == Control::STORE_SRC;
    }
    const std::array<uint32_t, 4> fetched =
        element.valid && from_buffer ? source(element, vertex, instance) : std::array<uint32_t, 4>{};
    if (element.edge_flag) {
      edge_ = fetched[0] != 0;  // not part of the entry
      continue;
    }
    for (size_t i = 0; i < 4; ++i) {
      const size_t at = element.slot + i;
      if (at >= entry.size()) {
        break;
      }
      switch (element.control[i]) {
        case Control::NOSTORE:
          break;
        case Control::STORE_SRC:
          entry[at] = fetched[i];
          break;
        case Control::STORE_1_FP:
          entry[at] = surface::kFloatOne;
          break;
        case Control::STORE_1_INT:
          entry[at] = 1;
          break;
        default:
          entry[at] = 0;
          break;
      }
      if (element.system[i] != SystemValue::none) {
        entry[at] = system(element.system[i], vertex, instance, primitive);
      }
    }
  }
}

}  // namespace halogen::pipe3d
