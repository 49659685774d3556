// An Output that stores all items, for tests.
#pragma once

#include <string>
#include <vector>

#include "decode/output.h"

namespace halogen::decode {

class Recorder final : public Output {
 public:
  void record(const RecordLine& line) override { records.push_back(std::string(line.kind) + ": " + line.text); }
  void heading(std::string_view text) override { headings.emplace_back(text); }
  void node(const Node& node, spec::GenId) override { nodes.push_back(node); }
  bool open() const override { return true; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Node& node : nodes) all.emplace_back(node.item != nullptr ? node.item->name : "-");
    return all;
  }
  const Node* find(std::string_view name) const {
    for (const Node& node : nodes) {
      if (node.item != nullptr && node.item->name == name) return &node;
    }
    return nullptr;
  }

  std::vector<std::string> records;
  std::vector<std::string> headings;
  std::vector<Node> nodes;
};

// Returns the child that was reached through this field, or null.
inline const Node* child(const Node* node, std::string_view label) {
  if (node == nullptr) return nullptr;
  for (const Node& next : node->children) {
    if (next.label == label) return &next;
  }
  return nullptr;
}

// An Output that forwards to a recorder, which must outlive it.
class Borrowed final : public Output {
 public:
  explicit Borrowed(Recorder& to) : to_(to) {}
  void record(const RecordLine& line) override { to_.record(line); }
  void heading(std::string_view text) override { to_.heading(text); }
  void node(const Node& node, spec::GenId gen) override { to_.node(node, gen); }
  bool open() const override { return true; }

 private:
  Recorder& to_;
};

}  // namespace halogen::decode
