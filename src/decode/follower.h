// Follows the pointers of commands and structures, using the rows of pointers.h.
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

  // Stores state that later commands depend on: base addresses, counts.
  void note(const spec::CommandDesc& desc, std::span<const uint32_t> dwords);

  // Adds the targets of the node's pointers as its children, recursively.
  void follow(Node& node) const { follow(node, 0); }

  // State that a context keeps between batches.
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
    uint64_t sure;   // number of elements that certainly exist
  };

  void follow(Node& node, int depth) const;
  void follow_row(Node& node, const PointerRow& row, const FieldValue& pointer, int depth) const;
  bool applies(const Node& node, const PointerRow& row, const FieldValue& pointer) const;
  // No value: the row is for other generations, or its count is zero.
  std::optional<Count> count_of(const Node& node, const PointerRow& row, const FieldValue& pointer,
                                uint64_t address) const;
  void follow_structures(Node& node, const spec::StructDesc& desc, const std::string& label, GpuVa address,
                         const Count& count, int depth) const;
  void follow_binding_table(Node& node, const std::string& label, GpuVa address, const Count& count, int depth) const;
  void add_kernel(Node& node, const std::string& label, GpuVa address) const;
  void add_data(Node& node, const std::string& label, GpuVa address, uint64_t bytes) const;
  // False: the memory ends.
  bool add_structure(Node& node, const spec::StructDesc& desc, std::string label, GpuVa address, bool guessed,
                     int depth) const;
  static void add_missing(Node& node, const std::string& label, GpuVa address);

  spec::GenId gen_;
  MemoryImage& memory_;
  const spec::StructDesc* surface_state_;
  const spec::StructDesc* binding_table_entry_;
  State state_;
};

// Counts structures below a node that have reserved bits set, except assumed structures.
uint64_t count_reserved(const Node& node);

}  // namespace halogen::decode
