#include "engine/backend/draw_back_end.h"

#include <array>

#include "engine/backend/backend_table.h"
#include "engine/backend/binding_tables.h"
#include "engine/backend/long_command.h"
#include "engine/backend/stage_work.h"
#include "engine/backend/state_report.h"
#include "engine/engine.h"
#include "engine/mi/predicate.h"
#include "engine/work_report.h"
#include "gen/pipeline_rules.h"
#include "hw/3d_depth.h"
#include "hw/3d_pixel.h"
#include "hw/3d_so.h"
#include "hw/3d_urb.h"
#include "hw/3d_vertex.h"
#include "hw/header_bits.h"
#include "hw/mode.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

constexpr std::array kWriteOffsets{RegisterId::SO_WRITE_OFFSET0, RegisterId::SO_WRITE_OFFSET1,
                                   RegisterId::SO_WRITE_OFFSET2, RegisterId::SO_WRITE_OFFSET3};
// Returns the offsets from registers or, on Gen6, from the command that sets them.
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

// Sets the offset of a buffer that was bound: from the command, or from memory.
memory::AccessResult set_stream_offset(Engine& engine, const hw::_3DSTATE_SO_BUFFER& bound) {
  constexpr uint32_t kFromMemory = ~0u;
  uint32_t offset = bound.stream_offset;
  if (offset == kFromMemory) {
    memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
    const memory::AccessResult result = space.read(wrapped_address(bound.stream_output_buffer_offset_address.value),
                                                   std::as_writable_bytes(std::span(&offset, 1)));
    if (!ok(result)) {
      return result;
    }
  }
  engine.registers().poke(kWriteOffsets[bound.so_buffer_index], offset);
  return memory::AccessResult::ok;
}

pipe3d::ResolveInput input_of(Engine& engine, memory::AddressSpace& space, spec::UnreadFields& unread) {
  const EngineState& state = engine.state();
  return {.generation = &engine.generation(),
          .settings = &state.draw.settings,
          .bases = bases_of(engine),
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
    const mmio::Registers& registers = engine.registers();
    call.vertices = registers.peek(RegisterId::_3DPRIM_VERTEX_COUNT);
    call.first = registers.peek(RegisterId::_3DPRIM_START_VERTEX);
    call.instances = registers.peek(RegisterId::_3DPRIM_INSTANCE_COUNT);
    call.first_instance = registers.peek(RegisterId::_3DPRIM_START_INSTANCE);
    call.base_vertex = static_cast<int32_t>(registers.peek(RegisterId::_3DPRIM_BASE_VERTEX));
  }
  return call;
}

// Reports entries that do not fit into the URB. The model's entries do not run out.
void check_urb(Engine& engine, const Command& command) {
  constexpr uint32_t kRowsOfUnit = 4;
  const auto urb = command.as<hw::_3DSTATE_URB>(engine.gen());
  const uint32_t units = urb.vs_number_of_urb_entries * (urb.vs_urb_entry_allocation_size + 1u) +
                         urb.gs_number_of_urb_entries * (urb.gs_urb_entry_allocation_size + 1u);
  if (units * kRowsOfUnit > pipeline_rules(engine.gen()).urb_rows) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, units * kRowsOfUnit,
                 "more rows of URB entries than the URB has");
  }
}

void account(Engine& engine, const pipe3d::Outcome& outcome, const oa::WorkCounts* counts) {
  const DrawWork draw{.threads = outcome.threads, .counts = outcome.counts, .counted = outcome.statistics};
  engine.account({
      .time_ns = time_of(outcome),
      .done = {.amount = 1, .progress = 1},
      .instructions = outcome.instructions,
      .draw = &draw,
      .counts = counts,
  });
}

}  // namespace

void add_draw_registers(HandlerTable& table) {
  for (const CommandId id : {CommandId::_3DPRIMITIVE, CommandId::_3DSTATE_WM_HZ_OP}) {
    table.add_registers(id, {{RegisterId::GT_MODE, {}, "binding_table_alignment"},
                             {RegisterId::GFX_AUX_TABLE_BASE_ADDR},
                             {RegisterId::SO_WRITE_OFFSET0},
                             {RegisterId::SO_WRITE_OFFSET1},
                             {RegisterId::SO_WRITE_OFFSET2},
                             {RegisterId::SO_WRITE_OFFSET3}});
  }
  table.add_registers(CommandId::_3DPRIMITIVE, {{RegisterId::MI_PREDICATE_RESULT, "predicate_enable"},
                                                {RegisterId::_3DPRIM_VERTEX_COUNT, "indirect_parameter_enable"},
                                                {RegisterId::_3DPRIM_START_VERTEX, "indirect_parameter_enable"},
                                                {RegisterId::_3DPRIM_INSTANCE_COUNT, "indirect_parameter_enable"},
                                                {RegisterId::_3DPRIM_START_INSTANCE, "indirect_parameter_enable"},
                                                {RegisterId::_3DPRIM_BASE_VERTEX, "indirect_parameter_enable"}});
}

