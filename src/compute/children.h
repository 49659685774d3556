// Threads of a media dispatch that exchange messages: their gateways, the children that they start, and the rows of the
// URB that children start with. A child is a group of one thread. Turns of such a dispatch run one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/event.h"
#include "compute/compute_state.h"
#include "gen/generation.h"
#include "memory/address_space.h"
#include "message/exchange.h"
#include "message/urb.h"

namespace halogen::compute {

// The maximum number of threads and waiting children of a dispatch that starts children. A thread that asks for one
// more waits.
inline constexpr uint32_t kMaxFamily = 128;

class Children final : public message::Exchange, public message::Urb {
 public:
  Children(const Generation& generation, Walk& walk, memory::AddressSpace& space, EventSink* events,
           const std::string& path)
      : generation_(generation), walk_(walk), space_(space), events_(events), path_(path) {}

  Party find(uint16_t thread) override;
  eu::SendOutcome spawn(const message::ChildRequest& request) override;
  bool is_child(uint16_t thread) override;
  void exchanged() override { ++walk_.exchanged; }
  void report(message::ExchangeMistake mistake, const eu::Thread& thread, uint32_t value) override;
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override;

  bool can_start() const { return !walk_.waiting.empty() && free_slot().has_value(); }
  // Puts the first waiting child into a free slot. Null: none waits, or no slot is free.
  const KernelState* start_next(const Settings& settings);

 private:
  std::optional<uint32_t> free_slot() const;
  uint32_t row_count() const;
  void fill(const Settings& settings, const Child& child, uint32_t slot);

  const Generation& generation_;
  Walk& walk_;
  memory::AddressSpace& space_;
  EventSink* events_;
  const std::string& path_;
};

// Returns the first of `count` free slots in a row below `limit`.
std::optional<uint32_t> find_slots(const Walk& walk, uint32_t count, uint32_t limit);
// Returns the number of a group that is not live, after adding one if necessary.
uint32_t free_group(Walk& walk);

}  // namespace halogen::compute
