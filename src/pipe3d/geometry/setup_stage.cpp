#include "pipe3d/geometry/setup_stage.h"

#include <algorithm>

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kChannels = 0xff;
constexpr uint32_t kSpritePoint = 1u << 16;
constexpr size_t kCornersGrf = 1;  // topology, number of the provoking vertex, determinant, edges
constexpr size_t kDepthsGrf = 2;   // z and 1/w of each vertex
constexpr size_t kRowDwords = 8;

}  // namespace

void SetupStage::begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
                       memory::AddressSpace& space) {
  state_ = &state;
  entry_slots_ = entry_slots;
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  unit_.set_urb(nullptr, &output_);
  unit_.begin(generation, state, state.setup_shader, space);
  unit_.use_kernel(state.setup_shader.kernel);
}

ThreadEnd SetupStage::set_up(const ScreenPrimitive& primitive, std::vector<uint32_t>& attributes) {
  const Shader& shader = state_->setup_shader;
  eu::Thread& thread = *thread_;
  output_.begin(state_->setup_entry_slots);
  const uint32_t handle = output_.add();
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  put_dword(thread, 0, 0, handle);
  put_dword(thread, 0, 2, static_cast<uint32_t>(primitive.topology));
  const unsigned corners = vertices_of(primitive.shape);
  const auto& v = primitive.vertex;
  const auto edge = [&](unsigned corner) -> std::array<float, 2> {
    const ScreenVertex& other = v[corner < corners ? corner : 0];
    return {other.x - v[0].x, other.y - v[0].y};
  };
  const std::array<float, 2> first = edge(1);
  const std::array<float, 2> second = edge(2);
  // Of a line the determinant is its length's square, of a point the edge its width.
  const float determinant = primitive.shape == Shape::line ? first[0] * first[0] + first[1] * first[1]
                                                           : first[0] * second[1] - second[0] * first[1];
  put_dword(thread, kCornersGrf, 0, static_cast<uint32_t>(primitive.topology) | (state_->sprites ? kSpritePoint : 0));
  put_dword(thread, kCornersGrf, 1, primitive.provoking);
  put_float(thread, kCornersGrf, 2, determinant);
  put_float(thread, kCornersGrf, 3, primitive.shape == Shape::point ? primitive.width : first[0]);
  put_float(thread, kCornersGrf, 4, second[0]);
  put_float(thread, kCornersGrf, 5, first[1]);
  put_float(thread, kCornersGrf, 6, second[1]);
  for (unsigned i = 0; i < corners; ++i) {
    put_float(thread, kDepthsGrf, i * 2, v[i].z);
    put_float(thread, kDepthsGrf, i * 2 + 1, v[i].rhw);
  }
  for (unsigned i = 0; i < corners; ++i) {
    for (uint32_t row = 0; row < shader.read_length; ++row, ++grf) {
      for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t slot = (shader.read_offset + row) * 2 + half;
        for (size_t c = 0; c < 4 && slot < entry_slots_ && v[i].slots != nullptr; ++c) {
          put_dword(thread, grf, half * 4 + c, v[i].slots[slot][c]);
        }
      }
    }
  }
  thread.start(static_cast<uint32_t>(shader.kernel), kChannels);
  const ThreadEnd end = unit_.run(thread);
  const std::span<const Slot> entry = std::as_const(output_).entry(handle);
  attributes.clear();
  const size_t from = size_t{state_->pixel.shader.read_offset} * 2;
  const size_t to = std::min(entry.size(), from + size_t{state_->pixel.shader.read_length} * 2);
  for (size_t slot = from; slot < to; ++slot) {
    attributes.insert(attributes.end(), entry[slot].begin(), entry[slot].end());
  }
  attributes.resize(size_t{state_->pixel.shader.read_length} * kRowDwords);
  return end;
}

}  // namespace halogen::pipe3d
