#include "engine/stream/command_privilege.h"

#include <algorithm>
#include <initializer_list>

#include "base/bits.h"
#include "engine/engine.h"
#include "hw/context.h"
#include "hw/mode.h"
#include "spec/field_visitor.h"

namespace halogen::engine {
namespace {

using spec::PrivilegeEffect;
using spec::RegisterId;

constexpr std::initializer_list<RegisterId> kSlots = {RegisterId::FORCE_TO_NONPRIV, RegisterId::FORCE_TO_NONPRIV_12_15,
                                                      RegisterId::FORCE_TO_NONPRIV_16_19};

const spec::FieldDesc* find_field(const spec::Layout& layout, std::string_view name) {
  const auto found = std::ranges::find(layout.fields, name, &spec::FieldDesc::name);
  return found == layout.fields.end() ? nullptr : &*found;
}

bool is_set(const spec::FieldDesc& field, std::span<const uint32_t> dwords) {
  return get_bits(dwords, field.first_bit, field.width) != 0;
}

}  // namespace

CommandPrivilege::CommandPrivilege(Engine& engine, spec::DeviceId device)
    : engine_(engine), lists_(device, engine.model()), rules_of_(spec::commands().size()) {
  engine.registers().use(kSlots);
  const spec::GenId gen = spec::model(device).gen;
  can_be_disabled_ = spec::find_field(hw::GFX_MODE::kDesc, gen, "privilege_check_disable") != nullptr;
  if (can_be_disabled_) {
    engine.registers().use({RegisterId::GFX_MODE});
  }
  for (const spec::CommandDesc* desc : spec::commands()) {
    const spec::Layout* layout = desc->layout(gen);
    if (layout == nullptr) {
      continue;
    }
    Rules& own = rules_of_[static_cast<size_t>(desc->id)];
    own.first = static_cast<uint32_t>(rules_.size());
    for (const spec::PrivilegeRule& rule : desc->privilege) {
      // Handlers ask allows() for the registers that a rule names.
      if ((rule.gens & spec::mask_of(gen)) != 0 && rule.register_field.empty()) {
        rules_.push_back({rule.effect, rule.when.empty() ? nullptr : find_field(*layout, rule.when)});
      }
    }
    own.count = static_cast<uint32_t>(rules_.size()) - own.first;
  }
}

bool CommandPrivilege::checks() const {
  return !can_be_disabled_ || !engine_.registers().get<hw::GFX_MODE>().privilege_check_disable;
}

bool CommandPrivilege::restrict_command(Command& command) {
  if (!checks()) {
    return true;
  }
  Permit& permit = command.permit;
  permit.restricted = true;
  const Rules own = rules_of_[static_cast<size_t>(command.desc.id)];
  bool dropped = false;
  for (const Rule& rule : std::span(rules_).subspan(own.first, own.count)) {
    if (rule.when != nullptr && !is_set(*rule.when, command.dwords)) {
      continue;
    }
    switch (rule.effect) {
      case PrivilegeEffect::noop:
        violation();
        return false;
      case PrivilegeEffect::drop_write:
        permit.drop_write = true;
        dropped = true;
        break;
      case PrivilegeEffect::drop_post_sync:
        permit.drop_post_sync = true;  // the handler knows whether the command has a post-sync operation
        break;
      case PrivilegeEffect::per_process_table:
        permit.per_process_table = true;
        break;
      case PrivilegeEffect::per_process_page:
        permit.per_process_page = true;
        break;
      case PrivilegeEffect::parent_privilege:
        permit.parent_privilege = true;
        break;
    }
  }
  if (dropped) {
    violation();
  }
  return true;
}

void CommandPrivilege::violation() {
  engine_.errors().raise(ErrorKind::command_privilege);
}

std::span<const mmio::ForceToNonPriv> CommandPrivilege::slots() {
  size_t at = 0;
  for (const RegisterId id : kSlots) {
    for (unsigned index = 0; engine_.registers().slot(id, index) != nullptr && at < slots_.size(); ++index, ++at) {
      const uint32_t value = engine_.registers().peek(id, index);
      if (value != raw_slots_[at]) {
        raw_slots_[at] = value;
        slots_[at] = mmio::ForceToNonPriv::decode(engine_.gen(), value);
      }
    }
  }
  return std::span(slots_).first(at);
}

bool CommandPrivilege::allows(const Command& command, uint32_t offset, mmio::RegisterAccess access) {
  if (!command.permit.restricted || lists_.allows(offset, access, slots())) {
    return true;
  }
  engine_.raise(EventKind::bad_access, command.desc.name, command.place.address.value, offset,
                access == mmio::RegisterAccess::write ? "register not writable without privilege"
                                                      : "register not readable without privilege; reads as zero");
  violation();
  return false;
}

}  // namespace halogen::engine
