// The host of a device that plays a trace or serves a simulator's client: memory that is allocated when touched, and no
// receiver of interrupts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>

#include "device/host.h"

namespace halogen::trace {

// A memory limit shared by several hosts. It may be part of a larger one.
class PageBudget {
 public:
  explicit PageBudget(uint64_t pages, PageBudget* whole = nullptr)
      : left_(static_cast<int64_t>(pages)), whole_(whole) {}
  // False: fewer pages than that are left, and none is taken.
  bool take(uint64_t pages = 1) {
    const auto some = static_cast<int64_t>(pages);
    const bool left = left_.fetch_sub(some, std::memory_order_relaxed) >= some;
    if (left && (whole_ == nullptr || whole_->take(pages))) return true;
    left_.fetch_add(some, std::memory_order_relaxed);
    return false;
  }
  void give(uint64_t pages) {
    left_.fetch_add(static_cast<int64_t>(pages), std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->give(pages);
  }

 private:
  std::atomic<int64_t> left_;
  PageBudget* whole_;
};

class TraceHost final : public device::Host {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kMaxPages = size_t{1} << 20;  // 4 GiB; accesses beyond fail

  // `budget` null: the limit is kMaxPages.
  explicit TraceHost(EventSink* events = nullptr, PageBudget* budget = nullptr)
      : events_(events), own_budget_(kMaxPages), budget_(budget != nullptr ? budget : &own_budget_) {}
  ~TraceHost() override { budget_->give(pages_.size()); }
  TraceHost(const TraceHost&) = delete;
  TraceHost& operator=(const TraceHost&) = delete;

  // Memory that was never written reads zero without being allocated.
  bool read_memory(PhysAddr address, std::span<std::byte> out) override;
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override;
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override;
  void set_interrupt_line(bool /*asserted*/) override {}
  void send_message_interrupt(PhysAddr /*address*/, uint32_t /*data*/) override {}
  void on_event(const Event& event) override {
    if (events_ != nullptr) events_->on_event(event);
  }

  size_t pages() const { return pages_.size(); }
  // Visits every touched page, in any order.
  void visit(const std::function<void(uint64_t address, std::span<const std::byte>)>& see) const;

 private:
  struct alignas(64) Page {
    std::array<std::byte, kPageBytes> bytes{};
  };

  Page* find(uint64_t number) const;

  EventSink* events_;
  PageBudget own_budget_;
  PageBudget* budget_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace halogen::trace
