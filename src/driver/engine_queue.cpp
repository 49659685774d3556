#include "driver/engine_queue.h"

#include <algorithm>
#include <utility>

#include "gen/generation.h"
#include "hw/fuse.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kConfigReset = 0xc0;  // of the first ones, in configuration space
constexpr uint32_t kRequestReset = 1;

}  // namespace

void EngineQueue::add(RequestRef request) {
  request->number = next_number_++;
  const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), request,
                                      [](const auto& one, const auto& two) { return one->priority > two->priority; });
  waiting_.insert(place, std::move(request));
}

void EngineQueue::update() {
  look();
  retire();
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    // Requests of one context stay in order: one that waits holds back those after it.
    const bool held = std::any_of(waiting_.begin(), each, [&](const RequestRef& earlier) {
      return earlier->context == (*each)->context && earlier->number < (*each)->number;
    });
    if (held || !(*each)->ready() || !place(**each)) {
      ++each;
      continue;
    }
    running_.push_back(*each);
    each = waiting_.erase(each);
  }
  submit();
}

void EngineQueue::retire() {
  for (auto each = running_.begin(); each != running_.end();) {
    if (!is_done(**each)) {
      ++each;
      continue;
    }
    const RequestRef request = *each;
    each = running_.erase(each);
    request->done = true;
    request->keeps.clear();
    request->waits.clear();
  }
}

void EngineQueue::reset_engine() {
  if (hardware_.generation().reset_port() == ResetPort::config_gdrst) {
    hardware_.device().config_write(kConfigReset, 1, 1);
    hardware_.device().config_write(kConfigReset, 1, 0);
    return;
  }
  if (hardware_.has(spec::Feature::ring_reset_ctl)) {
    hardware_.write(engine_, hw::RESET_CTL::kDesc.offset(hardware_.model().id), Hardware::masked(kRequestReset, true));
    hardware_.device().advance(1000);
  }
  for (const ResetDomain& domain : hardware_.generation().reset_domains()) {
    if (domain.engine_class == static_cast<int>(engine_.engine_class) && domain.instance == engine_.instance) {
      hardware_.write(hw::GDRST::kDesc.offset(hardware_.model().id), 1u << domain.bit);
    }
  }
  if (hardware_.has(spec::Feature::ring_reset_ctl)) {
    hardware_.write(engine_, hw::RESET_CTL::kDesc.offset(hardware_.model().id), Hardware::masked(kRequestReset, false));
  }
}

void EngineQueue::recover(int error) {
  const RequestRef culprit = current();
  reset_engine();
  if (culprit) {
    culprit->error = error;
    culprit->done = true;
    std::erase(running_, culprit);
  }
  start();
  after_reset(culprit.get());
  update();
}

}  // namespace halogen::driver
