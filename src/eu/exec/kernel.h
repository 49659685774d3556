// Prepared kernels: the handler, the lowered form and the branch targets of each instruction. Code is followed from the
// entry. An instruction that is reached only through a register is prepared each time a thread executes it.
#pragma once

#include <memory>
#include <vector>

#include "eu/exec/prepared.h"

namespace halogen::eu {

Prepared prepare_instruction(const Instruction& in, uint32_t offset, const EuRules& rules, const CodeSource* code,
                             bool only_generic);

class PreparedKernel final : public Kernel {
 public:
  PreparedKernel(std::shared_ptr<const CodeSource> code, uint32_t entry, const EuRules& rules, bool only_generic);

  [[nodiscard]] uint32_t entry() const override { return entry_; }
  [[nodiscard]] size_t instruction_count() const override { return list_.size(); }
  [[nodiscard]] uint64_t number() const override { return number_; }
  [[nodiscard]] RegisterUse writes() const override { return writes_; }
  [[nodiscard]] const Instruction* find(uint32_t offset) const override {
    const Prepared* prepared = at(offset);
    return prepared == nullptr ? nullptr : &prepared->in;
  }
  void visit(const std::function<void(uint32_t, const Instruction&)>& each) const override {
    for (const Prepared& prepared : list_) {
      each(prepared.offset, prepared.in);
    }
  }
  [[nodiscard]] const Prepared* at(uint32_t offset) const {
    const uint32_t slot = (offset - first_) / 8;
    if (slot >= slots_.size() || (offset & 7) != 0) {
      return nullptr;
    }
    const uint32_t index = slots_[slot];
    return index == 0 ? nullptr : &list_[index - 1];
  }
  [[nodiscard]] const std::vector<Prepared>& list() const { return list_; }
  [[nodiscard]] size_t index_of(const Prepared& prepared) const {
    return static_cast<size_t>(&prepared - list_.data());
  }
  [[nodiscard]] const CodeSource& code() const { return *code_; }
  [[nodiscard]] const EuRules& rules() const { return rules_; }

 private:
  std::shared_ptr<const CodeSource> code_;
  const EuRules& rules_;
  uint32_t entry_;
  uint64_t number_;
  RegisterUse writes_;
  uint32_t first_ = 0;           // offset of slot 0
  std::vector<uint32_t> slots_;  // by (offset - first_) / 8: index in list_ plus 1; 0: no instruction
  std::vector<Prepared> list_;   // in the order of offsets
};

}  // namespace halogen::eu
