#include "spec/command_table.h"

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "spec/device_model.h"

namespace halogen::spec {

namespace {

struct Candidate {
  MatchRule match;
  const CommandDesc* desc;
};

std::vector<Candidate> candidates_of(DeviceId device, EngineClass engine) {
  const auto gen = static_cast<size_t>(model(device).gen);
  std::vector<Candidate> out;
  for (const CommandDesc* desc : commands()) {
    if ((desc->devices & mask_of(device)) != 0 && (desc->engines_of_gen[gen] & mask_of(engine)) != 0) {
      out.push_back({desc->match_of_gen[gen], desc});
    }
  }
  // More specific first.
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return std::popcount(a.match.mask) > std::popcount(b.match.mask);
  });
  return out;
}

}  // namespace

CommandTable::CommandTable(DeviceId device, EngineClass engine)
    : gen_(model(device).gen), device_(device), engine_(engine), slots_(0x10000) {
  const std::vector<Candidate> candidates = candidates_of(device, engine);
  std::vector<std::vector<uint16_t>> slots(0x10000);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint32_t mask = candidates[i].match.mask >> 16;
    const uint32_t value = candidates[i].match.value >> 16;
    // Every combination of the upper bits that the match leaves free.
    const uint32_t open = ~mask & 0xffff;
    uint32_t free = 0;
    do {
      slots[value | free].push_back(static_cast<uint16_t>(i));
      free = (free - open) & open;
    } while (free != 0);
  }
  entries_.push_back({});  // the empty list
  std::map<std::vector<uint16_t>, uint16_t> lists;
  lists[{}] = 0;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    auto [it, is_new] = lists.try_emplace(slots[slot], static_cast<uint16_t>(entries_.size()));
    if (is_new) {
      for (const uint16_t i : slots[slot])
        entries_.push_back({candidates[i].match, candidates[i].desc, length_of(*candidates[i].desc)});
      entries_.push_back({});
      check(entries_.size() < 0x10000, "command table: too many distinct lists");
    }
    slots_[slot].first = it->second;
    slots_[slot].length = entries_[it->second].length;
    for (const Entry* e = &entries_[it->second]; e->desc != nullptr; ++e) {
      if (e->length != slots_[slot].length) slots_[slot].length.mask = kMixed;
    }
  }
}

CommandTable::Length CommandTable::length_of(const CommandDesc& desc) const {
  const LengthRule& rule = desc.length_of_gen[static_cast<size_t>(gen_)];
  if (rule.fixed != 0) return {0, rule.fixed, 0};
  check(rule.width <= 16, desc.name);
  return {static_cast<uint16_t>((1u << rule.width) - 1u), rule.bias, rule.first_bit};
}

const CommandTable& CommandTable::get(DeviceId device, EngineClass engine) {
  // Constant data derived from the description, not state of a device: one copy for the process.
  static std::array<std::once_flag, kDeviceCount * kEngineClassCount> once;
  static std::array<std::unique_ptr<CommandTable>, kDeviceCount * kEngineClassCount> tables;
  const size_t index = static_cast<size_t>(device) * kEngineClassCount + static_cast<size_t>(engine);
  std::call_once(once[index], [&] { tables[index] = std::make_unique<CommandTable>(device, engine); });
  return *tables[index];
}

}  // namespace halogen::spec
