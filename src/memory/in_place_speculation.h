// Speculative accesses in place, with an undo log. Several threads of the host work on the memory itself, and all of
// the work is rolled back if its order could have been observed. The work is kept if every page was present, no access
// was refused, and no page that a reader read was written: any order would then have given the same result. Pages are
// looked up without an effect on the real space, which sees the look-ups only if the work is kept. A page is saved
// before its first write.
//
// BufferedSpeculation is for work whose accesses may conflict. It buffers writes, which is slower.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/address_space.h"
#include "memory/buffered_speculation.h"
#include "memory/page_map.h"

namespace halogen::memory {

class InPlaceSpeculation {
 public:
  class Side;

  // Starts new work. Every Side begins after it.
  void begin(AddressSpace& real);
  // Makes finish() roll the work back.
  void refuse() { refused_.store(true, std::memory_order_relaxed); }
  bool refused() const { return refused_.load(std::memory_order_relaxed); }
  // Returns whether the work is kept. False: it was rolled back, and memory is unchanged.
  bool finish();

 private:
  static constexpr size_t kMaxSaved = 4096;

  struct Touch {
    uint64_t page;
    Direction direction;
    std::byte* frame;
    auto operator<=>(const Touch&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
  };
  struct Saved {
    std::byte* frame = nullptr;
    std::unique_ptr<std::array<std::byte, kFrameBytes>> bytes;
  };

  std::byte* find(uint64_t page, Access access, bool writer);
  bool is_sound();
  void roll_back();

  AddressSpace* real_ = nullptr;
  std::atomic<bool> refused_ = false;
  std::mutex finding_;
  std::vector<Side*> sides_;
  std::vector<Touch> touches_;
  PageMap<Saved> saved_;  // by frame
};

// One thread's access to memory. Writers may read and write, but no two of them the same bytes. Readers may only read.
class InPlaceSpeculation::Side final : private BufferedSpeculation::Accessor, private FaultHandler {
 public:
  enum class Kind : uint8_t { reader, writer };

  Side(InPlaceSpeculation& parent, const PhysicalMemory& memory, Kind kind);
  void begin();
  AddressSpace& space() { return space_; }

 private:
  friend class InPlaceSpeculation;
  static constexpr unsigned kTlbEntries = 256;
  static constexpr size_t kKnown = 64;

  // Recently used pages, by page number.
  struct Known {
    uint64_t number = ~uint64_t{0};
    std::byte* frame = nullptr;
    bool writable = false;
  };

  std::byte* page(uint64_t number, Access access) override;
  FaultAction on_fault(const Fault& /*fault*/) override { return FaultAction::stop; }

  InPlaceSpeculation& parent_;
  Kind kind_;
  Tlb tlb_{kTlbEntries};
  AddressSpace space_;
  BufferedSpeculation accesses_{this};
  std::array<Known, kKnown> known_{};
  std::vector<Touch> touches_;
};

}  // namespace halogen::memory
