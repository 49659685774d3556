#include "pipe3d/geometry/geometry_stage.h"

#include <algorithm>

#include "base/bits.h"
#include "hw/message_headers.h"
#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint32_t kLanes = 8;
constexpr uint32_t kSingleLanes = 4;  // of a thread with one object
constexpr uint32_t kMaxEntrySlots = 4096;
constexpr uint32_t kCountSlots = 2;  // slots of the vertex count at the start of an entry

Assembled told(const Object& object, const Geometry& geometry) {
  Assembled made = object.made;
  if (geometry.discard_adjacency) {
    discard_adjacency(made);
  }
  if (geometry.dispatch == GeometryDispatch::single) {
    put_in_order(made, geometry.reorder_trailing ? StripOrder::leading : StripOrder::as_they_came);
  } else {
    put_in_order(made, geometry.reorder_trailing ? StripOrder::trailing : StripOrder::leading);
  }
  return made;
}

bool is_quad(Topology topology) {
  return topology == Topology::QUADLIST || topology == Topology::QUADSTRIP;
}

// Returns a whole quad from the two triangles that it was assembled to, with its vertices in order around it.
Object quad_of(const Object& first, const Object& second) {
  Object whole = first;
  const auto& a = first.made.vertex;
  const auto& b = second.made.vertex;
  // Start at the last vertex.
  std::array<uint32_t, 4> around{a[0], a[1], a[2], b[2]};
  std::rotate(around.begin(), around.begin() + (first.made.topology == Topology::QUADSTRIP ? 2 : 1), around.end());
  std::ranges::copy(around, whole.made.vertex.begin());
  whole.made.count = 4;
  return whole;
}

}  // namespace

void put_in_order(Assembled& made, StripOrder order) {
  if (!made.swapped || made.count != 3) {
    return;
  }
  const uint32_t second = made.vertex[0];
  const uint32_t first = made.vertex[1];
  const uint32_t third = made.vertex[2];
  switch (order) {
    case StripOrder::trailing:
      break;
    case StripOrder::leading:
      made.vertex[0] = first;
      made.vertex[1] = third;
      made.vertex[2] = second;
      break;
    case StripOrder::as_they_came:
      made.vertex[0] = first;
      made.vertex[1] = second;
      break;
  }
}

void discard_adjacency(Assembled& made) {
  switch (made.topology) {
    case Topology::LINELIST_ADJ:
    case Topology::LINESTRIP_ADJ:
      made.vertex[0] = made.vertex[1];
      made.vertex[1] = made.vertex[2];
      made.count = 2;
      break;
    case Topology::TRILIST_ADJ:
    case Topology::TRISTRIP_ADJ:
      made.vertex[1] = made.vertex[2];
      made.vertex[2] = made.vertex[4];
      made.count = 3;
      break;
    default:
      break;
  }
}

// An entry holds the vertex count unless it is fixed, a header of cuts (one bit per vertex) or streams (two bits), then
// the vertices.
void assemble_entry(const Geometry& geometry, const Provoking& provoking, std::span<const Slot> entry,
                    EntryStore& vertices, const std::function<void(const Assembled&, uint8_t)>& emit) {
  const size_t header = geometry.static_count ? 0 : kCountSlots;
  const size_t first = header + geometry.header_B / kSlot_B;
  const uint32_t slots = GeometryStage::vertex_slots(geometry);
  const size_t room = entry.size() > first ? (entry.size() - first) / slots : 0;
  const size_t count = room == 0 ? 0 : std::min<size_t>(geometry.static_count ? geometry.count : entry[0][0], room);
  const auto bits = [&](size_t bit, uint32_t mask) -> uint32_t {
    const size_t dword = bit / 32;
    const size_t slot = header + dword / 4;
    return slot < first ? entry[slot][dword % 4] >> (bit % 32) & mask : 0;
  };
  vertices.begin(slots);
  std::array<Assembler, 4> assemblers;
  assemblers.fill(Assembler(geometry.topology, provoking));
  uint8_t stream = geometry.default_stream;
  const auto forward = [&](const Assembled& made) { emit(made, stream); };
  for (size_t i = 0; i < count; ++i) {
    const uint32_t vertex = vertices.add();
    std::ranges::copy(entry.subspan(first + i * slots, slots), vertices.entry(vertex).begin());
    if (geometry.stream_ids) {
      stream = static_cast<uint8_t>(bits(i * 2, 3));
    }
    assemblers[stream].add(vertex, forward);
    if (!geometry.stream_ids && bits(i, 1) != 0) {
      assemblers[stream].cut(forward);
    }
  }
  for (size_t i = 0; i < assemblers.size(); ++i) {
    stream = static_cast<uint8_t>(i);
    assemblers[i].cut(forward);
  }
}

