// One command as a handler gets it, and the table of handlers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "engine/stream/command_stream.h"
#include "spec/descriptors.h"
#include "spec/item_ids.h"  // generated

namespace halogen::mmio {
class Registers;
}

namespace halogen::engine {

class Engine;

// The effects of a command that privilege rules remove (command_privilege.h). All false: the command is unrestricted.
struct Permit {
  bool restricted =
      false;  // the batch is not privileged, so the handler asks CommandPrivilege::allows() for each register
  bool drop_write = false;
  bool drop_post_sync = false;
  bool per_process_table = false;
  bool per_process_page = false;
  bool parent_privilege = false;
};

struct Command {
  const spec::CommandDesc& desc;
  std::span<const uint32_t> dwords;
  CommandPlace place;
  Permit permit{};

  // Returns the generated structure of the command: command.as<hw::MI_NOOP>(gen).
  template <class T>
  T as(spec::GenId gen) const {
    return T::unpack(gen, dwords);
  }
};

using Handler = Next (*)(Engine& engine, const Command& command);

// A register whose stored value a command reads or writes, other than as its operand.
struct CommandRegister {
  spec::RegisterId id;
  // Field of the command that asks for the register. A generation without the field does not use the register. Empty:
  // every generation that has the command uses it.
  std::string_view option = {};
  std::string_view field = {};  // the only field of the register that is read; as above
};

// The handler of each command, and the registers that commands use. One table serves all chips, because the command
// table decides which commands a chip has.
class HandlerTable {
 public:
  static const HandlerTable& instance();

  Handler find(spec::CommandId id) const { return handlers_[static_cast<size_t>(id)]; }
  void add(spec::CommandId id, Handler handler, std::initializer_list<CommandRegister> registers = {}) {
    handlers_[static_cast<size_t>(id)] = handler;
    add_registers(id, registers);
  }
  // Adds registers of a command that a handler or a back end executes.
  void add_registers(spec::CommandId id, std::initializer_list<CommandRegister> registers) {
    std::vector<CommandRegister>& all = registers_[static_cast<size_t>(id)];
    all.insert(all.end(), registers);
  }

  // Tells the bank which registers the commands of an engine use.
  void use_registers(mmio::Registers& registers) const;

 private:
  HandlerTable();
  std::vector<Handler> handlers_;                        // by CommandId
  std::vector<std::vector<CommandRegister>> registers_;  // by CommandId
};

// Each function adds the handlers of one file.
void add_flow_handlers(HandlerTable& table);       // mi_flow.cpp: NOOP, batch buffers, arbitration, interrupts
void add_store_handlers(HandlerTable& table);      // mi_store.cpp: STORE_DATA_*, COPY_MEM_MEM, UPDATE_GTT, REPORT_HEAD
void add_register_handlers(HandlerTable& table);   // mi_register.cpp: LOAD/STORE_REGISTER_*
void add_math_handlers(HandlerTable& table);       // mi_math.cpp: MATH, PREDICATE, SET_PREDICATE
void add_atomic_handlers(HandlerTable& table);     // mi_atomic.cpp
void add_semaphore_handlers(HandlerTable& table);  // mi_semaphore.cpp: SEMAPHORE_*, CONDITIONAL_BATCH_BUFFER_END
void add_display_handlers(HandlerTable& table);    // mi_display.cpp: WAIT_FOR_EVENT, LOAD_SCAN_LINES, flips
void add_flush_handlers(HandlerTable& table);      // mi_flush.cpp: MI_FLUSH, FLUSH_DW, PIPE_CONTROL, CLFLUSH
void add_context_handlers(HandlerTable& table);    // mi_context.cpp: SET_CONTEXT, PROBE, UNPROBE

// Each function adds the registers that commands of a back end use.
void add_draw_registers(HandlerTable& table);        // draw_back_end.cpp
void add_compute_registers(HandlerTable& table);     // compute_back_end.cpp
void add_blit_registers(HandlerTable& table);        // blit_back_end.cpp
void add_statistics_registers(HandlerTable& table);  // statistics.cpp

}  // namespace halogen::engine
