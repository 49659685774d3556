// Operands of any form, one lane at a time: where an element lies (regions, align16, indirect addressing, architecture
// registers), its bits, its value with modifiers; and the way back. The general path; nothing here is fast.
// Accesses outside a register file read zero and write nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "eu/exec/prepared.h"

namespace halogen::eu {

struct Value {
  Wide integer = 0;   // if its type is an integer
  double real = 0.0;  // if its type is a float
};

// A register file's bytes, or those of one kind of architecture register. Registers that are worked out when read
// (masks, ip, time) live in `scratch`.
struct Storage {
  std::byte* data = nullptr;
  int32_t bytes = 0;
  int32_t base = 0;  // of the operand's register in it
  alignas(64) std::array<std::byte, 64> scratch{};
};
void locate(Frame& frame, const Prepared& prepared, const Operand& operand, Storage& storage);
// After writing to registers that live in scratch, and for those whose change has effects. True: the ip was written.
bool commit(Frame& frame, const Operand& operand, Storage& storage);

// Byte offset of a lane's element in the operand's storage.
int32_t element_offset(const Thread& thread, const Prepared& prepared, const Operand& operand, const Storage& storage,
                       unsigned lane, bool is_destination);

uint64_t load_bits(const Storage& storage, int32_t offset, unsigned bytes);
void store_bits(Storage& storage, int32_t offset, unsigned bytes, uint64_t bits);

uint64_t immediate_bits(const Operand& operand, unsigned lane);  // element of an immediate, vectors spread out

// The element of an immediate that a lane of the instruction takes.
uint64_t immediate_for_lane(const Instruction& in, const Operand& operand, unsigned lane);
// Whether negate and absolute of a source mean something; else they are passed over.
bool obeys_modifiers(const Instruction& in, const Operand& operand, const EuRules& rules);

class Source {
 public:
  Source(Frame& frame, const Prepared& prepared, unsigned which);
  [[nodiscard]] uint64_t bits(unsigned lane) const;    // no modifiers
  [[nodiscard]] Value value(unsigned lane) const;      // with modifiers, in its own type
  [[nodiscard]] Value value_at(int32_t offset) const;  // of an element anywhere in its storage
  [[nodiscard]] int32_t offset(unsigned lane) const;
  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_float() const { return traits(type_).is_float; }

 private:
  [[nodiscard]] Value modified(uint64_t bits, Wide integer) const;
  [[nodiscard]] Wide integer_at(int32_t offset, uint64_t bits) const;

  Frame& frame_;
  const Prepared& prepared_;
  const Operand& operand_;
  Type type_;
  bool modifiers_;
  bool logic_not_;
  Storage storage_;
};

// Accumulator lanes with all their bits.
Wide accumulator_integer(const Thread& thread, int32_t offset, Type type);
void set_accumulator_integer(Thread& thread, int32_t offset, Type type, Wide value);
void set_accumulator_bits(Thread& thread, int32_t offset, unsigned bytes, uint64_t bits);
// The type in which an instruction reads and writes the accumulator that it does not name.
Type implied_accumulator_type(const Instruction& in, Type exec);
// Byte offset in the accumulators of the lane that an instruction uses without naming it.
int32_t implied_accumulator_offset(const Frame& frame, const Prepared& prepared, Type type, unsigned lane);

}  // namespace halogen::eu
