#include "gen/pipeline_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

// Sources: G45 PRM vol. 2a (seed 003) and Mesa's drivers for Gen4; Mesa for the others.
constexpr std::array<PipelineRules, 3> kRules{{
    {.gens = from_to(GenId::gen4, GenId::gen4_5),
     .pipeline = PipelineForm::units,
     .setup = SetupForm::thread,
     .pixel_payload = PayloadForm::start_vertex,
     .target_message = TargetMessageForm::half_by_half,
     .vertex_header = VertexHeaderForm::with_ndc,
     .ordered_corners = true,
     .element_offsets = true,
     .unbounded_vertices = true,
     .topology_in_own_command = false},
    {.gens = from_to(GenId::gen6, GenId::gen6),
     .pipeline = PipelineForm::combined,
     .setup = SetupForm::fixed_function,
     .pixel_payload = PayloadForm::barycentrics,
     .target_message = TargetMessageForm::component_by_component,
     .vertex_header = VertexHeaderForm::without_ndc,
     .ordered_corners = false,
     .element_offsets = false,
     .unbounded_vertices = false,
     .topology_in_own_command = false,
     .urb_rows = 2048},  // GT2: an engineer's notes (seed 004, 440-442)
    {.gens = from_to(GenId::gen8, GenId::gen12),
     .pipeline = PipelineForm::split,
     .setup = SetupForm::fixed_function,
     .pixel_payload = PayloadForm::barycentrics,
     .target_message = TargetMessageForm::component_by_component,
     .vertex_header = VertexHeaderForm::without_ndc,
     .ordered_corners = false,
     .element_offsets = false,
     .unbounded_vertices = false,
     .topology_in_own_command = true},
}};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const PipelineRules& pipeline_rules(GenId gen) {
  return row_of(kRules, gen, "pipeline_rules");
}

}  // namespace halogen
