#include "mmio/register_answer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "mmio/storage.h"

namespace halogen::mmio {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"unclaimed", "storage", "semantics"};

std::string name_of(const RegisterSlot& slot) {
  std::string name(slot.desc->name);
  if (slot.engine != nullptr) {
    name += fmt::format(":{}", slot.engine->name);
  }
  if (slot.desc->count > 1) {
    name += fmt::format("[{}]", slot.index);
  }
  if (slot.dword != 0) {
    name += fmt::format("+{}", 4 * slot.dword);
  }
  return name;
}

// Names an offset that has no description but is in one of the chip's tables.
std::string_view table_of(MmioSpace& space, uint32_t offset) {
  if (space.wake().is_request(offset) || space.wake().is_ack(offset)) {
    return "(wake-port)";
  }
  if (space.steering().is_selector(offset) || space.steering().fuse_reflection(offset)) {
    return "(steering)";
  }
  const auto nulls = spec::null_ranges(space.generation().model().id);
  const auto holds = [offset](const spec::MmioRange& range) { return offset >= range.start && offset <= range.end; };
  return std::ranges::any_of(nulls, holds) ? "(hypervisor)" : "";
}

}  // namespace

std::string_view name_of(AnswerClass answer) {
  return kNames[static_cast<size_t>(answer)];
}

std::optional<AnswerClass> answer_class_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<AnswerClass>(found - kNames.begin()));
}

RegisterAnswer answer_at(MmioSpace& space, uint32_t offset) {
  if (Vga::contains(offset)) {
    return {AnswerClass::semantics, "(VGA)"};
  }
  const RegisterSlot* slot = space.bank().find(offset);
  if (slot != nullptr && !slot->endpoint) {
    return {};
  }
  if (slot != nullptr) {
    return {is_storage(*slot, space.generation().model().id) ? AnswerClass::storage : AnswerClass::semantics,
            name_of(*slot)};
  }
  const std::string_view table = table_of(space, offset);
  return table.empty() ? RegisterAnswer{} : RegisterAnswer{AnswerClass::semantics, std::string(table)};
}

}  // namespace halogen::mmio
