#include "pipe3d/geometry/setup_stage.h"

#include <algorithm>

#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kChannels = 0xff;
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
  unit_.put(thread, hw::SETUP_OBJECT{.handle = static_cast<uint16_t>(handle), .topology = primitive.topology});
  const unsigned corners = vertices_of(primitive.shape);
  const std::array<ScreenVertex, 3>& v = primitive.vertex;
  const auto edge = [&](unsigned corner) -> std::array<float, 2> {
    const ScreenVertex& other = v[corner < corners ? corner : 0];
    return {other.x - v[0].x, other.y - v[0].y};
  };
  const std::array<float, 2> first = edge(1);
  const std::array<float, 2> second = edge(2);
  // For a line, the determinant is the square of its length. For a point, the edge is its width.
  const float determinant = primitive.shape == Shape::line ? first[0] * first[0] + first[1] * first[1]
                                                           : first[0] * second[1] - second[0] * first[1];
  unit_.put(thread, hw::SETUP_EDGES{.topology = primitive.topology,
                                    .sprite_point = state_->sprites,
                                    .provoking_vertex = primitive.provoking,
                                    .determinant = determinant,
                                    .dx0 = primitive.shape == Shape::point ? primitive.width : first[0],
                                    .dx2 = second[0],
                                    .dy0 = first[1],
                                    .dy2 = second[1]});
  hw::SETUP_DEPTHS depths;
  for (unsigned i = 0; i < corners; ++i) {
    depths.vertices[i] = {.z = v[i].z, .rhw = v[i].rhw};
    const size_t slots = v[i].slots != nullptr ? entry_slots_ : 0;
    grf = put_entry_rows(thread, grf, shader, std::span(v[i].slots, slots));
  }
  unit_.put(thread, depths);
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
