// The table of specialised routines. Each row says which shapes of lowered instructions it takes; the first one that
// fits runs an instruction, and the general path runs those that none takes. A routine leaves the same bits as the
// general path, and leaves to the next one what it finds out at run time only: NaN, other rounding modes, addresses.
#pragma once

#include <span>
#include <string_view>

#include "eu/exec/prepared.h"

namespace halogen::eu {

// The type of all operands, as far as one routine can treat them alike.
enum class Domain : uint8_t {
  mixed,
  bits32,  // bits pass, in elements of up to 32 bits
  bits64,
  i32,  // integers of up to 32 bits
  i64,
  f32,
  f64,
  from_integer,  // an integer of up to 32 bits becomes F
  to_integer     // the other way
};

// What is irregular in how the elements of the operands lie. Nothing: each is a scalar, or its lanes follow each other.
struct Reach {
  enum Bits : uint8_t {
    rows = 1,     // eight lanes follow each other, the next eight lie elsewhere
    strided = 2,  // lanes at the same distance, which is not an element's size
    any = 4       // tables, addresses in registers
  };
};

// What an instruction asks for beside its operation.
struct Extras {
  enum Bits : uint16_t {
    saturation = 1,
    tests_result = 2,  // a condition of the result
    decides = 4,       // a condition that the operation gives
    accumulates = 8,   // the result goes to the accumulator too
    own_accumulator = 16,
    partial = 32,  // a write mask of align16
    remainder = 64,
    inverts = 128,  // a logic operand is inverted
    reads_accumulator = 256,
    writes_accumulator = 512,  // by name
    message_target = 1024,     // the target lies in message registers
    other_files = 2048,        // address, flag and other architecture registers
    nowhere = 4096             // there is no target
  };
};

struct Shape {
  ir::Operation operation = ir::Operation::none;
  Domain domain = Domain::mixed;
  uint8_t reach = 0;
  uint8_t lanes = 0;
  uint16_t extras = 0;
};
Shape shape_of(const ir::Lowered& lowered);

struct Routine {
  std::string_view name;
  std::span<const ir::Operation> operations;
  uint16_t domains;  // bit n: Domain n
  uint8_t reach;     // at most
  uint64_t widths;   // bit n: n lanes
  uint16_t extras;   // at most
  // Chooses the code for the types of an instruction. False: no code fits.
  bool (*bind)(Prepared& prepared);
  bool before_others = false;  // another routine takes what it leaves at run time
};
std::span<const Routine> routines();

// Chooses the routines of an instruction; none: `fast` stays null.
void bind_routine(Prepared& prepared);

// Rows of the table, by file.
bool bind_loops(Prepared& prepared);         // loops.cpp
bool bind_product(Prepared& prepared);       // products.cpp
bool bind_high_product(Prepared& prepared);  // products.cpp
bool bind_arrays(Prepared& prepared);        // arrays.cpp
bool bind_avx2(Prepared& prepared);          // avx2.cpp

}  // namespace halogen::eu
