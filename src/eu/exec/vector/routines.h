// The table of specialised routines. Each row states the shapes of lowered instructions that it accepts. The first row
// that fits runs an instruction; if no row fits, the general path runs it. A routine writes the same bits as the
// general path. Cases that show only at run time (NaN, other rounding modes, addresses) pass to the next routine.
#pragma once

#include <span>
#include <string_view>

#include "eu/exec/prepared.h"

namespace halogen::eu {

// The type of all operands, as far as one routine can treat them alike.
enum class Domain : uint8_t {
  mixed,
  bits32,  // copies of elements of up to 32 bits
  bits64,
  i32,  // integers of up to 32 bits
  i64,
  f32,
  f64,
  from_integer,  // an integer of up to 32 bits is converted to F
  to_integer     // F is converted to an integer of up to 32 bits
};

// Irregularities of the operands' regions. 0: each operand is a scalar, or its lanes are contiguous.
struct Reach {
  enum Bits : uint8_t {
    rows = 1,     // rows of eight contiguous lanes
    strided = 2,  // a constant stride that is not the element's size
    any = 4       // every other region: tables of offsets, addresses in registers
  };
};

// Features of an instruction besides its operation.
struct Extras {
  enum Bits : uint16_t {
    saturation = 1,
    tests_result = 2,  // the condition modifier tests the result
    decides = 4,       // the operation itself yields the flag bits
    accumulates = 8,   // the result is written to the accumulator too
    own_accumulator = 16,
    partial = 32,  // an align16 write mask excludes lanes
    remainder = 64,
    inverts = 128,  // a logic operand is inverted
    reads_accumulator = 256,
    writes_accumulator = 512,  // by name
    message_target = 1024,     // the target is in the message registers
    other_files = 2048,        // an operand in address, flag or other architecture registers
    nowhere = 4096             // no target
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
  uint8_t reach;     // all accepted Reach bits
  uint64_t widths;   // bit n: n lanes
  uint16_t extras;   // all accepted Extras bits
  // Chooses the code for the types of an instruction. False: no code fits.
  bool (*bind)(Prepared& prepared);
  bool before_others = false;  // calls Prepared::rest for cases it does not handle at run time
};
std::span<const Routine> routines();

// Chooses the routines of an instruction. If no routine fits, `fast` stays null.
void bind_routine(Prepared& prepared);

// The bind functions of the rows.
bool bind_loops(Prepared& prepared);         // loops.cpp
bool bind_product(Prepared& prepared);       // products.cpp
bool bind_high_product(Prepared& prepared);  // products.cpp
bool bind_arrays(Prepared& prepared);        // arrays.cpp
bool bind_avx2(Prepared& prepared);          // avx2.cpp

}  // namespace halogen::eu
