// The limits of a batch buffer without privilege. Such a batch is one marked as non-secure on Gen4, and one that is
// fetched through the per-process tables from Gen6 on. spec/ has the rules of each command (`privilege`). This class
// applies them, and checks registers against the lists of mmio/privilege.h. Software sees each dropped command or write
// as an error; a refused register also raises an Event. DG1 PRM vol. 13, User Mode Privileged Commands (seed 000); G45
// PRM vol. 1b 1.5.2 (seed 003).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/stream/command.h"
#include "mmio/privilege.h"
#include "spec/device_model.h"

namespace halogen::engine {

class CommandPrivilege {
 public:
  CommandPrivilege(Engine& engine, spec::DeviceId device);

  // Returns whether batches without privilege are restricted. Software can disable it on some chips.
  bool checks() const;
  // Sets what a command of a batch without privilege loses. False: the whole command is dropped.
  bool restrict_command(Command& command);

  // Returns whether the command may access the register. If not, reports the error.
  bool allows(const Command& command, uint32_t offset, mmio::RegisterAccess access);
  // Reports a command privilege violation to software.
  void violation();

 private:
  struct Rule {
    spec::PrivilegeEffect effect;
    const spec::FieldDesc* when;  // null: always
  };
  struct Rules {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  std::span<const mmio::ForceToNonPriv> slots();

  Engine& engine_;
  bool can_be_disabled_ = false;
  mmio::Privilege lists_;
  std::array<uint32_t, mmio::kForceToNonPrivSlots> raw_slots_{};  // as last decoded
  std::array<mmio::ForceToNonPriv, mmio::kForceToNonPrivSlots> slots_{};
  std::vector<Rule> rules_;
  std::vector<Rules> rules_of_;  // by CommandId
};

}  // namespace halogen::engine
