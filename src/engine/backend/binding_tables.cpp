#include "engine/backend/binding_tables.h"

#include "hw/3d_pointers.h"
#include "hw/aux.h"
#include "hw/mode.h"
#include "spec/field_visitor.h"

namespace halogen::engine {

namespace {

bool has_wide_offsets(const Engine& engine) {
  const bool selectable = spec::find_field(hw::GT_MODE::kDesc, engine.gen(), "binding_table_alignment") != nullptr;
  return selectable &&
         engine.registers().get<hw::GT_MODE>().binding_table_alignment == hw::GT_MODE::BindingTableAlignment::btp_18_8;
}

}  // namespace

message::BindingTables binding_tables_of(const Engine& engine) {
  const EngineState& state = engine.state();
  const auto pool = state.draw.settings.get<hw::_3DSTATE_BINDING_TABLE_POOL_ALLOC>(engine.gen());
  return {
      .base = pool.binding_table_pool_enable ? pool.binding_table_pool_base_address.value : state.render.bases.surface,
      .wide = has_wide_offsets(engine)};
}

message::StateBases bases_of(Engine& engine) {
  message::StateBases bases = engine.state().render.bases;
  if (engine.registers().has(spec::RegisterId::GFX_AUX_TABLE_BASE_ADDR)) {
    bases.aux_table = engine.registers().get<hw::GFX_AUX_TABLE_BASE_ADDR>().address.value;
  }
  bases.watches_states = engine.services().state_watch() != nullptr;
  return bases;
}

}  // namespace halogen::engine
