#include "spec/command_table.h"

#include <array>
#include <bit>
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
    if (CommandTable::has(*desc, device, engine)) {
      out.push_back({desc->match_of_gen[gen], desc});
    }
  }
  // More specific first.
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return std::popcount(a.match.mask) > std::popcount(b.match.mask);
  });
  return out;
}

constexpr size_t kSlotCount = 0x10000;

// Calls `act` with every value of header bits 31:16 that the match allows.
template <class Do>
void each_slot(const MatchRule& match, Do&& act) {
  const uint32_t open = ~(match.mask >> 16) & 0xffff;
  uint32_t free = 0;
  do {
    act(match.value >> 16 | free);
    free = (free - open) & open;
  } while (free != 0);
}

}  // namespace

// Candidate lists are built incrementally: list 0 is empty, and each other list is an earlier list plus one candidate.
// A slot's list is searched only among those that the same candidate has created. During construction slots hold list
// numbers, with a mark; at the end they hold the results.
CommandTable::CommandTable(DeviceId device, EngineClass engine)
    : gen_(model(device).gen),
      device_(device),
      engine_(engine),
      slots_(static_cast<Slot*>(std::calloc(kSlotCount, sizeof(Slot)))) {
  check(slots_ != nullptr, "command table: no memory");
  constexpr uint16_t kNumber = 0xffff;  // as a shift
  const std::vector<Candidate> candidates = candidates_of(device, engine);
  struct List {
    uint16_t front;
    uint16_t last;
  };
  std::vector<List> lists(1);
  std::vector<uint16_t> made;  // by earlier list: the list that the candidate has created from it; 0: none
  for (size_t i = 0; i < candidates.size(); ++i) {
    made.assign(lists.size(), 0);
    each_slot(candidates[i].match, [&](uint32_t number) {
      Slot& slot = slots_[number];
      uint16_t& list = made[slot.first];
      if (list == 0) {
        check(lists.size() < kSlotCount, "command table: too many distinct lists");
        list = static_cast<uint16_t>(lists.size());
        lists.push_back({slot.first, static_cast<uint16_t>(i)});
      }
      slot.first = list;
      slot.length.shift = kNumber;
    });
  }
  entries_.push_back({});  // the empty list
  std::vector<Slot> slot_of(lists.size());
  for (const Candidate& candidate : candidates) {
    each_slot(candidate.match, [&](uint32_t number) {
      Slot& slot = slots_[number];
      if (slot.length.shift != kNumber) return;
      Slot& done = slot_of[slot.first];
      if (done.first == 0) {
        std::vector<uint16_t> members;
        for (uint16_t at = slot.first; at != 0; at = lists[at].front) members.push_back(lists[at].last);
        std::reverse(members.begin(), members.end());
        check(entries_.size() + members.size() < kSlotCount, "command table: too many distinct lists");
        done.first = static_cast<uint16_t>(entries_.size());
        for (const uint16_t i : members) {
          entries_.push_back({candidates[i].match, candidates[i].desc, length_of(*candidates[i].desc)});
        }
        entries_.push_back({});
        done.length = entries_[done.first].length;
        for (const Entry* e = &entries_[done.first]; e->desc != nullptr; ++e) {
          if (e->length != done.length) done.length.mask = kMixed;
        }
      }
      slot = done;
    });
  }
}

CommandTable::Length CommandTable::length_of(const CommandDesc& desc) const {
  const LengthRule& rule = desc.length_of_gen[static_cast<size_t>(gen_)];
  if (rule.fixed != 0) return {0, rule.fixed, 0};
  check(rule.width <= 16, desc.name);
  return {static_cast<uint16_t>((1u << rule.width) - 1u), rule.bias, rule.first_bit};
}

bool CommandTable::has(const CommandDesc& desc, DeviceId device, EngineClass engine) {
  const auto gen = static_cast<size_t>(model(device).gen);
  return (desc.devices & mask_of(device)) != 0 && (desc.engines_of_gen[gen] & mask_of(engine)) != 0;
}

const CommandTable& CommandTable::get(DeviceId device, EngineClass engine) {
  // One copy serves the process, because the table is constant data derived from the description, not device state.
  static std::array<std::once_flag, kDeviceCount * kEngineClassCount> once;
  static std::array<std::unique_ptr<CommandTable>, kDeviceCount * kEngineClassCount> tables;
  const size_t index = static_cast<size_t>(device) * kEngineClassCount + static_cast<size_t>(engine);
  std::call_once(once[index], [&] { tables[index] = std::make_unique<CommandTable>(device, engine); });
  return *tables[index];
}

}  // namespace halogen::spec
