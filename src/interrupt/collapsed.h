// The interrupt aggregation logic of Gen11 and Gen12, up to the two dword events: DG1 PRM vol. 13, Interrupts (seed
// 000). A message of a source is ANDed with the enable of its class (disabled events are lost) and latched in the
// collapsing register of the source. Latched bits that the source's mask passes set one bit of a double-buffered second
// level. Software reads that level, selects one source at a time and reads its events in the shared identity register.
// The hardware scheduler has a parallel path: the same messages, its own enables, two vectors. Its registers are not
// published, so the path is state only. Not modelled: virtual functions (messages for them are reported and dropped).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/event.h"
#include "interrupt/names.h"
#include "mmio/register_bank.h"

namespace halogen::interrupt {

// State outside of registers: plain data.
struct CollapsedState {
  std::vector<uint16_t> latched;            // by source: the collapsing registers
  std::array<uint32_t, kDwords> waiting{};  // second level events that arrived while the first are served
  std::array<bool, kDwords> locked{};       // software has read the dword and has not cleared all of it
  std::array<uint32_t, kDwords> served{};   // by dword: sources whose identity was read
  std::vector<uint16_t> scheduler_enables;  // by source
  std::vector<uint16_t> scheduler_latched;  // by source
  std::array<uint32_t, kDwords> scheduler_vectors{};
  std::vector<uint8_t> fault_repair;  // by source: whether page faults pass its mask

  bool operator==(const CollapsedState&) const = default;
};

class Collapsed {
 public:
  Collapsed(mmio::RegisterBank& registers, spec::GenId gen, EventSink& events, std::string path);

  bool exists() const { return !sources_.empty(); }
  uint32_t pending(unsigned dword) const { return registers_.peek(*pending_[dword]); }

  // Delivers a message of an engine or unit, in the layout of INTERRUPT_MESSAGE.
  void deliver(uint32_t message);
  // With fault repair the page fault bits of an engine's vector bypass its mask.
  void set_page_fault_bits(uint16_t bits) { page_fault_bits_ = bits; }
  void set_fault_repair(hw::InterruptClass engine_class, unsigned instance, bool on);

  // Accesses by software. The register already holds the written value.
  void pending_read(unsigned dword);
  void pending_written(unsigned dword, uint32_t cleared);
  bool bring_back(unsigned dword);  // true: waiting events became pending
  void selector_written(unsigned dword, uint32_t old_value);
  void identity_written(unsigned dword, uint32_t old_value);  // a one was written to the valid bit
  void mask_written(const mmio::RegisterSlot& slot, uint32_t old_value);

  const std::array<const mmio::RegisterSlot*, kDwords>& pending_slots() const { return pending_; }
  const std::array<const mmio::RegisterSlot*, kDwords>& selector_slots() const { return selector_; }
  const std::array<const mmio::RegisterSlot*, kDwords>& identity_slots() const { return identity_; }
  std::vector<const mmio::RegisterSlot*> mask_slots() const;
  uint32_t valid_bit(unsigned dword) const { return valid_[dword]; }

  // The path of the hardware scheduler.
  void set_scheduler_enables(hw::InterruptClass engine_class, uint16_t events);
  uint16_t take_scheduler_events(unsigned vector, unsigned bit);

  // Registers were reset by another unit.
  void refresh();
  void reset();
  const CollapsedState& state() const { return state_; }
  CollapsedState& state() { return state_; }

 private:
  struct Source {
    const SourceNames* names;
    uint8_t dword;
    uint32_t bit;
    const mmio::RegisterSlot* enable;
    uint8_t enable_shift;
    const mmio::RegisterSlot* mask;
    uint8_t mask_shift;
  };

  uint16_t enabled(const Source& source) const;
  uint16_t open(const Source& source, uint32_t mask) const;
  uint16_t unmasked(const Source& source) const;
  int find(unsigned dword, uint32_t bit) const;
  void second_level(const Source& source);
  void put_back(unsigned dword, uint32_t identity);
  void raise(EventKind kind, std::string_view item, uint64_t value, std::string detail);

  mmio::RegisterBank& registers_;
  spec::GenId gen_;
  EventSink& events_;
  std::string path_;
  std::vector<Source> sources_;
  std::array<const mmio::RegisterSlot*, kDwords> pending_{};
  std::array<const mmio::RegisterSlot*, kDwords> selector_{};
  std::array<const mmio::RegisterSlot*, kDwords> identity_{};
  std::array<uint32_t, kDwords> valid_{};
  uint16_t page_fault_bits_ = 0;
  CollapsedState state_;
};

}  // namespace halogen::interrupt
