// The driver's queue of one engine: takes requests, orders them by priority and submission, and signals them. Two
// kinds: a ring that all contexts share, and contexts with their own rings that are submitted to the engine's port.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "driver/hw/global_table.h"
#include "driver/hw/page_tables.h"
#include "driver/queue/first_state.h"
#include "driver/queue/request.h"

namespace halogen::driver {

class ClientLoad;
class CommandWriter;
class EngineQueue;
class LoadClock;
class Tracepoints;

// A context on one engine.
class EngineContext {
 public:
  explicit EngineContext(EngineQueue& queue);
  virtual ~EngineContext() = default;
  EngineQueue& queue() { return queue_; }
  uint64_t timeline() const { return timeline_; }  // timeline of its requests

  // At this number of requests that are not done, the ring counts as full, and the program waits until half of them are
  // done.
  static constexpr size_t kMaxOpen = 64;
  std::vector<Request*> open;        // not done, in the order of submission; the queue holds them
  std::shared_ptr<ClientLoad> load;  // counts the time on the engine; null: there are no monitors

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
  void use(const LoadClock& clock) { load_clock_ = &clock; }  // for the times of contexts

  // Programs the engine's registers at start-up and after a reset.
  virtual void start() = 0;
  // Null: out of memory.
  virtual std::shared_ptr<EngineContext> make_context(std::shared_ptr<PageTables> tables) = 0;

  uint64_t take_number() { return next_number_++; }  // for a new request, ascending
  uint64_t take_timeline();                          // unique among all contexts and engines
  void add(RequestRef request);
  // Called for the engine's interrupts: requests may be done, or the engine switched contexts.
  void notify_done() { done_told_ = true; }
  void notify_switch() { switch_told_ = true; }
  // Signals requests that an interrupt reported, and submits more.
  void update();
  bool idle() const { return waiting_.empty() && running_.empty(); }
  // Returns whether the engine has work. Requests that wait for fences do not count.
  bool working() const { return !running_.empty(); }
  bool holds() const { return !waiting_.empty(); }
  uint64_t progress() const { return progress_; }  // grows when a request starts or completes
  const engine::WorkDone& work_done() const { return hardware_.work_done(engine_); }
  bool in_long_work() const { return hardware_.in_long_work(engine_); }
  // Whether the engine was asked to preempt its current work and has not done so yet.
  enum class Wanted : uint8_t { no, by_equal, by_more_urgent };
  virtual Wanted wanted() const { return Wanted::no; }
  virtual bool can_interrupt() const { return false; }       // true: preemption is possible
  uint64_t last_number() const { return next_number_ - 1; }  // of the newest request

  // Shows the times of the contexts that are on the engine. A queue without contexts of its own does nothing.
  virtual void show_times() {}

  // ---- for performance counters: a queue without contexts of its own does nothing
  // Sets registers in the images that new contexts start with.
  virtual void set_context_registers(const std::vector<RegisterValue>&) {}
  // Adds commands that write registers into the images of all contexts. `keeps`: what must live until they are executed
  // by another context.
  virtual void store_context_registers(const std::vector<RegisterValue>&, CommandWriter&,
                                       std::vector<std::shared_ptr<void>>&) {}
  // The control register of the counters, where batches may write it: the first request of a context sets it to the
  // last of these values when it executes.
  virtual void set_device_register(RegisterValue) {}
  // The context id that the third dword of a report holds, and the bits of it that count.
  struct ReportId {
    uint32_t id = 0;
    uint32_t mask = 0;
  };
  virtual ReportId report_id(const EngineContext&) const { return {}; }
  // A measured context has an id that no other context has, and counters of its own if the chip has such.
  virtual void set_measured(EngineContext&, bool) {}

  // Returns the request that the engine executes, or would execute if it could.
  virtual RequestRef current() const { return running_.empty() ? nullptr : running_.front(); }
  // Handles a hang in current(): resets the engine, fails the request with this error, and continues with the others.
  void recover(int error);
  // Repeats the current work after a reset of all engines.
  void replay();
  // Ends all work of this context with the error. True: the engine was reset.
  bool cancel(const EngineContext& context, int error);
  // Fails all requests before the device is destroyed, which releases their references.
  void abandon();

 protected:
  // Writes the request's commands to the ring. False: no space now.
  virtual bool write_commands(Request& request) = 0;
  virtual void submit() = 0;       // submits written requests that the engine does not know yet
  virtual void read_reports() {}   // reads context status reports
  virtual void read_progress() {}  // reads which requests are done
  virtual bool is_done(const Request& request) const = 0;
  virtual void after_reset(const Request* culprit) = 0;  // submits the remaining requests again
  // Puts the unfinished requests of a context back to the front of the queue.
  void queue_again(const EngineContext& context);

  Hardware& hardware_;
  GlobalTable& table_;
  const spec::EngineModel& engine_;
  std::deque<RequestRef> waiting_;  // by priority, then by submission
  std::deque<RequestRef> running_;  // commands written, in the order of each context
  uint64_t next_number_ = 1;
  const LoadClock* load_clock_ = nullptr;

 private:
  void read_all();
  void retire();
  void lift(Request& waiter);
  void sort_waiting();
  void write_ready();
  bool write_next(const RequestRef& request);
  void take_errors(Request& request) const;
  void reset_engine();
  void finish(const RequestRef& request, int error);
  void set_on_engine(const RequestRef& request);
  void tell_done(const RequestRef& request);

  uint64_t progress_ = 0;
  uint64_t timelines_ = 0;
  Tracepoints* tracepoints_ = nullptr;
  RequestRef on_engine_;  // as reported to the tracepoints
  bool done_told_ = false;
  bool switch_told_ = false;
};

// `tables`: the shared address space.
std::unique_ptr<EngineQueue> make_ring_queue(Hardware& hardware, GlobalTable& table, PageTables& tables,
                                             const spec::EngineModel& engine);
std::unique_ptr<EngineQueue> make_execlist_queue(Hardware& hardware, GlobalTable& table,
                                                 const spec::EngineModel& engine);

}  // namespace halogen::driver
