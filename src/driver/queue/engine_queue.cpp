#include "driver/queue/engine_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/exhaustion.h"
#include "driver/core/tracepoints.h"
#include "driver/gem/buffer.h"
#include "driver/hw/interrupts.h"
#include "gen/driver_rules.h"
#include "gen/generation.h"
#include "hw/fuse.h"
#include "hw/pci_graphics.h"
#include "spec/packed.h"

namespace halogen::driver {
namespace {

// Returns a write of RESET_CTL that sets or clears the request.
uint32_t reset_request(const Hardware& hardware, bool on) {
  return Hardware::masked(spec::packed32(hw::RESET_CTL{.request_reset = true}, hardware.model().gen), on);
}

}  // namespace

EngineContext::EngineContext(EngineQueue& queue) : queue_(queue), timeline_(queue.take_timeline()) {}

uint64_t EngineQueue::take_timeline() {
  return ++timelines_ << 16 | static_cast<uint64_t>(engine_.engine_class) << 8 | engine_.instance;
}

void EngineQueue::add(RequestRef request) {
  if (request->number == 0) request->number = take_number();
  request->timeline = request->context->timeline();
  EngineContext& context = *request->context;
  lift(*request);
  const auto more_urgent = [](const auto& one, const auto& two) { return one->priority > two->priority; };
  const auto next = std::upper_bound(waiting_.begin(), waiting_.end(), request, more_urgent);
  if (tracepoints_ != nullptr) tracepoints_->add(*request);
  context.open.reserve(context.open.size() + 1);
  Request* const added = request.get();
  waiting_.insert(next, std::move(request));
  context.open.push_back(added);
}

// Priority inheritance: raises the priority of everything that `waiter` waits for, directly or indirectly: earlier
// requests of its context, fences and partners. Looks at each of them once, because a client can make very many.
void EngineQueue::lift(Request& waiter) {
  const int priority = waiter.priority;
  std::vector<Request*> open{&waiter};
  std::unordered_set<EngineQueue*> changed;
  while (!open.empty()) {
    const Request& request = *open.back();
    open.pop_back();
    const auto raise = [&](Request& each) {
      if (each.done || each.priority >= priority) return;
      each.priority = priority;
      changed.insert(&each.context->queue());
      open.push_back(&each);
    };
    for (Request* const each : request.context->open) {
      if (each->number < request.number) raise(*each);
    }
    for (const FenceRef& fence : request.waits) {
      if (auto* const other = dynamic_cast<Request*>(fence.get())) raise(*other);
    }
    for (const RequestRef& partner : request.partners) raise(*partner);
  }
  for (EngineQueue* const queue : changed) {
    queue->sort_waiting();
    if (queue != this) queue->update();
  }
}

void EngineQueue::sort_waiting() {
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const auto& one, const auto& two) { return one->priority > two->priority; });
}

std::string Request::timeline_name() const {
  return fmt::format("{}[{}]", program_invocation_short_name, getpid());
}

void EngineQueue::read_all() {
  switch_told_ = done_told_ = false;
  read_reports();
  read_progress();
  retire();
}

void EngineQueue::update() {
  if (switch_told_) {
    read_reports();
    switch_told_ = false;
  }
  if (done_told_) {
    read_progress();
    retire();
    done_told_ = false;
  }
  if (!waiting_.empty()) write_ready();
  submit();
  const RequestRef now = current();
  if (now && !now->started) {
    now->started = true;
    ++progress_;
  }
  if (tracepoints_ != nullptr) set_on_engine(now);
}

// Records the request that the engine executes. The previous one is done or was preempted.
void EngineQueue::set_on_engine(const RequestRef& request) {
  if (request == on_engine_) return;
  if (on_engine_ && !on_engine_->done) tracepoints_->out(*on_engine_, false);
  on_engine_ = request;
  if (request) tracepoints_->in(*request);
}

// The start of the request may not have been recorded.
void EngineQueue::tell_done(const RequestRef& request) {
  set_on_engine(request);
  tracepoints_->out(*request, true);
  on_engine_ = nullptr;
}

void EngineQueue::write_ready() {
  std::unordered_set<const EngineContext*> held;  // a blocked request also blocks later ones of its context
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const RequestRef request = *each;
    if (held.contains(request->context.get()) || !request->ready()) {
      held.insert(request->context.get());
      ++each;
      continue;
    }
    take_errors(*request);
    if (!write_next(request)) {
      held.insert(request->context.get());
      ++each;
      continue;
    }
    each = waiting_.erase(each);
  }
}

// Writes the request's commands and adds the request to running_, or does neither.
bool EngineQueue::write_next(const RequestRef& request) {
  running_.push_back(request);
  bool written = false;
  const AtEnd undo([&] {
    if (!written) running_.pop_back();
  });
  written = write_commands(*request);
  return written;
}

