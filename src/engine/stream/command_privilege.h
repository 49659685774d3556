// What a batch buffer without privilege may not do. Gen4: a batch marked as non-secure; from Gen6 on: one that is
// fetched through the tables of the process. The rows of each command are in spec/ (`privilege`); here they are
// applied, and the lists of registers that such a batch may touch are asked (mmio/privilege.h). Something that is
// dropped is an error that software sees (seed 000, User Mode Privileged Commands; seed 003 1.5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/stream/command.h"
#include "mmio/privilege.h"
#include "spec/device_model.h"

namespace halogen::engine {

class CommandPrivilege {
 public:
  CommandPrivilege(Engine& engine, spec::DeviceId device);

  // For a command of a batch without privilege: sets what it loses. False: it is dropped as a whole.
  bool restrict_command(Command& command);

  // May the command touch this register? When not, the error is flagged.
  bool allows(const Command& command, uint32_t offset, mmio::RegisterAccess access);
  // A command lost something.
  void violation();

 private:
  struct Rule {
    spec::PrivilegeEffect effect;
    const spec::FieldDesc* when;  // null: always
    bool names_register;
  };
  struct Rules {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  mmio::ForceToNonPrivSlots slots() const;

  Engine& engine_;
  mmio::Privilege lists_;
  std::vector<Rule> rules_;
  std::vector<Rules> rules_of_;  // by CommandId
};

}  // namespace halogen::engine