bool DrawBackEnd::takes(const Command& command) {
  return hw::RenderHeader::kPipeline.of(command.dwords[0]) == hw::RenderHeader::draw ||
         command.desc.id == CommandId::URB_FENCE || command.desc.id == CommandId::CS_URB_STATE ||
         command.desc.id == CommandId::CONSTANT_BUFFER || command.desc.id == CommandId::_3DSTATE_VF_STATISTICS;
}

void DrawBackEnd::begin_unless_resumed(Engine& engine, const Command& command, LongCommand& work) {
  if (!work.resumed()) {
    work.begin();
    pipeline_.forget();
    surfaces_.begin();
    engine.state().draw.progress = {};
    engine.state().draw.progress.id = {command.place.address.value, engine.state().commands};
  }
}

Next DrawBackEnd::execute(Engine& engine, const Command& command) {
  if (command.desc.id == CommandId::_3DPRIMITIVE) {
    return draw(engine, command);
  }
  pipe3d::Settings& settings = engine.state().draw.settings;
  if (!settings.change(engine.generation(), command.desc, command.dwords)) {
    engine.unsupported(command.desc);
    return Next::advance();
  }
  if (command.desc.id == CommandId::_3DSTATE_URB) {
    check_urb(engine, command);
  }
  hw::_3DSTATE_SO_BUFFER bound;
  if (pipe3d::unpack_stream_buffer(engine.gen(), command.desc.id, command.dwords, bound)) {
    return bound.stream_offset_write_enable ? engine.after(set_stream_offset(engine, bound)) : Next::advance();
  }
  if (command.desc.id == CommandId::_3DSTATE_WM_HZ_OP) {
    const auto fields = command.as<hw::_3DSTATE_WM_HZ_OP>(engine.gen());
    if (fields.depth_buffer_clear_enable || fields.stencil_buffer_clear_enable || fields.depth_buffer_resolve_enable ||
        fields.hierarchical_depth_buffer_resolve_enable) {
      LongCommand work(engine, command, LongWork::draw);
      begin_unless_resumed(engine, command, work);
      memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
      counts_.reset();  // the operation has neither threads nor a primitive
      const pipe3d::Outcome outcome = work.run(space, [&] {
        return pipeline_.depth_operation(input_of(engine, space, unread_), engine.state().draw.progress);
      });
      return finish(engine, command, work, outcome);
    }
  }
  return Next::advance();
}

Next DrawBackEnd::draw(Engine& engine, const Command& command) {
  pipe3d::Progress& progress = engine.state().draw.progress;
  LongCommand work(engine, command, LongWork::draw);
  if (!work.resumed()) {
    const auto fields = command.as<hw::_3DPRIMITIVE>(engine.gen());
    if (fields.predicate_enable && !predicate_result(engine)) {
      return Next::advance();
    }
    const pipe3d::DrawCall call = call_of(engine, fields);
    if (call.vertices == 0 || call.instances == 0) {
      return Next::advance();
    }
    begin_unless_resumed(engine, command, work);
    progress.call = call;
  }
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
  pipeline_.set_events(&engine.services(), engine.path());
  pipeline_.set_pool(engine.services().pool());
  pipeline_.set_stop(engine.services().stop());
  const oa::CountsWanted wanted = engine.services().counts_wanted();
  counts_.reset();
  if (wanted.any()) {
    counts_.emplace();
  }
  pipeline_.set_work(wanted, counts_ ? &*counts_ : nullptr);
  const pipe3d::Outcome outcome =
      work.run(space, [&] { return pipeline_.draw(input_of(engine, space, unread_), progress); });
  pipeline_.set_events(nullptr, {});
  pipeline_.set_work({}, nullptr);
  if (counts_) {
    add_stages(outcome, wanted, *counts_);
  }
  return finish(engine, command, work, outcome);
}

Next DrawBackEnd::finish(Engine& engine, const Command& command, LongCommand& work, const pipe3d::Outcome& outcome) {
  account(engine, outcome, counts_ ? &*counts_ : nullptr);
  message::SurfaceUses uses = pipeline_.take_surface_uses();
  surfaces_.add(engine, uses.take());
  report_states(engine, command.desc.name, uses.take_bindings(),
                engine.data_space(table_of(engine), memory::Stream::render_cache));
  if (outcome.stream_offsets) {
    set_stream_offsets(engine, *outcome.stream_offsets);
  }
  if (!outcome.missing.empty()) {
    engine.raise(EventKind::unsupported, command.desc.name, command.place.address.value, 0,
                 std::string(outcome.missing) + " not modelled");
    engine.approximate(command.desc, std::string(outcome.missing) + " not modelled");
  }
  if (!outcome.inexact.empty()) {
    engine.approximate(command.desc, outcome.inexact);
  }
  if (engine.state().draw.settings.get<hw::_3DSTATE_PS_EXTRA>(engine.gen()).pixel_shader_is_per_coarse_pixel) {
    engine.approximate(command.desc, "coarse pixel shading not modelled; one channel per pixel");
  }
  const Next next = work.finish(outcome.stop, command.place.address.value);
  if (work.is_over()) {
    engine.state().draw.progress = {};
  }
  return next;
}

}  // namespace halogen::engine
