// Work of several threads of the host that is tried on the memory itself, and taken back as a whole when its order
// would have mattered. It stands if every page was there, nobody was refused, and nothing that a reader read lies in a
// page that a writer wrote: then it is as if it had been done in any order. Pages are found without an effect on the
// real space, which sees them when the work stands. Pages are saved before they are written.
//
// A Trial is for work whose accesses may meet: it keeps what is written apart, which takes longer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_map.h"
#include "memory/trial.h"

namespace halogen::memory {

class Attempt {
 public:
  class Side;

  // Sides are to begin after it.
  void begin(AddressSpace& real);
  // It will not stand.
  void refuse() { refused_.store(true, std::memory_order_relaxed); }
  bool refused() const { return refused_.load(std::memory_order_relaxed); }
  // Whether it stands. If not, all bytes are what they were before.
  bool finish();

 private:
  static constexpr size_t kMostSaved = 4096;

  struct Touch {
    uint64_t page;
    bool write;
    std::byte* frame;
    auto operator<=>(const Touch&) const = default;
  };
  struct Saved {
    std::byte* frame = nullptr;
    std::unique_ptr<std::array<std::byte, kFrameBytes>> bytes;
  };

  std::byte* find(uint64_t page, Access access, bool writer);
  bool is_sound();
  void take_back();

  AddressSpace* real_ = nullptr;
  std::atomic<bool> refused_ = false;
  std::mutex finding_;
  std::vector<Side*> sides_;
  std::vector<Touch> touches_;
  PageMap<Saved> saved_;  // by frame
};

// One thread's way to memory. Writers may read and write: no two of them the same bytes. Readers may only read.
class Attempt::Side final : private Trial::Accessor, private FaultHandler {
 public:
  enum class Kind : uint8_t { reader, writer };

  Side(Attempt& attempt, const PhysicalMemory& memory, Kind kind);
  void begin();
  AddressSpace& space() { return space_; }

 private:
  friend class Attempt;
  static constexpr unsigned kTlbEntries = 256;
  static constexpr size_t kKnown = 64;

  // Pages of late, by number.
  struct Known {
    uint64_t number = ~uint64_t{0};
    std::byte* frame = nullptr;
    bool writable = false;
  };

  std::byte* page(uint64_t number, Access access) override;
  FaultAction on_fault(const Fault& /*fault*/) override { return FaultAction::stop; }

  Attempt& attempt_;
  Kind kind_;
  Tlb tlb_{kTlbEntries};
  AddressSpace space_;
  Trial trial_{this};
  std::array<Known, kKnown> known_{};
  std::vector<Touch> touches_;
};

}  // namespace halogen::memory