uint32_t GeometryStage::vertex_slots(const Geometry& geometry) {
  const uint32_t slots =
      geometry.dispatch == GeometryDispatch::single ? geometry.entry_slots : geometry.vertex_B / kSlot_B;
  return std::clamp(slots, 2u, kMaxEntrySlots);
}

void GeometryStage::begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space,
                          const std::array<uint32_t, 4>& indices) {
  state_ = &state;
  indices_ = indices;
  counts_ = {};
  if (!runs()) {
    return;
  }
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  unit_.set_urb_allocator(state.geometry.dispatch == GeometryDispatch::single ? this : nullptr);
  unit_.begin(generation, state, state.geometry.shader, space);
  unit_.use_kernel(state.geometry.shader.kernel);
}

size_t GeometryStage::together(std::span<const Object> objects) const {
  const Geometry& geometry = state_->geometry;
  if (geometry.dispatch == GeometryDispatch::single) {
    return std::min<size_t>(takes_quads(objects) ? 2 : 1, objects.size());
  }
  return std::min<size_t>(geometry.instances > 1 ? 1 : kLanes, objects.size());
}

bool GeometryStage::takes_quads(std::span<const Object> objects) const {
  return state_->geometry.whole_quads && !objects.empty() && is_quad(objects.front().made.topology);
}

ThreadEnd GeometryStage::run(std::span<const Object> objects, EntryStore& input, const Emit& emit) {
  const Geometry& geometry = state_->geometry;
  unit_.set_urb(&input, &output_);
  if (geometry.dispatch == GeometryDispatch::single) {
    const bool quads = takes_quads(objects);
    for (size_t i = 0; i < objects.size(); i += quads ? 2 : 1) {
      const Object object = quads && i + 1 < objects.size() ? quad_of(objects[i], objects[i + 1]) : objects[i];
      const ThreadEnd end = run_single(object, input, emit);
      if (end != ThreadEnd::done) {
        return end;
      }
    }
    return ThreadEnd::done;
  }
  std::array<Lane, kLanes> lanes;
  size_t count = 0;
  for (const Object& object : objects) {
    counts_.invocations += geometry.invocations_step;
    for (uint32_t instance = 0; instance < geometry.instances; ++instance) {
      lanes[count++] = {&object, instance};
      // Instances of two objects do not share a thread.
      const bool last = instance + 1 == geometry.instances && (geometry.instances > 1 || &object == &objects.back());
      if (count == kLanes || last) {
        const ThreadEnd end = run_eight(std::span(lanes).first(count), input, emit);
        if (end != ThreadEnd::done) {
          return end;
        }
        count = 0;
      }
    }
  }
  return ThreadEnd::done;
}

// Runs a thread with up to eight lanes. r1: output handles, with the instance above them; then primitive numbers and
// vertex handles if requested: a register per vertex, or all vertices of the one object that has instances. After the
// constants, each vertex has a register per component. A lane is an object or an instance.
ThreadEnd GeometryStage::run_eight(std::span<const Lane> lanes, EntryStore& input, const Emit& emit) {
  const Geometry& geometry = state_->geometry;
  const Shader& shader = geometry.shader;
  eu::Thread& thread = *thread_;
  output_.begin(std::clamp(geometry.entry_slots, 2u, kMaxEntrySlots));
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  hw::GEOMETRY_HANDLES handles;
  for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
    const Assembled made = told(*lanes[lane].object, geometry);
    size_t next = hw::GEOMETRY_HANDLES::kGrf + 1;
    handles.objects[lane] = {.handle = static_cast<uint16_t>(output_.add()),
                             .instance = static_cast<uint8_t>(lanes[lane].instance)};
    if (geometry.primitive_id) {
      put_dword(thread, next++, lane, lanes[lane].object->id);
    }
    for (size_t v = 0; geometry.handles && v < made.count; ++v) {
      const uint32_t handle = made.vertex[v] | ShaderUnit::kInputHandles;
      if (geometry.instances > 1) {
        put_dword(thread, next + v / kLanes, v % kLanes, handle);
      } else {
        put_dword(thread, next + v, lane, handle);
      }
    }
    size_t at = grf;
    for (size_t v = 0; v < made.count; ++v) {
      const std::span<const Slot> entry = std::as_const(input).entry(made.vertex[v]);
      for (size_t slot = size_t{shader.read_offset} * 2; slot < (shader.read_offset + shader.read_length) * 2; ++slot) {
        for (size_t c = 0; c < 4; ++c) {
          put_dword(thread, at++, lane, slot < entry.size() ? entry[slot][c] : 0);
        }
      }
    }
  }
  unit_.put(thread, handles);
  thread.start(static_cast<uint32_t>(shader.kernel),
               static_cast<uint32_t>(low_mask(static_cast<unsigned>(lanes.size()))));
  const ThreadEnd end = unit_.run(thread);
  if (end != ThreadEnd::done) {
    return end;
  }
  for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
    assemble_entry(geometry, state_->raster.provoking, std::as_const(output_).entry(lane), vertices_,
                   [&](const Assembled& made, uint8_t stream) {
                     ++counts_.primitives;
                     emit(made, vertices_, lanes[lane].object->id, stream);
                   });
  }
  return ThreadEnd::done;
}

