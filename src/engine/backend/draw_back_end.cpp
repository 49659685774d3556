#include "engine/backend/draw_back_end.h"

#include <array>

#include "engine/backend/backend_table.h"
#include "engine/backend/binding_tables.h"
#include "engine/engine.h"
#include "engine/mi/predicate.h"
#include "gen/count_rules.h"
#include "gen/pipeline_rules.h"
#include "hw/3d_depth.h"
#include "hw/3d_pixel.h"
#include "hw/3d_so.h"
#include "hw/3d_vertex.h"
#include "hw/header_bits.h"
#include "hw/mode.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Virtual time: an instruction a nanosecond, and something for every vertex and pixel.
constexpr uint64_t kInstructionTime = 1;

constexpr std::array kWriteOffsets{RegisterId::SO_WRITE_OFFSET0, RegisterId::SO_WRITE_OFFSET1,
                                   RegisterId::SO_WRITE_OFFSET2, RegisterId::SO_WRITE_OFFSET3};
constexpr std::array kStreamsWritten{RegisterId::SO_NUM_PRIMS_WRITTEN0, RegisterId::SO_NUM_PRIMS_WRITTEN1,
                                     RegisterId::SO_NUM_PRIMS_WRITTEN2, RegisterId::SO_NUM_PRIMS_WRITTEN3};
constexpr std::array kStreamsNeeded{RegisterId::SO_PRIM_STORAGE_NEEDED0, RegisterId::SO_PRIM_STORAGE_NEEDED1,
                                    RegisterId::SO_PRIM_STORAGE_NEEDED2, RegisterId::SO_PRIM_STORAGE_NEEDED3};

// Registers have them; on Gen6 the command that sets them does.
std::array<uint32_t, 4> stream_offsets_of(Engine& engine) {
  std::array<uint32_t, 4> offsets{};
  for (uint32_t i = 0; i < offsets.size(); ++i) {
    offsets[i] =
        engine.registers().has(kWriteOffsets[i])
            ? engine.registers().peek(kWriteOffsets[i])
            : engine.state().draw.settings.get<hw::_3DSTATE_GS_SVB_INDEX>(engine.gen(), i).streamed_vertex_buffer_index;
  }
  return offsets;
}

void set_stream_offsets(Engine& engine, const std::array<uint32_t, 4>& offsets) {
  for (uint32_t i = 0; i < offsets.size(); ++i) {
    if (engine.registers().has(kWriteOffsets[i])) {
      engine.registers().poke(kWriteOffsets[i], offsets[i]);
    } else {
      engine.state().draw.settings.set_stream_index(engine.gen(), i, offsets[i]);
    }
  }
}

// A buffer is bound: its offset is given, or read from memory. False: memory refused.
bool set_stream_offset(Engine& engine, const hw::_3DSTATE_SO_BUFFER& bound) {
  constexpr uint32_t kFromMemory = ~0u;
  uint32_t offset = bound.stream_offset;
  if (offset == kFromMemory) {
    memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
    if (!space.read(message::place(bound.stream_output_buffer_offset_address.value),
                    std::as_writable_bytes(std::span(&offset, 1)))) {
      return false;
    }
  }
  engine.registers().poke(kWriteOffsets[bound.so_buffer_index], offset);
  return true;
}

pipe3d::ResolveInput input_of(Engine& engine, memory::AddressSpace& space, spec::UnreadFields& unread) {
  const EngineState& state = engine.state();
  return {.generation = &engine.generation(),
          .settings = &state.draw.settings,
          .bases = state.compute.settings.bases,
          .space = &space,
          .stream_offsets = stream_offsets_of(engine),
          .tables = binding_tables_of(engine),
          .unread = &unread};
}

