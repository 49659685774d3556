// MI_ATOMIC: an atomic read-modify-write, also with respect to the CPU. Operands come from the command or from
// the general purpose registers: the first from R1:R0, the second from R3:R2. The returned value is written to R5:R4.
// The operations are those of the atomics table of the public manuals (L3 chapter).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include "engine/engine.h"
#include "engine/mi/mi_access.h"
#include "hw/mi_memory.h"

namespace halogen::engine {
namespace {

using hw::AtomicOpcode;
using spec::CommandId;
using spec::RegisterId;

constexpr unsigned kFirstOperand = 0;  // general purpose registers
constexpr unsigned kSecondOperand = 2;
constexpr unsigned kReturned = 4;

struct Wide {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Wide&) const = default;
};

struct Operands {
  Wide first;
  Wide second;
};

uint64_t join(uint32_t low, uint32_t high) {
  return low | uint64_t{high} << 32;
}

Operands operands_of(const Engine& engine, const hw::MI_ATOMIC& atomic) {
  if (atomic.inline_data) {
    return {{join(atomic.operand1_data_dword_0, atomic.operand1_data_dword_1),
             join(atomic.operand1_data_dword_2, atomic.operand1_data_dword_3)},
            {join(atomic.operand2_data_dword_0, atomic.operand2_data_dword_1),
             join(atomic.operand2_data_dword_2, atomic.operand2_data_dword_3)}};
  }
  const auto pair = [&](unsigned index) {
    return Wide{engine.registers().peek64(RegisterId::CS_GPR, index),
                engine.registers().peek64(RegisterId::CS_GPR, index + 1)};
  };
  return {pair(kFirstOperand), pair(kSecondOperand)};
}

// Returns the 4-byte opcode of an operation: the 8-byte opcodes have a fixed distance from them. Empty: the operation
// does not exist in this size.
constexpr unsigned kEightBytes = static_cast<unsigned>(AtomicOpcode::AND8B) - static_cast<unsigned>(AtomicOpcode::AND);

std::optional<AtomicOpcode> operation_of(AtomicOpcode opcode, size_t bytes) {
  const unsigned raw = static_cast<unsigned>(opcode) - (bytes == sizeof(uint64_t) ? kEightBytes : 0);
  const auto operation = static_cast<AtomicOpcode>(raw);
  return operation >= AtomicOpcode::AND && operation <= AtomicOpcode::PREDEC ? std::optional(operation) : std::nullopt;
}

// Returns the new value.
template <class T>
T apply(AtomicOpcode operation, T old, T first, T second) {
  using Signed = std::make_signed_t<T>;
  const auto is_less = [](T a, T b) { return static_cast<Signed>(a) < static_cast<Signed>(b); };
  switch (operation) {
    case AtomicOpcode::AND:
      return old & first;
    case AtomicOpcode::OR:
      return old | first;
    case AtomicOpcode::XOR:
      return old ^ first;
    case AtomicOpcode::MOVE:
      return first;
    case AtomicOpcode::INC:
      return old + 1;
    case AtomicOpcode::DEC:
    case AtomicOpcode::PREDEC:
      return old - 1;
    case AtomicOpcode::ADD:
      return old + first;
    case AtomicOpcode::SUB:
      return old - first;
    case AtomicOpcode::RSUB:
      return first - old;
    case AtomicOpcode::IMAX:
      return is_less(old, first) ? first : old;
    case AtomicOpcode::IMIN:
      return is_less(first, old) ? first : old;
    case AtomicOpcode::UMAX:
      return std::max(old, first);
    case AtomicOpcode::UMIN:
      return std::min(old, first);
    case AtomicOpcode::CMP_WR:
      return old == first ? second : old;
    default:
      return old;  // operation_of() rejects all other opcodes
  }
}

template <class T>
T update(std::byte* target, AtomicOpcode operation, T first, T second) {
  std::atomic_ref<T> value(*reinterpret_cast<T*>(target));
  T old = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(old, apply(operation, old, first, second), std::memory_order_seq_cst)) {
  }
  return operation == AtomicOpcode::PREDEC ? static_cast<T>(old - 1) : old;  // PREDEC returns the new value
}

