// Geometry shading: threads take objects and write the vertices of new primitives. On Gen8 and later a thread has eight
// objects (or instances of one), and an entry holds all vertices of an object after a header of cuts or streams. On
// Gen4 and Gen6 a thread has one object and requests an entry per vertex. Not modelled: the forms of Gen8 that put two
// objects into halves of registers (no driver uses them).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pipe3d/geometry/assembly.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

struct GeometryCounts {
  uint64_t invocations = 0;
  uint64_t primitives = 0;
  uint64_t streamed = 0;         // Gen6: primitives that threads have written to streams
  uint64_t streamed_needed = 0;  // Gen6: primitives that would have been written with enough space
};

// The vertex order of a swapped triangle of a strip.
enum class StripOrder : uint8_t { trailing, leading, as_they_came };
void put_in_order(Assembled& made, StripOrder order);
// Removes the adjacent vertices.
void discard_adjacency(Assembled& made);

// Reads an entry that a thread of Gen8 or later has written. Its vertices become entries of `vertices`, and
// `emit(primitive, stream)` is called for each primitive.
void assemble_entry(const Geometry& geometry, const Provoking& provoking, std::span<const Slot> entry,
                    EntryStore& vertices, const std::function<void(const Assembled&, uint8_t)>& emit);

class GeometryStage final : public message::Urb {
 public:
  explicit GeometryStage(eu::KernelLibrary& library) : unit_(library) {}

  // Receives a primitive that a thread made. Its vertices are entries of the store.
  using Emit = std::function<void(const Assembled&, const EntryStore&, uint32_t id, uint8_t stream)>;

  // Starts a draw. `indices`: Gen6, the current stream indices.
  void begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space,
             const std::array<uint32_t, 4>& indices);
  bool runs() const { return state_ != nullptr && state_->geometry.shader.enabled; }
  // Returns the size of an output vertex in slots.
  static uint32_t vertex_slots(const Geometry& geometry);
  // Returns how many of the objects, at least one, run() should get at a time: those that share a thread.
  size_t together(std::span<const Object> objects) const;
  ThreadEnd run(std::span<const Object> objects, EntryStore& input, const Emit& emit);

  const std::array<uint32_t, 4>& indices() const { return indices_; }
  const GeometryCounts& counts() const { return counts_; }
  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

  // Gen6: handle messages of the running thread.
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override { return unit_.entry(thread, handle); }
  uint32_t allocate(eu::Thread& thread, uint32_t primitives) override;
  std::array<uint32_t, 4> synchronise(eu::Thread& thread, const hw::FF_SYNC_HEADER& header) override;
  void written(eu::Thread& thread, const message::UrbWrite& write) override;

 private:
  // A lane: an instance of an object.
  struct Lane {
    const Object* object = nullptr;
    uint32_t instance = 0;
  };

  bool takes_quads(std::span<const Object> objects) const;
  ThreadEnd run_eight(std::span<const Lane> lanes, EntryStore& input, const Emit& emit);
  ThreadEnd run_single(const Object& object, EntryStore& input, const Emit& emit);
  void emit_written(uint32_t id, const Emit& emit);

  const PipelineState* state_ = nullptr;
  ShaderUnit unit_;
  EntryStore output_;
  EntryStore vertices_;  // vertices of one entry
  std::vector<hw::URB_WRITE_HEADER> written_;
  std::array<uint32_t, 4> indices_{};
  GeometryCounts counts_;
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
