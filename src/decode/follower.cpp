#include "decode/follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/graphics_address.h"
#include "spec/field_visitor.h"

namespace halogen::decode {
namespace {

constexpr int kMaxDepth = 6;
constexpr uint64_t kMaxElements = 256;
constexpr uint64_t kGuessedTableEntries = 32;
constexpr size_t kPreviewDwords = 16;
constexpr uint32_t kOldEntryMask = ~uint32_t{0x1f};  // alignment of surface states, where the entry has no description

bool is_pointer(const spec::FieldDesc& field) {
  return field.type == spec::FieldType::offset || field.type == spec::FieldType::gpu_va ||
         field.type == spec::FieldType::ggtt;
}

}  // namespace

Follower::Follower(spec::GenId gen, MemoryImage& memory)
    : gen_(gen),
      memory_(memory),
      surface_state_(spec::find_struct("RENDER_SURFACE_STATE")),
      binding_table_entry_(spec::find_struct("BINDING_TABLE_STATE")) {
  if (binding_table_entry_ != nullptr && binding_table_entry_->layout(gen) == nullptr) binding_table_entry_ = nullptr;
}

void Follower::note(const spec::CommandDesc& desc, std::span<const uint32_t> dwords) {
  state_.bases.update(desc, gen_, dwords);
  state_.last[desc.name].assign(dwords.begin(), dwords.end());
}

void Follower::follow(Node& node, int depth) const {
  if (depth >= kMaxDepth) return;
  for (size_t i = 0; i < node.fields.fields.size(); ++i) {
    const FieldValue& field = node.fields.fields[i];
    if (!is_pointer(*field.desc)) continue;
    for (const PointerRow& row : pointer_rows_of(field.owner->name)) {
      if (row.field == field.desc->name) follow_row(node, row, field, depth);
    }
  }
}

bool Follower::applies(const Node& node, const PointerRow& row, const FieldValue& pointer) const {
  if (pointer.raw == 0 && !row.zero_counts) return false;
  if (row.only_if.empty()) return true;
  for (std::string_view rest = row.only_if; !rest.empty();) {
    const size_t bar = std::min(rest.find('|'), rest.size());
    const FieldValue* condition = node.fields.beside(pointer, rest.substr(0, bar));
    if (condition != nullptr && condition->raw != 0) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}

std::optional<Follower::Count> Follower::count_of(const Node& node, const PointerRow& row, const FieldValue& pointer,
                                                  uint64_t address) const {
  const Count unknown{row.otherwise, 0, row.count.empty() ? row.otherwise : 0u};
  if (row.count.empty()) return unknown;
  uint64_t value = 0;
  if (const size_t dot = row.count.find('.'); dot != std::string_view::npos) {
    const auto last = state_.last.find(row.count.substr(0, dot));
    if (last == state_.last.end()) return unknown;
    value = value_of(*spec::find_command(last->first), gen_, last->second, row.count.substr(dot + 1));
    if (value == 0) return unknown;
  } else {
    const FieldValue* field = node.fields.beside(pointer, row.count);
    if (field == nullptr) return std::nullopt;
    value = spec::field_value(*field->desc, field->raw);
    if (value == 0 && row.scale != 0 && row.unit != Unit::bytes_less_one) {
      return row.target == Target::data ? std::nullopt : std::optional(unknown);
    }
  }
  switch (row.unit) {
    case Unit::elements:
      // A count in groups is rounded up, so only the first element is certain.
      return Count{value * row.scale, 0, row.scale == 1 ? value : 1};
    case Unit::bytes:
      if (row.target == Target::structure) {
        const spec::StructDesc* desc = spec::find_struct(row.structure);
        const uint64_t size = desc == nullptr ? 0 : desc->dwords_of_gen[static_cast<size_t>(gen_)] * sizeof(uint32_t);
        const uint64_t elements = size == 0 ? 0 : value * row.scale / size;
        return Count{elements, 0, elements};
      }
      return Count{1, value * row.scale, 1};
    case Unit::bytes_less_one:
      return Count{1, (value + 1) * row.scale, 1};
    case Unit::last_byte:
      return Count{1, value >= address ? value - address + 1 : 0, 1};
  }
  return unknown;
}

void Follower::follow_row(Node& node, const PointerRow& row, const FieldValue& pointer, int depth) const {
  if (!applies(node, row, pointer)) return;
  uint64_t address = spec::field_value(*pointer.desc, pointer.raw);
  if (row.target == Target::binding_table) address <<= state_.bases.binding_table_shift();
  if (pointer.desc->type == spec::FieldType::offset) address += state_.bases.get(row.base);
  address = plain_address(address) + row.skip_bytes;
  const auto count = count_of(node, row, pointer, address);
  if (!count) return;
  switch (row.target) {
    case Target::structure:
      if (const spec::StructDesc* desc = spec::find_struct(row.structure)) {
        follow_structures(node, *desc, pointer.path, GpuVa{address}, *count, depth);
      }
      return;
    case Target::binding_table:
      return follow_binding_table(node, pointer.path, GpuVa{address}, *count, depth);
    case Target::kernel:
      return add_kernel(node, pointer.path, GpuVa{address});
    case Target::data:
      return add_data(node, pointer.path, GpuVa{address}, count->bytes);
  }
}

void Follower::follow_structures(Node& node, const spec::StructDesc& desc, const std::string& label, GpuVa address,
                                 const Count& count, int depth) const {
  const uint64_t size = desc.dwords_of_gen[static_cast<size_t>(gen_)] * sizeof(uint32_t);
  if (desc.layout(gen_) == nullptr || size == 0) return;
  const uint64_t elements = std::min(count.elements, kMaxElements);
  for (uint64_t i = 0; i < elements; ++i) {
    std::string name = elements == 1 ? label : fmt::format("{}[{}]", label, i);
    if (!add_structure(node, desc, name, address + i * size, i >= count.sure, depth)) {
      if (i == 0) add_missing(node, name, address);
      return;
    }
  }
}

void Follower::follow_binding_table(Node& node, const std::string& label, GpuVa address, const Count& count,
                                    int depth) const {
  if (surface_state_ == nullptr || surface_state_->layout(gen_) == nullptr) return;
  const bool guess = count.elements == 0;
  const uint64_t entries = guess ? kGuessedTableEntries : std::min(count.elements, kMaxElements);
  for (uint64_t i = 0; i < entries; ++i) {
    uint32_t entry = 0;
    const GpuVa at = address + i * sizeof entry;
    if (memory_.read(node.space, at, std::span(&entry, 1)) != 1) {
      if (i == 0 && !guess) add_missing(node, label, address);
      return;
    }
    if (guess && entry == 0) return;
    const uint64_t offset = binding_table_entry_ == nullptr
                                ? entry & kOldEntryMask
                                : value_of(*binding_table_entry_, gen_, std::span(&entry, 1), "surface_state_pointer");
    const GpuVa surface{plain_address(state_.bases.get(Base::surface) + offset)};
    const std::string name = fmt::format("{}[{}]", label, i);
    if (!add_structure(node, *surface_state_, name, surface, guess, depth)) {
      if (guess) return;
      add_missing(node, name, surface);
    }
  }
}

bool Follower::add_structure(Node& node, const spec::StructDesc& desc, std::string label, GpuVa address, bool guessed,
                             int depth) const {
  Node child;
  child.kind = NodeKind::structure;
  child.item = &desc;
  child.label = std::move(label);
  child.address = address;
  child.space = node.space;
  child.guessed = guessed;
  child.dwords.resize(desc.dwords_of_gen[static_cast<size_t>(gen_)]);
  if (memory_.read(node.space, address, child.dwords) != child.dwords.size()) return false;
  child.fields = list_fields(desc, gen_, child.dwords);
  follow(child, depth + 1);
  node.children.push_back(std::move(child));
  return true;
}

void Follower::add_missing(Node& node, const std::string& label, GpuVa address) {
  Node child;
  child.kind = NodeKind::missing;
  child.label = label;
  child.address = address;
  node.children.push_back(std::move(child));
}

void Follower::add_kernel(Node& node, const std::string& label, GpuVa address) const {
  if (memory_.dwords_at(node.space, address).empty()) return add_missing(node, label, address);
  Node child;
  child.kind = NodeKind::kernel;
  child.label = label;
  child.address = address;
  node.children.push_back(std::move(child));
}

void Follower::add_data(Node& node, const std::string& label, GpuVa address, uint64_t bytes) const {
  Node child;
  child.kind = NodeKind::data;
  child.label = label;
  child.address = address;
  child.bytes = bytes;
  child.dwords.resize(bytes == 0 ? kPreviewDwords : std::min<uint64_t>(kPreviewDwords, (bytes + 3) / 4));
  child.dwords.resize(memory_.read(node.space, address, child.dwords));
  if (child.dwords.empty()) return add_missing(node, label, address);
  node.children.push_back(std::move(child));
}

uint64_t count_reserved(const Node& node) {
  uint64_t count = !node.guessed && !node.fields.reserved.empty() ? 1 : 0;
  if (node.guessed) return 0;
  for (const Node& child : node.children) count += count_reserved(child);
  return count;
}

}  // namespace halogen::decode