// Runs a thread with one object. r0: an entry, number and topology of the object; r1: current and maximum stream
// indices. The vertices follow the constants, two slots per register.
ThreadEnd GeometryStage::run_single(const Object& object, EntryStore& input, const Emit& emit) {
  const Geometry& geometry = state_->geometry;
  const Shader& shader = geometry.shader;
  eu::Thread& thread = *thread_;
  const Assembled made = told(object, geometry);
  output_.begin(std::clamp(geometry.entry_slots, 2u, kMaxEntrySlots));
  written_.clear();
  ++counts_.invocations;
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  Topology topology = made.topology;
  if (made.count == 3 && topology == Topology::TRISTRIP && made.swapped) {
    topology = Topology::TRISTRIP_REVERSE;
  } else if (topology == Topology::LINELOOP) {
    topology = Topology::LINESTRIP;  // each line is passed separately
  } else if (is_quad(topology)) {
    topology = Topology::POLYGON;
  }
  unit_.put(thread, hw::GEOMETRY_OBJECT{.handle = static_cast<uint16_t>(output_.add()),
                                        .primitive_id = object.id,
                                        .topology = topology,
                                        .first_triangle = true,
                                        .last_triangle = true});
  if (geometry.stream_indices) {
    hw::GEOMETRY_STREAMS streams;
    for (size_t i = 0; i < indices_.size(); ++i) {
      streams.indices[i].next = indices_[i];
      streams.limits[i].last = geometry.most_index[i];
    }
    unit_.put(thread, streams);
  }
  for (size_t v = 0; v < made.count; ++v) {
    grf = put_entry_rows(thread, grf, shader, std::as_const(input).entry(made.vertex[v]));
  }
  thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(kSingleLanes)));
  const ThreadEnd end = unit_.run(thread);
  if (end != ThreadEnd::done) {
    return end;
  }
  if (geometry.post_increment) {
    ++counts_.streamed_needed;
    if (uint64_t{indices_[0]} + geometry.increment <= geometry.most_index[0]) {
      ++counts_.streamed;
      for (uint32_t& index : indices_) {
        index += geometry.increment;
      }
    }
  }
  emit_written(object.id, emit);
  return ThreadEnd::done;
}

void GeometryStage::emit_written(uint32_t id, const Emit& emit) {
  Assembler assembler;
  const auto forward = [&](const Assembled& made) {
    ++counts_.primitives;
    if (state_->geometry.rendering) {
      emit(made, output_, id, 0);
    }
  };
  for (const hw::URB_WRITE_HEADER& vertex : written_) {
    if (vertex.primitive_start) {
      assembler.cut(forward);
      assembler = Assembler(vertex.topology, state_->raster.provoking);
    }
    assembler.add(vertex.first_handle & ShaderUnit::kHandleNumber, forward);
    if (vertex.primitive_end) {
      assembler.cut(forward);
    }
  }
}

uint32_t GeometryStage::allocate(eu::Thread& /*thread*/, uint32_t /*primitives*/) {
  return output_.count() + 1 < ShaderUnit::kInputHandles ? output_.add() : output_.count() - 1;
}

std::array<uint32_t, 4> GeometryStage::synchronise(eu::Thread& /*thread*/, const hw::FF_SYNC_HEADER& header) {
  const std::array<uint32_t, 4> before = indices_;
  if (state_->geometry.stream_indices && !state_->geometry.post_increment) {
    counts_.streamed_needed += header.streamed_primitives;
    for (size_t i = 0; i < indices_.size(); ++i) {
      indices_[i] += header.streamed_vertices;
    }
  }
  return before;
}

void GeometryStage::written(eu::Thread& /*thread*/, const message::UrbWrite& write) {
  if (write.used && write.complete && written_.size() < ShaderUnit::kInputHandles) {
    written_.push_back(write.header);
  }
  if (write.end_of_thread && state_->geometry.stream_indices && !state_->geometry.post_increment) {
    counts_.streamed += write.header.streamed;
  }
}

}  // namespace halogen::pipe3d
