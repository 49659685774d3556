// A kernel as basic blocks of lowered code, the input of a compiled executor. A block is entered only at its first
// instruction and left only at its end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eu/ir/lowered.h"

namespace halogen::eu {
class CodeSource;
}
namespace halogen {
struct EuRules;
}

namespace halogen::eu::ir {

// How a block is left.
enum class EndKind : uint8_t {
  falls_through,  // the next block begins because a branch leads there
  branch,         // flow control: channels may diverge or join
  send,           // a message, which may block or fault
  end_of_thread,  // the last message
  wait,           // a wait for other threads
  mode_change,    // a write of cr0 or ip, or a breakpoint; the instruction is the last one of the body
  illegal         // the thread stops or the system routine runs
};

struct Terminator {
  EndKind kind = EndKind::falls_through;
  Instruction instruction;        // branch, send, end_of_thread, wait, illegal
  Lowered lowered;                // of that instruction: mask, and targets in registers
  uint32_t offset = 0;            // of that instruction
  uint32_t next = 0;              // offset of the code after the block
  bool continues = true;          // channels may continue at `next`
  std::vector<uint32_t> targets;  // offsets that the instruction names
};

struct Block {
  uint32_t offset = 0;  // of its first instruction
  std::span<const Lowered> body;
  Terminator end;
};

// The code that is reachable from an entry without jumps through registers.
class BlockList {
 public:
  BlockList(const CodeSource& code, uint32_t entry, const EuRules& rules);
  BlockList(const BlockList&) = delete;
  BlockList& operator=(const BlockList&) = delete;

  [[nodiscard]] uint32_t entry() const { return entry_; }
  // Returns the blocks in the order of their offsets.
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  // Returns the block that begins at an offset. Null: no block begins there.
  [[nodiscard]] const Block* find(uint32_t offset) const;

 private:
  uint32_t entry_;
  std::vector<Lowered> bodies_;
  std::vector<Block> blocks_;
};

}  // namespace halogen::eu::ir