pipe3d::DrawCall call_of(Engine& engine, const hw::_3DPRIMITIVE& fields) {
  pipe3d::DrawCall call;
  call.topology = fields.primitive_topology_type;
  call.indexed = fields.vertex_access_type == hw::VertexAccessType::RANDOM;
  call.vertices = fields.vertex_count_per_instance;
  call.first = fields.start_vertex_location;
  call.instances = fields.instance_count;
  call.first_instance = fields.start_instance_location;
  call.base_vertex = fields.base_vertex_location;
  call.parameters = {fields.extended_parameter_0, fields.extended_parameter_1, fields.extended_parameter_2};
  const auto topology = engine.state().draw.settings.get<hw::_3DSTATE_VF_TOPOLOGY>(engine.gen());
  if (pipeline_rules(engine.gen()).topology_in_own_command) {
    call.topology = topology.primitive_topology_type;
  }
  if (fields.indirect_parameter_enable) {
    const Registers& registers = engine.registers();
    call.vertices = registers.peek(RegisterId::_3DPRIM_VERTEX_COUNT);
    call.first = registers.peek(RegisterId::_3DPRIM_START_VERTEX);
    call.instances = registers.peek(RegisterId::_3DPRIM_INSTANCE_COUNT);
    call.first_instance = registers.peek(RegisterId::_3DPRIM_START_INSTANCE);
    call.base_vertex = static_cast<int32_t>(registers.peek(RegisterId::_3DPRIM_BASE_VERTEX));
  }
  return call;
}

void count(Engine& engine, RegisterId id, uint64_t more) {
  if (more != 0 && engine.registers().has(id)) {
    engine.registers().poke64(id, engine.registers().peek64(id) + more);
  }
}

class Events final : public EventSink {
 public:
  explicit Events(Engine& engine) : engine_(engine) {}
  void on_event(const Event& event) override { engine_.services().on_event(event); }

 private:
  Engine& engine_;
};

}  // namespace

bool DrawBackEnd::takes(const Command& command) {
  return hw::RenderHeader::kPipeline.of(command.dwords[0]) == hw::RenderHeader::draw ||
         command.desc.id == CommandId::URB_FENCE || command.desc.id == CommandId::CS_URB_STATE ||
         command.desc.id == CommandId::CONSTANT_BUFFER || command.desc.id == CommandId::_3DSTATE_VF_STATISTICS;
}

Next DrawBackEnd::execute(Engine& engine, const Command& command) {
  if (const spec::UnreadDesc* const unread = unread_.note(command.desc, engine.gen(), command.dwords)) {
    engine.approximate(command.desc, unread->text);
  }
  if (command.desc.id == CommandId::_3DPRIMITIVE) {
    return draw(engine, command);
  }
  pipe3d::Settings& settings = engine.state().draw.settings;
  if (!settings.change(engine.generation(), command.desc, command.dwords)) {
    engine.unsupported(command.desc);
    return Next::advance();
  }
  hw::_3DSTATE_SO_BUFFER bound;
  if (pipe3d::unpack_stream_buffer(engine.gen(), command.desc.id, command.dwords, bound)) {
    return !bound.stream_offset_write_enable || set_stream_offset(engine, bound) ? Next::advance()
                                                                                 : engine.stopped_by_fault();
  }
  if (command.desc.id == CommandId::_3DSTATE_WM_HZ_OP) {
    const auto fields = command.as<hw::_3DSTATE_WM_HZ_OP>(engine.gen());
    if (fields.depth_buffer_clear_enable || fields.stencil_buffer_clear_enable) {
      pipe3d::Progress& progress = engine.state().draw.progress;
      const uint64_t place = command.place.address.value;
      if (!progress.is_of(place, engine.state().commands)) {
        progress.end();
        progress.valid = true;
        progress.command = place;
        progress.commands = engine.state().commands;
      }
      memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
      return finish(engine, command, pipeline_.depth_operation(input_of(engine, space, unread_), progress));
    }
  }
  return Next::advance();
}

Next DrawBackEnd::draw(Engine& engine, const Command& command) {
  pipe3d::Progress& progress = engine.state().draw.progress;
  const uint64_t place = command.place.address.value;
  const auto fields = command.as<hw::_3DPRIMITIVE>(engine.gen());
  if (!progress.is_of(place, engine.state().commands)) {
    if (fields.predicate_enable && !predicate_result(engine)) {
      return Next::advance();
    }
    progress.end();
    progress.valid = true;
    progress.command = place;
    progress.commands = engine.state().commands;
    progress.call = call_of(engine, fields);
    if (progress.call.vertices == 0 || progress.call.instances == 0) {
      progress.end();
      return Next::advance();
    }
  }
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
  Events events(engine);
  pipeline_.set_events(&events, engine.path());
  pipeline_.set_pool(engine.services().pool());
  space.begin_work(progress.missed);
  const pipe3d::Outcome outcome = pipeline_.draw(input_of(engine, space, unread_), progress);
  progress.missed = space.end_work();
  pipeline_.set_events(nullptr, {});
  return finish(engine, command, outcome);
}