// Writes `next` if memory holds `expected`. Returns the old value.
Wide compare_exchange(std::byte* target, Wide expected, Wide next) {
#if defined(__x86_64__)
  if (reinterpret_cast<uintptr_t>(target) % sizeof(Wide) == 0) {
    asm volatile("lock cmpxchg16b %0"
                 : "+m"(*reinterpret_cast<uint64_t(*)[2]>(target)), "+a"(expected.low), "+d"(expected.high)
                 : "b"(next.low), "c"(next.high)
                 : "cc", "memory");
    return expected;
  }
#endif
  Wide old;  // not atomic, because the CPU may write between the halves
  std::memcpy(&old, target, sizeof(old));
  if (old == expected) {
    std::memcpy(target, &next, sizeof(next));
  }
  return old;
}

size_t bytes_of(hw::AtomicDataSize size) {
  switch (size) {
    case hw::AtomicDataSize::DWORD:
      return sizeof(uint32_t);
    case hw::AtomicDataSize::QWORD:
      return sizeof(uint64_t);
    case hw::AtomicDataSize::OCTWORD:
      return sizeof(Wide);
  }
  return 0;
}

// Performs the operation. Returns the value for R5:R4. Empty: the operation does not exist in this size.
std::optional<Wide> operate(AtomicOpcode opcode, size_t bytes, std::byte* target, const Operands& operands) {
  if (bytes == sizeof(Wide)) {
    return opcode == AtomicOpcode::CMP_WR16B ? std::optional(compare_exchange(target, operands.first, operands.second))
                                             : std::nullopt;
  }
  const std::optional<AtomicOpcode> operation = operation_of(opcode, bytes);
  if (!operation) {
    return std::nullopt;
  }
  if (bytes == sizeof(uint64_t)) {
    return Wide{update<uint64_t>(target, *operation, operands.first.low, operands.second.low), 0};
  }
  return Wide{update<uint32_t>(target, *operation, static_cast<uint32_t>(operands.first.low),
                               static_cast<uint32_t>(operands.second.low)),
              0};
}

void put_returned(Engine& engine, const Wide& value, size_t bytes) {
  mmio::Registers& registers = engine.registers();
  registers.poke(RegisterId::CS_GPR, static_cast<uint32_t>(value.low), 2 * kReturned);
  if (bytes > sizeof(uint32_t)) {
    registers.poke64(RegisterId::CS_GPR, value.low, kReturned);
  }
  if (bytes > sizeof(uint64_t)) {
    registers.poke64(RegisterId::CS_GPR, value.high, kReturned + 1);
  }
}

Next undefined(const Engine& engine, const Command& command, std::string_view what) {
  engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
               std::string(what));
  return Next::advance();
}

Next atomic(Engine& engine, const Command& command) {
  const auto atomic = command.as<hw::MI_ATOMIC>(engine.gen());
  const size_t bytes = bytes_of(atomic.data_size);
  if (bytes == 0 || atomic.memory_address.value % bytes != 0) {
    return undefined(engine, command, "operand size invalid, or address not aligned to it");
  }
  const bool global = atomic.memory_type == hw::MI_ATOMIC::MemoryType::global_graphics_address;
  const auto target = graphics_target(engine, command, global, atomic.memory_address);
  const memory::AddressSpace::View view = target.space->view(GpuVa{target.address}, memory::kWrite);
  if (!ok(view.result)) {
    return engine.stopped_by_fault(view.result);
  }
  // Replaces memory behind a null page, and memory that does not support atomics: reads as zero, writes are lost.
  alignas(Wide) std::array<std::byte, sizeof(Wide)> nowhere{};
  std::byte* operand = view.bytes.size() >= bytes ? view.bytes.data() : nowhere.data();
  if (operand != nowhere.data() && !engine.services().takes_atomics(view.type_index)) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, atomic.memory_address.value, view.type_index,
                 "atomic operation on a page that is not write-back memory");
    operand = nowhere.data();
  }
  const std::optional<Wide> returned = operate(atomic.atomic_opcode, bytes, operand, operands_of(engine, atomic));
  if (!returned) {
    return undefined(engine, command, "operation not defined for this operand size");
  }
  if (atomic.return_data_control) {
    put_returned(engine, *returned, bytes);
  }
  return Next::advance();
}

}  // namespace

void add_atomic_handlers(HandlerTable& table) {
  table.add(CommandId::MI_ATOMIC, atomic, {{RegisterId::CS_GPR}});
}

}  // namespace halogen::engine
