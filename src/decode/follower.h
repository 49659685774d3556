// Follows the pointers of commands and structures to what they point to, by the rows of pointers.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode/memory_image.h"
#include "decode/output.h"
#include "decode/pointers.h"

namespace halogen::decode {

class Follower {
 public:
  Follower(spec::GenId gen, MemoryImage& memory);

  // Remembers what later commands depend on: base addresses, counts.
  void note(const spec::CommandDesc& desc, std::span<const uint32_t> dwords);

  // Adds what the node's fields point to as its children, and theirs.
  void follow(Node& node) const { follow(node, 0); }

  // What a context keeps from one batch to the next.
  struct State {
    StateBases bases;
    std::unordered_map<std::string_view, std::vector<uint32_t>> last;  // the last command of each name
  };
  const State& state() const { return state_; }
  void set_state(State state) { state_ = std::move(state); }

 private:
  struct Count {
    uint64_t elements;
    uint64_t bytes;  // of data; 0: unknown
    uint64_t sure;   // so many of the elements are really there
  };

  void follow(Node& node, int depth) const;
  void follow_row(Node& node, const PointerRow& row, const FieldValue& pointer, int depth) const;
  bool applies(const Node& node, const PointerRow& row, const FieldValue& pointer) const;
  // Nothing when the row is meant for other generations, or counts nothing.
  std::optional<Count> count_of(const Node& node, const PointerRow& row, const FieldValue& pointer,
                                uint64_t address) const;
  void follow_structures(Node& node, const spec::StructDesc& desc, const std::string& label, GpuVa address,
                         const Count& count, int depth) const;
  void follow_binding_table(Node& node, const std::string& label, GpuVa address, const Count& count, int depth) const;
  void add_kernel(Node& node, const std::string& label, GpuVa address) const;
  void add_data(Node& node, const std::string& label, GpuVa address, uint64_t bytes) const;
  // False where the memory ends.
  bool add_structure(Node& node, const spec::StructDesc& desc, std::string label, GpuVa address, bool guessed,
                     int depth) const;
  static void add_missing(Node& node, const std::string& label, GpuVa address);

  spec::GenId gen_;
  MemoryImage& memory_;
  const spec::StructDesc* surface_state_;
  const spec::StructDesc* binding_table_entry_;
  State state_;
};

// Structures of a node and its children that have reserved bits set; guesses do not count.
uint64_t count_reserved(const Node& node);

}  // namespace halogen::decode
