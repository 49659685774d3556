// One engine of the chip as the driver sees it: work goes in, in order and by priority, and comes out done. Two kinds:
// a ring that all contexts share, and contexts with rings of their own that are handed to the engine's port.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "driver/hw/global_table.h"
#include "driver/hw/page_tables.h"
#include "driver/queue/request.h"

namespace halogen::driver {

class EngineQueue;
class Tracepoints;

// What a context is on one engine.
class EngineContext {
 public:
  explicit EngineContext(EngineQueue& queue);
  virtual ~EngineContext() = default;
  EngineQueue& queue() { return queue_; }
  uint64_t timeline() const { return timeline_; }  // on which its requests are

  // Requests that are not done. A program that has this many waits until there are half as many: its ring is full.
  static constexpr unsigned kMaxOpen = 64;
  unsigned open = 0;

 private:
  EngineQueue& queue_;
  uint64_t timeline_;
};

class EngineQueue {
 public:
  EngineQueue(Hardware& hardware, GlobalTable& table, const spec::EngineModel& engine)
      : hardware_(hardware), table_(table), engine_(engine) {}
  virtual ~EngineQueue() = default;
  EngineQueue(const EngineQueue&) = delete;
  EngineQueue& operator=(const EngineQueue&) = delete;

  const spec::EngineModel& engine() const { return engine_; }
  void tell(Tracepoints* tracepoints) { tracepoints_ = tracepoints; }

  // Registers of the engine as it needs them; at the start and after a reset.
  virtual void start() = 0;
  // Null: no memory.
  virtual std::shared_ptr<EngineContext> make_context(std::shared_ptr<PageTables> tables) = 0;

  uint64_t take_number() { return next_number_++; }  // for a request, in the order in which they come
  uint64_t take_timeline();                          // a number that no other context of any engine has
  void add(RequestRef request);
  // The engine's interrupts: requests may be done; it took or left contexts.
  void notify_done() { done_told_ = true; }
  void notify_switch() { switch_told_ = true; }
  // Signals what an interrupt said to be done, and hands more to the engine.
  void update();
  bool idle() const { return waiting_.empty() && running_.empty(); }
  // The engine has something to do; what is held back by fences does not count.
  bool working() const { return !running_.empty(); }
  bool holds() const { return !waiting_.empty(); }
  uint64_t progress() const { return progress_; }  // grows whenever a request is started or done
  uint64_t work_done() const { return hardware_.work_done(engine_); }
  // Whether the engine was told to leave what it works on and has not done so yet.
  enum class Wanted : uint8_t { no, by_equal, by_more_urgent };
  virtual Wanted wanted() const { return Wanted::no; }
  virtual bool can_interrupt() const { return false; }  // it can be told so
  // What the engine works on now, or would if it could.
  virtual RequestRef current() const { return running_.empty() ? nullptr : running_.front(); }
  // The engine hangs in `current`: it is reset, the culprit's request fails with this error, others go on.
  void recover(int error);
  // It was reset with others: what it was at is done again.
  void replay();
  // All work of this context ends with the error, now. True: the engine was reset for it.
  bool cancel(const EngineContext& context, int error);
  // The device goes: what was to be done fails, so that requests and what they keep let go of each other.
  void abandon();

 protected:
  // Puts the request's commands where the engine finds them. False: no room now.
  virtual bool place(Request& request) = 0;
  virtual void submit() = 0;      // what was placed and the engine does not know yet
  virtual void read_reports() {}  // of contexts that the engine took and left
  virtual void look() {}          // how far it is
  virtual bool is_done(const Request& request) const = 0;
  virtual void after_reset(const Request* culprit) = 0;  // the rest is handed to the engine again

  Hardware& hardware_;
  GlobalTable& table_;
  const spec::EngineModel& engine_;
  std::deque<RequestRef> waiting_;  // by priority, then in order
  std::deque<RequestRef> running_;  // placed, in order of each context
  uint64_t next_number_ = 1;

 private:
  void look_at_all();
  void retire();
  void lift(const RequestRef& waiter);
  void sort_waiting();
  void place_ready();
  void take_errors(Request& request) const;
  void reset_engine();
  void finish(const RequestRef& request, int error);
  void set_on_engine(const RequestRef& request);
  void tell_done(const RequestRef& request);

  uint64_t progress_ = 0;
  uint64_t timelines_ = 0;
  Tracepoints* tracepoints_ = nullptr;
  RequestRef on_engine_;  // as the tracepoints tell it
  bool done_told_ = false;
  bool switch_told_ = false;
};

// `tables`: of the one address space.
std::unique_ptr<EngineQueue> make_ring_queue(Hardware& hardware, GlobalTable& table, PageTables& tables,
                                             const spec::EngineModel& engine);
std::unique_ptr<EngineQueue> make_execlist_queue(Hardware& hardware, GlobalTable& table,
                                                 const spec::EngineModel& engine);

}  // namespace halogen::driver
