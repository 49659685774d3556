// Worlds of random page tables for the differential test and the fuzzer. A frame is created at its first access, full
// of entries that point at each other, at themselves, at large pages or at unmapped memory. Every frame exists twice,
// once for src/memory and once for the slow walker, so that the writes of both sides can be compared.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "memory/walker.h"
#include "slow_walker.h"
#include "spec/device_model.h"

namespace halogen::memory::worlds {

// splitmix64: small and portable.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15u);
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool percent(unsigned chance) { return below(100) < chance; }

 private:
  uint64_t state_;
};

struct WorldKind {
  const spec::DeviceModel* model = nullptr;
  memory::WalkMode mode = memory::WalkMode::ggtt;
  unsigned haw = 39;
};

// Every device with every mode that it has, and the address widths that the manual names.
std::vector<WorldKind> all_kinds();
std::string name_of(const WorldKind& kind);

class World {
 public:
  World(const WorldKind& kind, uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const PhysicalMemory& memory() const { return memory_; }
  const WalkContext& context() const { return context_; }
  const slow::Context& slow_context() const { return slow_context_; }
  slow::Memory& slow_memory();
  std::byte* fast_frame(MemorySpace space, uint64_t number);

  // Returns an address in or near the range of the mode, often near an earlier one.
  uint64_t random_address(Random& random);
  // Reduces any number to an address that the mode can name.
  uint64_t in_range(uint64_t number) const;
  // Returns the result of the manual's walk; sets A and D bits in the slow copy if `update`.
  slow::Outcome expect(uint64_t address, Access access, bool update = true);
  // Changes bits of the eight bytes around `address` in both copies. False: they are unmapped.
  bool flip(MemorySpace space, uint64_t address, uint64_t bits);
  // Sets another root; any number is allowed.
  void set_root(unsigned which, uint64_t address);
  // Moves the frames of src/memory's copy to other host addresses, as if the host gave other memory.
  void move_frames();

  // Copies the frames of src/memory's copy to the slow copy.
  void adopt();
  // Compares all frames that either side accessed. Returns the first difference, or an empty text.
  std::string compare_memory();

 private:
  class Frames;
  class SlowFrames;

  void add_windows();
  bool exists(MemorySpace space, uint64_t number) const;
  void generate(MemorySpace space, uint64_t number, std::byte* into) const;
  uint64_t random_entry(Random& random) const;
  uint64_t random_dword_entry(Random& random) const;

  WorldKind kind_;
  uint64_t seed_;
  unsigned hostility_ = 0;  // percentage of invalid entries
  std::unique_ptr<PageFormats> formats_;
  std::vector<uint64_t> pool_;  // frame numbers that entries often name
  std::vector<uint64_t> recent_;
  std::vector<std::unique_ptr<Frames>> fast_;
  std::unique_ptr<SlowFrames> slow_;
  uint64_t second_window_ = 0;  // first frame
  uint64_t second_frames_ = 0;
  PhysicalMemory memory_;
  WalkContext context_;
  slow::Context slow_context_;
};

// An AddressSpace and the slow walker performing the same accesses. Every function returns the difference, or an empty
// text.
class SpaceTwin final : public FaultHandler {
 public:
  SpaceTwin(World& world, unsigned tlb_entries, SpaceTag tag = 1);

  void set_action(FaultAction action) { action_ = action; }
  std::string read(uint64_t address, size_t bytes, bool instruction);
  std::string write(uint64_t address, std::span<const std::byte> data);
  std::string read_each(std::span<const GpuVa> addresses, size_t bytes);
  std::string write_each(std::span<const GpuVa> addresses, size_t bytes, std::span<const std::byte> data);
  std::string view(uint64_t address, Access access);
  void reload();  // the context of the world changed
  AddressSpace& space() { return space_; }
  const Tlb& tlb() const { return tlb_; }

 private:
  struct Found {
    FaultReason reason;
    uint64_t address;
    bool operator==(const Found&) const = default;
  };
  struct Part {
    FaultReason reason = FaultReason::none;
    uint8_t* bytes = nullptr;  // slow copy; null: unmapped
    MemorySpace space = MemorySpace::system;
    uint64_t number = 0;
  };

  FaultAction on_fault(const Fault& fault) override;
  Part translate(uint64_t address, Access access, bool update = true);
  struct Target {
    uint8_t* to;
    size_t from;
    size_t bytes;
  };
  bool expect_read(uint64_t address, std::span<std::byte> into, Access access, std::vector<Found>& faults);
  bool expect_write(uint64_t address, size_t from, size_t bytes, std::vector<Target>& targets,
                    std::vector<Found>& faults);
  bool changes_tables(uint64_t address, size_t bytes);
  std::string compare_faults(const std::vector<Found>& expected) const;

  World* world_;
  Tlb tlb_;
  AddressSpace space_;
  FaultAction action_ = FaultAction::skip;
  std::vector<Found> found_;
  std::set<uint64_t> tables_;  // frames of table_space that a walk has read
};

// Performs one walk on both sides; returns the difference.
std::string compare_walk(World& world, uint64_t address, Access access);

}  // namespace halogen::memory::worlds
