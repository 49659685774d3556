// Prints a line on stderr for each rule that software breaks: Events of undefined behaviour, each once. For
// --check-rules.
#pragma once

#include <cstdio>
#include <set>
#include <string>

#include "base/event.h"

namespace halogen::shim {

class RuleNotice final : public EventSink {
 public:
  // Every Event also goes to `next`, which may be null.
  explicit RuleNotice(bool on, EventSink* next = nullptr) : on_(on), next_(next) {}

  void on_event(const Event& event) override {
    if (next_ != nullptr) next_->on_event(event);
    if (!on_ || event.kind != EventKind::undefined_behaviour || told_.size() >= kMaxLines) return;
    const std::string line = event.to_string();
    if (told_.insert(line).second) std::fprintf(stderr, "halogen: %s\n", line.c_str());
  }

 private:
  static constexpr size_t kMaxLines = 1000;  // a program can break any number of rules

  bool on_;
  EventSink* next_;
  std::set<std::string> told_;  // Events come on one thread at a time
};

}  // namespace halogen::shim