Next DrawBackEnd::finish(Engine& engine, const Command& command, const pipe3d::Outcome& outcome) {
  pipe3d::Progress& progress = engine.state().draw.progress;
  const pipe3d::Counts& counts = outcome.counts;
  engine.spend(outcome.instructions * kInstructionTime + counts.vertices + counts.pixels.invocations);
  engine.note_work(1);  // a part ends where a thread does, or a band of a clear
  if (outcome.statistics.vertices) {
    count(engine, RegisterId::IA_VERTICES_COUNT, counts.vertices);
    count(engine, RegisterId::IA_PRIMITIVES_COUNT, counts.primitives);
  }
  if (outcome.statistics.vertex_shader) {
    count(engine, RegisterId::VS_INVOCATION_COUNT, counts.vertex_threads);
  }
  if (outcome.statistics.hull) {
    count(engine, RegisterId::HS_INVOCATION_COUNT, counts.hull_patches);
  }
  if (outcome.statistics.domain) {
    count(engine, RegisterId::DS_INVOCATION_COUNT, counts.domain_points);
  }
  if (outcome.statistics.geometry) {
    count(engine, RegisterId::GS_INVOCATION_COUNT, counts.geometry.invocations);
    count(engine, RegisterId::GS_PRIMITIVES_COUNT, counts.geometry.primitives);
  }
  if (outcome.statistics.streams) {
    for (size_t i = 0; i < pipe3d::kStreams; ++i) {
      count(engine, kStreamsWritten[i], counts.streams.written[i]);
      count(engine, kStreamsNeeded[i], counts.streams.needed[i]);
    }
    count(engine, RegisterId::SO_NUM_PRIMS_WRITTEN_GEN6, counts.streams.written[0]);
    count(engine, RegisterId::SO_PRIM_STORAGE_NEEDED_GEN6, counts.streams.needed[0]);
  }
  if (outcome.stream_offsets) {
    set_stream_offsets(engine, *outcome.stream_offsets);
  }
  if (outcome.statistics.clip) {
    count(engine, RegisterId::CL_INVOCATION_COUNT, counts.clip_in);
    count(engine, RegisterId::CL_PRIMITIVES_COUNT, counts.clip_out);
  }
  if (outcome.statistics.pixels) {
    count(engine, RegisterId::PS_INVOCATION_COUNT, counts.pixels.invocations * count_rules(engine.gen()).pixel_step);
    count(engine, RegisterId::PS_DEPTH_COUNT, counts.pixels.passed);
  }
  if (!outcome.missing.empty()) {
    engine.raise(EventKind::unsupported, command.desc.name, command.place.address.value, 0,
                 std::string(outcome.missing) + " is not modelled");
    engine.approximate(command.desc, outcome.missing);
  }
  if (!outcome.inexact.empty()) {
    engine.approximate(command.desc, outcome.inexact);
  }
  if (engine.state().draw.settings.get<hw::_3DSTATE_PS_EXTRA>(engine.gen()).pixel_shader_is_per_coarse_pixel) {
    engine.approximate(command.desc, "coarse pixels are not modelled: each pixel has a channel");
  }
  switch (outcome.stop) {
    case pipe3d::Stop::finished:
      break;
    case pipe3d::Stop::unfinished:
      return engine.go_on();
    case pipe3d::Stop::fault:
      return engine.stopped_by_fault();
    case pipe3d::Stop::illegal:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, 0,
                   "a thread met an instruction that is none");
      progress.end();
      return engine.hang("a thread has stopped");
    case pipe3d::Stop::endless:
      progress.end();
      return engine.hang("a thread does not end");
  }
  if (progress.missed > 1) {  // the first has an Event of its own
    engine.raise(EventKind::fault, command.desc.name, command.place.address.value, progress.missed,
                 "accesses of one draw found no memory");
  }
  progress.end();
  return Next::advance();
}

}  // namespace halogen::engine
