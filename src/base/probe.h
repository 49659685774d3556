// A probe is a point of the model that can be observed: a register access, a command, a page walk. It is declared once
// with the types that it passes, and costs one load and one branch without a listener.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace halogen {

template <class... Args>
class Probe {
 public:
  using Listener = std::function<void(const Args&...)>;

  // Detaches the listener on destruction. Must not outlive the probe.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Probe& probe, size_t id) : probe_(&probe), id_(id) {}
    Subscription(Subscription&& other) noexcept : probe_(std::exchange(other.probe_, nullptr)), id_(other.id_) {}
    Subscription& operator=(Subscription&& other) noexcept {
      if (this != &other) {
        release();
        probe_ = std::exchange(other.probe_, nullptr);
        id_ = other.id_;
      }
      return *this;
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { release(); }

   private:
    void release() {
      if (probe_ != nullptr) {
        probe_->detach(id_);
        probe_ = nullptr;
      }
    }

    Probe* probe_ = nullptr;
    size_t id_ = 0;
  };

  Probe() = default;
  // A copy of a model starts without listeners, because they are services, not state.
  Probe(const Probe&) {}
  Probe& operator=(const Probe&) { return *this; }

  [[nodiscard]] Subscription listen(Listener listener) {
    if (!listeners_) {
      listeners_ = std::make_unique<Listeners>();
    }
    const size_t id = listeners_->next_id++;
    listeners_->entries.emplace_back(id, std::move(listener));
    return Subscription(*this, id);
  }

  bool watched() const { return listeners_ != nullptr; }

  void operator()(const Args&... args) const {
    if (listeners_) [[unlikely]] {
      for (const auto& [id, listener] : listeners_->entries) {
        listener(args...);
      }
    }
  }

 private:
  struct Listeners {
    size_t next_id = 0;
    std::vector<std::pair<size_t, Listener>> entries;
  };

  void detach(size_t id) {
    auto& entries = listeners_->entries;
    std::erase_if(entries, [id](const auto& entry) { return entry.first == id; });
    if (entries.empty()) {
      listeners_.reset();
    }
  }

  std::unique_ptr<Listeners> listeners_;
};

}  // namespace halogen