// An error of a fence that the request waited for is inherited, and its batch is skipped. Requests of the same engine
// are exempt, because those waits only keep the order.
void EngineQueue::take_errors(Request& request) const {
  for (const FenceRef& each : request.waits) {
    if (each->error == 0 || each->error == -ETIMEDOUT) continue;
    const auto* const other = dynamic_cast<const Request*>(each.get());
    if (other != nullptr && &other->context->queue() == this) continue;
    request.failed = each->error;
    request.batch = 0;
  }
}

void EngineQueue::retire() {
  for (auto each = running_.begin(); each != running_.end();) {
    if (!is_done(**each)) {
      ++each;
      continue;
    }
    const RequestRef request = *each;
    each = running_.erase(each);
    if (tracepoints_ != nullptr) static_cast<void>(completes([&] { tell_done(request); }));
    finish(request, request->failed);
  }
}

void EngineQueue::finish(const RequestRef& request, int error) {
  ++progress_;
  std::erase(request->context->open, request.get());
  request->started = true;
  // Programs need not call the driver again for a buffer that they know to be idle.
  for (const std::shared_ptr<Buffer>& buffer : request->tiled) buffer->sync_view();
  request->tiled.clear();
  request->keeps.clear();
  request->waits.clear();
  request->partners.clear();
  if (tracepoints_ != nullptr && on_engine_ == request) {
    static_cast<void>(completes([this] { set_on_engine(nullptr); }));
  }
  request->signal(error);
  if (tracepoints_ == nullptr) return;
  static_cast<void>(completes([&] {
    tracepoints_->signaled(*request);
    tracepoints_->retire(*request);
  }));
}

void EngineQueue::reset_engine() {
  if (hardware_.generation().reset_port() == ResetPort::config_gdrst) {
    hardware_.config_write(spec::pci_write(hardware_.model(), hw::PCI_GDRST{.initiate = true}));
    hardware_.config_write(spec::pci_write(hardware_.model(), hw::PCI_GDRST{}));
    Interrupts(hardware_).enable();
    return;
  }
  if (hardware_.has(spec::Feature::ring_reset_ctl)) {
    hardware_.write(engine_, hw::RESET_CTL::kDesc.offset(hardware_.model().id), reset_request(hardware_, true));
    hardware_.advance(1000);
  }
  hardware_.write(hw::GDRST::kDesc.offset(hardware_.model().id), 1u << engine_.reset_bit);
  if (hardware_.has(spec::Feature::ring_reset_ctl)) {
    hardware_.write(engine_, hw::RESET_CTL::kDesc.offset(hardware_.model().id), reset_request(hardware_, false));
  }
  Interrupts(hardware_).enable();  // a reset masks interrupts
}

void EngineQueue::recover(int error) {
  read_all();
  const RequestRef culprit = current();
  reset_engine();
  if (culprit) {
    std::erase(running_, culprit);
    finish(culprit, error);
  }
  start();
  after_reset(culprit.get());
  update();
}

void EngineQueue::replay() {
  read_all();
  if (!driver_rules(hardware_.model().gen).reset_covers_all_engines) {
    reset_engine();
  }
  start();
  after_reset(nullptr);
  update();
}

void EngineQueue::queue_again(const EngineContext& context) {
  const auto is_own = [&](const RequestRef& each) { return each->context.get() == &context; };
  std::deque<RequestRef> own;
  std::ranges::copy_if(running_, std::back_inserter(own), is_own);
  waiting_.insert(waiting_.begin(), own.begin(), own.end());
  std::erase_if(running_, is_own);
  sort_waiting();
}

void EngineQueue::abandon() {
  for (std::deque<RequestRef>* list : {&running_, &waiting_}) {
    while (!list->empty()) {
      const RequestRef request = list->front();
      list->pop_front();
      finish(request, -EIO);
    }
  }
}

bool EngineQueue::cancel(const EngineContext& context, int error) {
  std::vector<RequestRef> ended;
  RequestRef last;  // the last cancelled request that was in running_: the engine may have started it
  const auto take = [&](std::deque<RequestRef>& list) {
    for (auto each = list.begin(); each != list.end();) {
      if ((*each)->context.get() != &context) {
        ++each;
        continue;
      }
      ended.push_back(*each);
      if (&list == &running_) last = *each;
      each = list.erase(each);
    }
  };
  read_all();
  ended.reserve(waiting_.size() + running_.size());
  take(waiting_);
  take(running_);
  // A reset that the host cannot complete is repeated when the engine makes no progress.
  static_cast<void>(completes([&] {
    if (!last) return;
    reset_engine();
    start();
    after_reset(last.get());
  }));
  for (const RequestRef& each : ended) finish(each, error);
  update();
  return last != nullptr;
}

}  // namespace halogen::driver
