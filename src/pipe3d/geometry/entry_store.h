// Entries of one stage in the unified return buffer, by number. Their size is what the stage needs. Not modelled: the
// division of the buffer between stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipe3d/geometry/primitive.h"

namespace halogen::pipe3d {

// A copy of all entries of a store. It is plain data.
struct SavedEntries {
  uint32_t slots = 0;
  std::vector<Slot> memory;

  bool operator==(const SavedEntries&) const = default;
};

class EntryStore {
 public:
  // Drops all entries. Each new entry has `slots` slots of zeros.
  void begin(uint32_t slots);
  uint32_t slots() const { return slots_; }
  uint32_t count() const { return count_; }
  // Returns the handle of a new entry.
  uint32_t add();
  std::span<Slot> entry(uint32_t handle) {
    return handle < count_ ? std::span(memory_).subspan(size_t{handle} * slots_, slots_) : std::span<Slot>();
  }
  std::span<const Slot> entry(uint32_t handle) const {
    return handle < count_ ? std::span(memory_).subspan(size_t{handle} * slots_, slots_) : std::span<const Slot>();
  }
  void drop_after(uint32_t count) { count_ = count < count_ ? count : count_; }
  void move(uint32_t from, uint32_t to);
  SavedEntries save() const;
  // Replaces all entries. Their size becomes `slots`: longer ones are cut, shorter ones end with zeros.
  void load(const SavedEntries& saved, uint32_t slots);

 private:
  uint32_t slots_ = 0;
  uint32_t count_ = 0;
  std::vector<Slot> memory_;
};

}  // namespace halogen::pipe3d
