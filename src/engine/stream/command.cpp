#include "engine/stream/command.h"

#include "mmio/registers.h"
#include "spec/command_table.h"
#include "spec/field_visitor.h"

namespace halogen::engine {

HandlerTable::HandlerTable() : handlers_(spec::commands().size(), nullptr), registers_(spec::commands().size()) {
  add_flow_handlers(*this);
  add_store_handlers(*this);
  add_register_handlers(*this);
  add_math_handlers(*this);
  add_atomic_handlers(*this);
  add_semaphore_handlers(*this);
  add_display_handlers(*this);
  add_flush_handlers(*this);
  add_context_handlers(*this);
  add_draw_registers(*this);
  add_compute_registers(*this);
  add_blit_registers(*this);
  add_statistics_registers(*this);
}

const HandlerTable& HandlerTable::instance() {
  static const HandlerTable table;
  return table;
}

void HandlerTable::use_registers(mmio::Registers& registers) const {
  const spec::GenId gen = registers.gen();
  const auto has_field = [gen](const spec::ItemDesc& item, std::string_view name) {
    return name.empty() || spec::find_field(item, gen, name) != nullptr;
  };
  const spec::DeviceId device = registers.mmio().generation().model().id;
  for (const spec::CommandDesc* const desc : spec::commands()) {
    if (!spec::CommandTable::has(*desc, device, registers.engine().engine_class)) {
      continue;
    }
    for (const CommandRegister& used : registers_[static_cast<size_t>(desc->id)]) {
      if (has_field(*desc, used.option) && has_field(*spec::registers()[static_cast<size_t>(used.id)], used.field)) {
        registers.use({used.id});
      }
    }
  }
}

}  // namespace halogen::engine
