#include "engine/statistics.h"

#include "engine/stream/command.h"
#include "gen/count_rules.h"

namespace halogen::engine {
namespace {

using pipe3d::Counts;
using pipe3d::Statistics;
using spec::RegisterId;

struct Row {
  RegisterId id;
  bool Statistics::*enable;
  uint64_t (*count)(const Counts&);
};

constexpr Row kRows[] = {
    {RegisterId::IA_VERTICES_COUNT, &Statistics::vertices, [](const Counts& c) { return c.vertices; }},
    {RegisterId::IA_PRIMITIVES_COUNT, &Statistics::vertices, [](const Counts& c) { return c.primitives; }},
    {RegisterId::VS_INVOCATION_COUNT, &Statistics::vertex_shader, [](const Counts& c) { return c.vertex_threads; }},
    {RegisterId::HS_INVOCATION_COUNT, &Statistics::hull, [](const Counts& c) { return c.hull_patches; }},
    {RegisterId::DS_INVOCATION_COUNT, &Statistics::domain, [](const Counts& c) { return c.domain_points; }},
    {RegisterId::GS_INVOCATION_COUNT, &Statistics::geometry, [](const Counts& c) { return c.geometry.invocations; }},
    {RegisterId::GS_PRIMITIVES_COUNT, &Statistics::geometry, [](const Counts& c) { return c.geometry.primitives; }},
    {RegisterId::SO_NUM_PRIMS_WRITTEN0, &Statistics::streams, [](const Counts& c) { return c.streams.written[0]; }},
    {RegisterId::SO_NUM_PRIMS_WRITTEN1, &Statistics::streams, [](const Counts& c) { return c.streams.written[1]; }},
    {RegisterId::SO_NUM_PRIMS_WRITTEN2, &Statistics::streams, [](const Counts& c) { return c.streams.written[2]; }},
    {RegisterId::SO_NUM_PRIMS_WRITTEN3, &Statistics::streams, [](const Counts& c) { return c.streams.written[3]; }},
    {RegisterId::SO_PRIM_STORAGE_NEEDED0, &Statistics::streams, [](const Counts& c) { return c.streams.needed[0]; }},
    {RegisterId::SO_PRIM_STORAGE_NEEDED1, &Statistics::streams, [](const Counts& c) { return c.streams.needed[1]; }},
    {RegisterId::SO_PRIM_STORAGE_NEEDED2, &Statistics::streams, [](const Counts& c) { return c.streams.needed[2]; }},
    {RegisterId::SO_PRIM_STORAGE_NEEDED3, &Statistics::streams, [](const Counts& c) { return c.streams.needed[3]; }},
    {RegisterId::SO_NUM_PRIMS_WRITTEN_GEN6, &Statistics::streams, [](const Counts& c) { return c.streams.written[0]; }},
    {RegisterId::SO_PRIM_STORAGE_NEEDED_GEN6, &Statistics::streams,
     [](const Counts& c) { return c.streams.needed[0]; }},
    {RegisterId::CL_INVOCATION_COUNT, &Statistics::clip, [](const Counts& c) { return c.clip_in; }},
    {RegisterId::CL_PRIMITIVES_COUNT, &Statistics::clip, [](const Counts& c) { return c.clip_out; }},
    {RegisterId::PS_DEPTH_COUNT, &Statistics::pixels, [](const Counts& c) { return c.pixels.passed; }},
};

void add(mmio::Registers& registers, RegisterId id, uint64_t more) {
  if (more != 0 && registers.has(id)) {
    registers.poke64(id, registers.peek64(id) + more);
  }
}

}  // namespace

void add_statistics_registers(HandlerTable& table) {
  using spec::CommandId;
  for (const Row& row : kRows) {
    table.add_registers(CommandId::_3DPRIMITIVE, {{row.id}});
  }
  table.add_registers(CommandId::_3DPRIMITIVE, {{RegisterId::PS_INVOCATION_COUNT}});
  for (const CommandId id : {CommandId::GPGPU_WALKER, CommandId::MEDIA_OBJECT, CommandId::MEDIA_OBJECT_PRT,
                             CommandId::MEDIA_OBJECT_WALKER}) {
    table.add_registers(id, {{RegisterId::GPGPU_THREADS_DISPATCHED}});
  }
}

void add_statistics(mmio::Registers& registers, spec::GenId gen, const WorkReport& report) {
  if (report.draw != nullptr) {
    const DrawWork& draw = *report.draw;
    for (const Row& row : kRows) {
      if (draw.counted.*row.enable) {
        add(registers, row.id, row.count(draw.counts));
      }
    }
    if (draw.counted.pixels) {
      add(registers, RegisterId::PS_INVOCATION_COUNT, draw.counts.pixels.invocations * count_rules(gen).pixel_step);
    }
  }
  if (report.compute) {
    add(registers, RegisterId::GPGPU_THREADS_DISPATCHED, report.compute->channels);
  }
}

}  // namespace halogen::engine
