// Remembers the surfaces that were used with compression state, and finds uses that cannot decode the state of a block:
// a resolve that software has forgotten. It exists only if rules are checked. Surfaces are recognised by the physical
// address of their first byte, so a surface that another address space or the display uses is known too. A surface is
// forgotten when its address, or that of its states, leads to other memory, when other data are written over its first
// byte, and when a surface of another size takes its place.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gen/tiling_rules.h"
#include "memory/address_space.h"
#include "message/surface.h"
#include "message/surface_uses.h"

namespace halogen::message {

class StateWatch {
 public:
  struct PhysicalByte {
    memory::MemorySpace space = memory::MemorySpace::system;
    uint64_t address = 0;

    bool operator==(const PhysicalByte&) const = default;
  };

  // A surface with states.
  struct Known {
    Surface surface;  // all layers
    uint32_t element_B = 1;
    uint32_t layers = 1;
    uint64_t bytes = 0;  // an upper bound
    PhysicalByte first{};
    // The states: of each 4 KB of them, or of each 64 KB of the surface if the auxiliary table gives their place.
    std::vector<std::optional<PhysicalByte>> pages{};
    uint32_t reported = 0;  // a bit for each client and cause
  };

  // A rectangle of a surface, relative to its base.
  struct Box {
    uint64_t x_B = 0;
    uint64_t end_x_B = 0;
    uint64_t row = 0;
    uint64_t end_row = 0;
  };
  // A use whose client does not look at states, or not at all of them.
  struct Use {
    MemoryClient client{};
    uint64_t base = 0;
    const surface::TilePattern* pattern = nullptr;
    uint64_t pitch_B = 0;
    uint64_t bytes = 1;  // an upper bound
    std::vector<Box> boxes{};
    bool writes = false;
    bool decodes_clear = false;  // only compressed blocks are not decoded
  };

  enum class Cause : uint8_t { reads_clear, reads_compressed, hides_write, typed_message };
  // The first block that a use cannot decode.
  struct Finding {
    Cause cause{};
    surface::BlockState state{};
    surface::StateForm form{};
    uint64_t base = 0;  // of the surface as it was used with states
    uint64_t states = 0;
    uint32_t width = 0;
    uint32_t height = 0;
    surface::BlockIndex block{};  // column and row in elements
  };

  // Notes a surface that is used with its states.
  void bind(const Surface& surface, uint32_t element_B, memory::AddressSpace& space);
  // Returns what is wrong with a use. No value: nothing, or it was found before.
  std::optional<Finding> check(const Use& use, memory::AddressSpace& space);
  // Returns the same for a surface that threads have named, after noting it if it is used with states.
  std::optional<Finding> check(const SurfaceBinding& binding, memory::AddressSpace& space);
  // Returns the surface whose first byte is at an address. Null: it is not known. Valid until the next bind().
  const Known* find(uint64_t base, memory::AddressSpace& space) const;

 private:
  Known* find_same(const Known& wanted);
  void make_place(const Known& wanted, memory::AddressSpace& space);
  std::optional<Finding> check(const Use& use, uint64_t shift_B, Known& known, const memory::PhysicalMemory& memory);
  std::optional<Finding> check_typed(const Surface& surface, memory::AddressSpace& space);

  std::deque<Known> known_;  // the oldest first
};

// Returns what a client does wrong, and the missing operation, for the detail of an Event.
std::string describe(MemoryClient client, const StateWatch::Finding& finding);

// The states of a known surface, one after the other.
class StateReader {
 public:
  StateReader(const StateWatch::Known& known, const memory::PhysicalMemory& memory)
      : known_(&known), memory_(&memory) {}

  // Returns the state of the block of a level of a layer. `place`: of the level in the surface.
  surface::BlockState read(const surface::BlockIndex& block, const ImagePlace& place);

 private:
  const StateWatch::Known* known_;
  const memory::PhysicalMemory* memory_;
  StateWatch::PhysicalByte frame_at_;
  const std::byte* frame_ = nullptr;
};

// The size of a level of a known surface, in elements. Samples side by side are elements.
uint32_t level_columns(const StateWatch::Known& known, uint32_t level);
uint32_t level_rows(const StateWatch::Known& known, uint32_t level);
// Returns whether the place of a level's states is known. On Gen6 the address is that of the level in use.
bool has_states_of(const StateWatch::Known& known, uint32_t level);

}  // namespace halogen::message
