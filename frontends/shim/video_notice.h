// Tells the user once, on stderr, that the program asks for video work, which the model does not execute: the program
// itself sees success and empty results.
#pragma once

#include <cstdio>

#include "base/event.h"
#include "engine/video_work.h"

namespace halogen::shim {

class VideoNotice final : public EventSink {
 public:
  void on_event(const Event& event) override {
    if (told_ || event.kind != EventKind::unsupported || event.detail != engine::kVideoNotExecuted) return;
    told_ = true;
    std::fprintf(stderr, "halogen: %.*s (first command: %.*s).\n", static_cast<int>(engine::kVideoNotExecuted.size()),
                 engine::kVideoNotExecuted.data(), static_cast<int>(event.item.size()), event.item.data());
  }

 private:
  bool told_ = false;  // Events come on one thread at a time
};

}  // namespace halogen::shim
