// The state of a stopped thread: each answer as text and as one line of JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compute/observer.h"
#include "debugger/region.h"
#include "eu/isa/instruction.h"

namespace halogen::debugger {

struct Answer {
  std::string text;  // complete lines
  std::string json;  // without a line end
};

// Reads memory through the tables of a dispatch without any effect on the device. False: a part is not mapped and reads
// zero.
using ReadMemory = std::function<bool(const memory::WalkContext& tables, uint64_t address, std::span<std::byte> into)>;

Answer error_answer(std::string_view sentence);
Result<Answer> show_registers(const eu::Thread& thread, const RegisterRegion& first, unsigned count);
Result<Answer> show_region(const eu::Thread& thread, const RegisterRegion& region, unsigned count);
Answer show_arf(const eu::Thread& thread);
Answer show_masks(const eu::Thread& thread);
Answer show_memory(uint64_t address, std::span<const std::byte> bytes, bool mapped);

// Returns the instruction at an offset as text. Code that the kernel has not decoded is read from memory.
std::string instruction_text(const compute::Moment& moment, uint32_t offset, const ReadMemory& read);
// Returns the instruction at an offset. No value: its memory is not mapped.
std::optional<eu::Instruction> instruction_at(const compute::Moment& moment, uint32_t offset, const ReadMemory& read);
// Lists `count` instructions from `from` on, or around ip.
Answer show_code(const compute::Moment& moment, std::optional<uint32_t> from, unsigned count,
                 const std::set<uint32_t>& breaks, const ReadMemory& read);

std::string hex_bytes(std::span<const std::byte> bytes);

}  // namespace halogen::debugger
