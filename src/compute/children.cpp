#include "compute/children.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "compute/commands.h"
#include "compute/payload.h"
#include "gen/message_rules.h"

namespace halogen::compute {
namespace {

using message::ExchangeMistake;

constexpr uint32_t kRowDwords = 8;
constexpr uint32_t kRowsOfHandle = 2;  // handles count 64 bytes

std::string_view text_of(ExchangeMistake mistake) {
  switch (mistake) {
    case ExchangeMistake::opened_twice:
      return "gateway opened twice; the second replaces the first";
    case ExchangeMistake::not_open:
      return "gateway closed that was not open";
    case ExchangeMistake::registers_missing:
      return "gateway not opened; it would extend beyond the registers";
    case ExchangeMistake::no_thread:
      return "message dropped; the target thread does not exist";
    case ExchangeMistake::gateway_closed:
      return "message dropped; the target's gateway is closed";
    case ExchangeMistake::wrong_key:
      return "message dropped; its key is not that of the target's gateway";
    case ExchangeMistake::wrong_length:
      return "message dropped; its length code is reserved";
    case ExchangeMistake::unequal_bytes:
      return "message of one byte whose first four bytes differ; the first is written";
    case ExchangeMistake::beyond_gateway:
      return "message dropped; it would extend beyond the target's gateway";
    case ExchangeMistake::rows_missing:
      return "URB rows beyond the last are not written, and children read them as zero";
    case ExchangeMistake::wrong_requester:
      return "thread ends as the other kind, root or child; it ends";
    case ExchangeMistake::not_ended:
      return "message without effect; resources are returned when the thread ends";
  }
  return {};
}

}  // namespace

std::optional<uint32_t> find_slots(const Walk& walk, uint32_t count, uint32_t limit) {
  uint32_t run = 0;
  for (uint32_t slot = 0; slot < limit; ++slot) {
    run = slot < walk.threads.size() && walk.threads[slot].used ? 0 : run + 1;
    if (run == count) {
      return slot + 1 - count;
    }
  }
  return std::nullopt;
}

uint32_t free_group(Walk& walk) {
  const auto free = std::ranges::find(walk.groups, false, &Group::live);
  const auto number = static_cast<uint32_t>(free - walk.groups.begin());
  if (free == walk.groups.end()) {
    walk.groups.emplace_back();
  }
  return number;
}

message::Exchange::Party Children::find(uint16_t thread) {
  if (thread >= walk_.threads.size()) {
    return {};
  }
  ThreadSlot& slot = walk_.threads[thread];
  return slot.used && slot.thread.status != eu::ThreadStatus::ended ? Party{&slot.thread, &slot.gateway} : Party{};
}

bool Children::is_child(uint16_t thread) {
  const Party party = find(thread);
  return party.thread != nullptr && walk_.groups[party.thread->group].child.has_value();
}

void Children::report(ExchangeMistake mistake, const eu::Thread& thread, uint32_t value) {
  const uint32_t bit = 1u << static_cast<unsigned>(mistake);
  if ((walk_.mistakes & bit) == 0 && events_ != nullptr) {
    events_->on_event({EventKind::undefined_behaviour, "EU", path_, thread.ip, value, std::string(text_of(mistake))});
  }
  walk_.mistakes |= bit;
}

uint32_t Children::row_count() const {
  return message_rules(generation_.id()).spawner_rows;
}

std::span<uint32_t> Children::entry(eu::Thread& thread, uint32_t handle) {
  exchanged();
  walk_.urb.resize(size_t{row_count()} * kRowDwords);
  const size_t first = size_t{handle} * kRowsOfHandle * kRowDwords;
  if (first >= walk_.urb.size()) {
    report(ExchangeMistake::rows_missing, thread, handle);
    return {};
  }
  return std::span(walk_.urb).subspan(first);
}

eu::SendOutcome Children::spawn(const message::ChildRequest& request) {
  const auto used = static_cast<size_t>(std::ranges::count(walk_.threads, true, &ThreadSlot::used));
  if (used + walk_.waiting.size() >= kMaxFamily) {
    return eu::SendOutcome::blocked;
  }
  Child child{.first_row = request.first_row, .rows = request.rows};
  if (!ok(read_kernel_state(generation_, walk_.job.bases, request.descriptor, space_, child.kernel_state))) {
    return eu::SendOutcome::fault;
  }
  walk_.waiting.push_back(child);
  exchanged();
  return eu::SendOutcome::done;
}

// Initialises the thread of a child: its registers are rows of the URB.
void Children::fill(const Settings& settings, const Child& child, uint32_t slot) {
  ThreadSlot& place = walk_.threads[slot];
  place = {.used = true};
  eu::Thread& thread = place.thread;
  const size_t first = size_t{child.first_row} * kRowDwords;
  const size_t there = walk_.urb.size() > first ? walk_.urb.size() - first : 0;
  const size_t wanted = size_t{child.rows} * kRowDwords;
  if (there != 0) {
    std::memcpy(thread.grf.data(), walk_.urb.data() + first, std::min(wanted, there) * sizeof(uint32_t));
  }
  if (size_t{child.first_row} + child.rows > row_count()) {
    report(ExchangeMistake::rows_missing, thread, child.first_row);
  }
  start_thread(settings, child.kernel_state, slot, static_cast<uint32_t>(low_mask(walk_.job.simd)), thread);
}

std::optional<uint32_t> Children::free_slot() const {
  return find_slots(walk_, 1, std::max(walk_.job.slots, kMaxFamily));
}

const KernelState* Children::start_next(const Settings& settings) {
  if (walk_.waiting.empty()) {
    return nullptr;
  }
  const std::optional<uint32_t> slot = free_slot();
  if (!slot) {
    return nullptr;
  }
  const Child child = walk_.waiting.front();
  walk_.waiting.erase(walk_.waiting.begin());
  walk_.threads.resize(std::max<size_t>(walk_.threads.size(), *slot + 1));
  fill(settings, child, *slot);
  const uint32_t number = free_group(walk_);
  walk_.threads[*slot].thread.group = number;
  walk_.groups[number] = {.live = true, .first_slot = *slot, .threads = 1, .child = child.kernel_state};
  return &*walk_.groups[number].child;
}

}  // namespace halogen::compute
