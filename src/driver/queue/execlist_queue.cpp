// Contexts with their own rings, submitted to the engine's port two at a time or through the submit queue. The engine
// reports when it accepts a submission and when it finishes a context; until it has accepted one, no other is
// submitted. Contexts of equal priority are time-sliced.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ticks.h"
#include "driver/hw/command_writer.h"
#include "driver/hw/gpu.h"
#include "driver/hw/packed.h"
#include "driver/perf/client_load.h"
#include "driver/queue/context_reports.h"
#include "driver/queue/engine_queue.h"
#include "driver/queue/first_state.h"
#include "hw/context.h"
#include "hw/execlist.h"
#include "hw/hwsp.h"
#include "hw/mi.h"
#include "hw/mode.h"
#include "hw/oa.h"
#include "hw/ring.h"
#include "mmio/context_image.h"
#include "mmio/privilege.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kRingBytes = 4 * kPageBytes;
constexpr uint64_t kImageBytes = 24 * kPageBytes;  // per-process status page, then the image of the largest engine
constexpr uint64_t kTimeline = 0;
constexpr uint64_t kTurn = 1'000'000;  // time slice: nanoseconds of device time

constexpr uint32_t kAllBits = 0xffff'0000;  // mask of a masked register

class ExeclistContext final : public EngineContext {
 public:
  ExeclistContext(EngineQueue& queue, PinnedMemory its_image, PinnedMemory its_ring, PinnedMemory its_timeline,
                  std::shared_ptr<PageTables> its_tables)
      : EngineContext(queue),
        image(std::move(its_image)),
        ring(std::move(its_ring)),
        timeline(std::move(its_timeline)),
        tables(std::move(its_tables)) {}

  PinnedMemory image;
  PinnedMemory ring;
  PinnedMemory timeline;
  std::shared_ptr<PageTables> tables;
  uint32_t number = 0;
  uint64_t descriptor = 0;
  uint64_t tail = 0;
  uint64_t head = 0;  // position up to which the ring is done
  uint32_t next_seqno = 1;
  bool is_new = true;        // its first request sets the registers that images do not hold
  bool is_measured = false;  // by a stream of performance counters
  uint32_t saved_ticks = 0;  // CTX_TIMESTAMP in the image, as read last
  uint64_t ticks = 0;        // counted so far
};
using ContextRef = std::shared_ptr<ExeclistContext>;

class ExeclistQueue final : public EngineQueue {
 public:
  ExeclistQueue(Hardware& hardware, GlobalTable& table, const spec::EngineModel& engine, PinnedMemory status,
                PinnedMemory device_value)
      : EngineQueue(hardware, table, engine),
        layout_(mmio::ContextImage::for_engine(hardware.model().id, engine.engine_class)),
        has_submit_queue_(hardware.generation().submission() == SubmissionKind::submit_queue),
        preempts_(spec::interface_of(hardware.model().id).preemption),
        counts_apart_(hw::OAR_OACONTROL::kDesc.offset(hardware.model().id) != spec::kNoOffset),
        first_image_(first_image(hardware.model(), engine, layout_)),
        user_registers_(registers_outside(hardware.model(), engine, layout_)),
        device_value_(std::move(device_value)),
        reports_(hardware, engine, std::move(status)) {
    for (const mmio::ImageSlot& slot : layout_.slots()) {
      dwords_.emplace(slot.offset, slot.at + 1);  // the first slot of each register
    }
    start();
  }

  void start() override {
    hardware_.write(engine_, at(hw::HWS_PGA::kDesc), static_cast<uint32_t>(reports_.address()));
    hw::GFX_MODE mode;
    (has_submit_queue_ ? mode.disable_legacy_mode : mode.execlist_enable) = true;
    hardware_.write(engine_, at(hw::GFX_MODE::kDesc), Hardware::masked(packed32(mode, hardware_.model()), true));
    open_registers();
    reports_.start();
    if (!active_.empty()) add_time(*active_.front().context, running_ns());  // the engine was reset and saved nothing
    interrupted_ = std::exchange(active_, {});
    pending_.clear();
  }

  std::shared_ptr<EngineContext> make_context(std::shared_ptr<PageTables> tables) override {
    const uint32_t number = next_context_++;  // the id in reports: contexts in flight have different ones
    std::optional<PinnedMemory> image = PinnedMemory::create(hardware_, table_, kImageBytes);
    std::optional<PinnedMemory> ring = PinnedMemory::create(hardware_, table_, kRingBytes);
    std::optional<PinnedMemory> timeline = PinnedMemory::create(hardware_, table_, kPageBytes);
    if (!image || !ring || !timeline) return nullptr;
    auto context = std::make_shared<ExeclistContext>(*this, std::move(*image), std::move(*ring), std::move(*timeline),
                                                     std::move(tables));
    context->number = number;
    write_image(*context);
    write_descriptor(*context);
    if (contexts_.size() == contexts_.capacity()) {
      std::erase_if(contexts_, [](const auto& each) { return each.expired(); });
    }
    contexts_.push_back(context);
    return context;
  }

  void show_times() override {
    if (active_.empty() || !working()) return;  // a context without requests may not have left yet
    const ExeclistContext& context = *active_.front().context;
    if (context.load) context.load->show(user_class(engine_.engine_class), running_ns());
  }

  void set_context_registers(const std::vector<RegisterValue>& values) override { context_registers_ = values; }

  void set_device_register(RegisterValue value) override {
    if (value.offset == at(hw::OACONTROL::kDesc)) device_value_.store(0, value.value);
  }

  void store_context_registers(const std::vector<RegisterValue>& values, CommandWriter& commands,
                               std::vector<std::shared_ptr<void>>& keeps) override {
    for (const std::weak_ptr<ExeclistContext>& each : contexts_) {
      const ContextRef context = each.lock();
      if (!context) continue;
      for (const RegisterValue& value : values) {
        const std::optional<uint32_t> dword = dword_of(value.offset);
        if (!dword) continue;
        commands.store_global(context->image.address() + kPageBytes + *dword * 4, value.value);
      }
      keeps.push_back(context);
    }
  }

  ReportId report_id(const EngineContext& context) const override {
    return {.id = static_cast<uint32_t>(static_cast<const ExeclistContext&>(context).descriptor >> 32) & id_mask(),
            .mask = id_mask()};
  }

  // Linux reserves the highest number too.
  void set_measured(EngineContext& context, bool measured) override {
    auto& changed = static_cast<ExeclistContext&>(context);
    changed.is_measured = measured;
    write_descriptor(changed);
  }

 private:
  // Writes the descriptor. The id of a measured context is not used for others.
  void write_descriptor(ExeclistContext& context) const {
    hw::CONTEXT_DESCRIPTOR descriptor;
    descriptor.valid = true;
    descriptor.privilege_access = true;
    descriptor.addressing_mode = hardware_.has(spec::Feature::ppgtt_4level) ? hw::ContextAddressingMode::LEGACY_64B
                                                                            : hw::ContextAddressingMode::LEGACY_32B;
    descriptor.logical_ring_context_address = GgttOffset(context.image.address());
    if (has_submit_queue_) {
      constexpr uint32_t kMeasured = 0x7fe;
      descriptor.sw_context_id =
          static_cast<uint16_t>(context.is_measured ? kMeasured : context.number % (kMeasured - 1) + 1);
      descriptor.engine_instance = engine_.instance;
      descriptor.engine_class = engine_.class_id;
    } else {
      constexpr uint32_t kMeasured = 0x1f'ffff;
      descriptor.context_id = context.is_measured ? kMeasured : context.number % (kMeasured - 1) + 1;
    }
    context.descriptor = packed(descriptor, hardware_.model());
  }

  // Returns the bits of a descriptor's upper half that are the number of the context.
  uint32_t id_mask() const {
    constexpr uint16_t kAllOfQueue = 0x7ff;
    constexpr uint32_t kAllOfPort = 0x1f'ffff;
    hw::CONTEXT_DESCRIPTOR descriptor;
    if (has_submit_queue_) {
      descriptor.sw_context_id = kAllOfQueue;
    } else {
      descriptor.context_id = kAllOfPort;
    }
    return static_cast<uint32_t>(packed(descriptor, hardware_.model()) >> 32);
  }

  // The device register has the value of the time when the command executes: requests may be written long before.
  void set_first(CommandWriter& commands, const RegisterValue& value) const {
    if (value.offset == at(hw::OACONTROL::kDesc)) {
      commands.load_register_from(value.offset, device_value_.address());
    } else {
      commands.load_register(value.offset, value.value);
    }
  }

  // Opens the registers that user batches may access beyond the lists of the hardware. Unused slots name a register
  // that is open anyway.
  void open_registers() {
    const std::vector<uint32_t> values = mmio::slots_of_driver(hardware_.model().id, engine_);
    for (size_t slot = 0; slot < hw::FORCE_TO_NONPRIV::kDesc.count; ++slot) {
      const uint32_t value = slot < values.size() ? values[slot] : engine_.mmio_base + at(hw::NOPID::kDesc);
      hardware_.write(engine_, at(hw::FORCE_TO_NONPRIV::kDesc) + static_cast<uint32_t>(4 * slot), value);
    }
  }

 protected:
  bool write_commands(Request& request) override {
    auto& context = static_cast<ExeclistContext&>(*request.context);
    CommandWriter commands(hardware_.model(), engine_);
    commands.flush(true);
    if (context.is_new) {
      for (const RegisterValue& each : user_registers_) set_first(commands, each);
    }
    if (request.batch != 0) commands.start_batch(request.batch, request.secure);
    commands.flush(false);
    request.seqno = context.next_seqno;
    commands.store_global(context.timeline.address() + kTimeline, request.seqno);
    commands.interrupt();
    commands.arbitrate();
    commands.pad();
    const uint64_t bytes = commands.dwords().size() * 4;
    if ((context.head + kRingBytes - context.tail - 8) % kRingBytes < bytes + 64) return false;
    request.start = context.tail;
    for (const uint32_t dword : commands.dwords()) {
      context.ring.store(context.tail, dword);
      context.tail = (context.tail + 4) % kRingBytes;
    }
    request.end = context.tail;
    ++context.next_seqno;
    context.is_new = false;
    return true;
  }

  // Submits the contexts of the next requests, at most two. Consecutive requests of one context form one element.
  void submit() override {
    if (!pending_.empty()) return;
    take_turns();
    std::vector<Port> next;
    for (const RequestRef& each : by_priority()) {
      const auto context = std::static_pointer_cast<ExeclistContext>(each->context);
      if (!next.empty() && next.back().context == context) continue;
      if (next.size() == kPorts || has(next, *context)) break;
      next.push_back({context, context->tail});
    }
    // The engine switches from the first to the second by itself.
    if (next.empty() || next == active_) return;
    if (active_.size() == kPorts && next.size() == 1 && next[0] == active_[1]) return;
    std::vector<uint64_t> descriptors;
    descriptors.reserve(kMaxElements);
    for (const Port& each : next) {
      set(*each.context, hw::RING_TAIL::kDesc, static_cast<uint32_t>(each.tail));
      descriptors.push_back(each.context->descriptor);
    }
    pending_ = std::move(next);
    write_port(std::move(descriptors));
  }

  void read_reports() override {
    for (const ContextReport report : reports_.read()) {
      const ContextRef before = active_.empty() ? nullptr : active_.front().context;
      if (report == ContextReport::taken) {
        active_ = std::exchange(pending_, {});
      } else if (!active_.empty()) {
        active_.erase(active_.begin());
      }
      if (!active_.empty() && active_.front().context == before) continue;
      if (before) take_time(*before);
      started_ = load_clock_->before();
      active_since_ = load_clock_->now();
    }
  }
  Wanted wanted() const override {
    if (pending_.empty() || active_.empty() || pending_.front().context == active_.front().context) return Wanted::no;
    const RequestRef stays = first_of(*active_.front().context), comes = first_of(*pending_.front().context);
    if (!stays || !comes) return Wanted::no;
    return comes->priority > stays->priority ? Wanted::by_more_urgent : Wanted::by_equal;
  }
  bool can_interrupt() const override { return preempts_; }

  void read_progress() override {
    for (const RequestRef& each : running_) {
      if (!is_done(*each)) continue;
      static_cast<ExeclistContext&>(*each->context).head = each->end;
    }
  }

  bool is_done(const Request& request) const override {
    const auto& context = static_cast<const ExeclistContext&>(*request.context);
    return static_cast<int32_t>(context.timeline.load(kTimeline) - request.seqno) >= 0;
  }

  void after_reset(const Request* culprit) override {
    if (culprit != nullptr) {
      // The culprit's context gets a new image that continues after the failed request, with the timeline as if the
      // request had completed. Its next requests are written again, because the first request of a new image must set
      // registers.
      auto& context = static_cast<ExeclistContext&>(*culprit->context);
      queue_again(context);
      context.timeline.store(kTimeline, culprit->seqno);
      context.tail = culprit->end;
      write_image(context);
      context.is_new = true;
      context.head = culprit->end;
      set(context, hw::RING_HEAD::kDesc, static_cast<uint32_t>(culprit->end));
    }
    // Other interrupted contexts restart at their current request. Contexts that did not run were saved before, or
    // never started.
    const std::vector<Port> interrupted = std::exchange(interrupted_, {});
    if (interrupted.empty()) return;
    const ContextRef& context = interrupted.front().context;
    if (culprit != nullptr && culprit->context == context) return;
    const RequestRef again = first_of(*context);
    if (!again) return;
    set(*context, hw::RING_HEAD::kDesc, static_cast<uint32_t>(again->start));
    set(*context, hw::BB_ADDR::kDesc, 0);
    set(*context, hw::BB_STATE::kDesc, 0);
  }

  // Uses the context that the engine reported, or else the submitted one; not the order of submission.
  RequestRef current() const override {
    for (const std::vector<Port>* const list : {&active_, &pending_}) {
      for (const Port& port : *list) {
        if (RequestRef first = first_of(*port.context)) return first;
      }
    }
    return nullptr;
  }

 private:
  static constexpr size_t kPorts = 2;
  static constexpr size_t kMaxElements = 8;  // of the submit queue

  uint32_t at(const spec::RegisterDesc& desc) const { return desc.offset(hardware_.model().id); }
  uint32_t save_control(const ExeclistContext& context) const {
    hw::CTXT_SR_CTL control;
    control.oar_context_enable = context.is_measured && counts_apart_;
    control.inhibit_synchronous_context_switch = true;
    return kAllBits | packed32(control, hardware_.model());
  }
  struct Port {
    ContextRef context;
    uint64_t tail = 0;  // last value submitted to the engine
    bool operator==(const Port&) const = default;
  };
  static bool has(const std::vector<Port>& ports, const ExeclistContext& context) {
    return std::any_of(ports.begin(), ports.end(), [&](const Port& each) { return each.context.get() == &context; });
  }
  std::vector<RequestRef> by_priority() const {
    std::vector<RequestRef> open;
    for (const RequestRef& each : running_) {
      if (!is_done(*each)) open.push_back(each);
    }
    // Without preemption the engine stays on its current context.
    const EngineContext* const kept = preempts_ || active_.empty() ? nullptr : active_.front().context.get();
    std::stable_sort(open.begin(), open.end(), [&](const RequestRef& one, const RequestRef& two) {
      const bool first = one->context.get() == kept, second = two->context.get() == kept;
      return first != second ? first : one->priority > two->priority;
    });
    return open;
  }

  // Counts the time that the image of a context says it has run since the last call. The engine has saved it there.
  void take_time(ExeclistContext& context) const {
    const uint32_t saved = saved_ticks(context);
    const uint64_t before = first_nanosecond(context.ticks, hardware_.model().timestamp_hz);
    context.ticks += saved - context.saved_ticks;
    context.saved_ticks = saved;
    const uint64_t after = first_nanosecond(context.ticks, hardware_.model().timestamp_hz);
    add_time(context, load_clock_->counted(after - before, started_));
  }
  uint32_t saved_ticks(const ExeclistContext& context) const {
    const auto found = dwords_.find(at(hw::CTX_TIMESTAMP::kDesc));
    check(found != dwords_.end(), "the context image holds the time of the context");
    return context.image.load(kPageBytes + found->second * 4);
  }
  void add_time(const ExeclistContext& context, uint64_t nanoseconds) const {
    if (context.load) context.load->add(user_class(engine_.engine_class), nanoseconds);
  }
  // Returns the time since the driver saw that the engine runs the first context.
  uint64_t running_ns() const {
    return load_clock_->counted(load_clock_->now().device - active_since_.device, active_since_);
  }

  // Returns the next request of a context whose commands are in the ring. Null: none.
  RequestRef first_of(const EngineContext& context) const {
    for (const RequestRef& each : running_) {
      if (each->context.get() == &context && !is_done(*each)) return each;
    }
    return nullptr;
  }

  // Moves a context whose time slice is over behind others of the same priority.
  void take_turns() {
    const uint64_t now = hardware_.device().clock().nanoseconds;
    const RequestRef at = active_.empty() ? nullptr : current();
    if (!at || at->context != turn_) {
      turn_ = at ? at->context : nullptr;
      turn_since_ = now;
      return;
    }
    if (!preempts_ || now - turn_since_ < kTurn) return;
    turn_since_ = now;
    const auto is_rival = [&](const RequestRef& each) {
      return each->context != turn_ && each->priority >= at->priority && !is_done(*each);
    };
    if (std::none_of(running_.begin(), running_.end(), is_rival)) return;
    std::stable_partition(running_.begin(), running_.end(),
                          [&](const RequestRef& each) { return each->context != turn_; });
  }

  void write_port(std::vector<uint64_t> descriptors) {
    if (!has_submit_queue_) {
      descriptors.resize(kPorts);
      for (size_t element = kPorts; element-- > 0;) {
        hardware_.write(engine_, at(hw::ELSP::kDesc), static_cast<uint32_t>(descriptors[element] >> 32));
        hardware_.write(engine_, at(hw::ELSP::kDesc), static_cast<uint32_t>(descriptors[element]));
      }
      return;
    }
    descriptors.resize(kMaxElements);
    for (uint32_t element = 0; element < kMaxElements; ++element) {
      hardware_.write(engine_, at(hw::EXECLIST_SQ_CONTENTS::kDesc) + 8 * element,
                      static_cast<uint32_t>(descriptors[element]));
      hardware_.write(engine_, at(hw::EXECLIST_SQ_CONTENTS::kDesc) + 8 * element + 4,
                      static_cast<uint32_t>(descriptors[element] >> 32));
    }
    hw::EXECLIST_CONTROL control;
    control.load = true;
    hardware_.write(engine_, at(hw::EXECLIST_CONTROL::kDesc), packed32(control, hardware_.model()));
  }

  // Writes the image of a context that has not run: registers have their values after a reset, and no command has set
  // state of the pipelines.
  void write_image(ExeclistContext& context) {
    check(first_image_.size() * 4 <= kImageBytes - kPageBytes, "the context image fits its allocation");
    for (uint32_t i = 0; i < first_image_.size(); ++i) {
      context.image.store(kPageBytes + i * 4, first_image_[i]);
    }
    for (const RegisterValue& each : context_registers_) {
      const std::optional<uint32_t> dword = dword_of(each.offset);
      check(dword.has_value(), "the context image holds registers of performance counters");
      context.image.store(kPageBytes + *dword * 4, each.value);
    }
    context.saved_ticks = saved_ticks(context);
    set(context, hw::CTXT_SR_CTL::kDesc, save_control(context));
    set(context, hw::RING_TAIL::kDesc, static_cast<uint32_t>(context.tail));
    set(context, hw::RING_START::kDesc, static_cast<uint32_t>(context.ring.address()));
    hw::RING_CTL control;
    control.buffer_length_pages_minus_1 = kRingBytes / kPageBytes - 1;
    control.enable = true;
    set(context, hw::RING_CTL::kDesc, packed32(control, hardware_.model()));
    const std::array<uint64_t, 4> roots = context.tables->roots();
    const uint32_t first = at(hw::PDP::kDesc);
    for (uint32_t i = 0; i < roots.size(); ++i) {
      hw::PDP root;
      root.address = PhysAddr(roots[i]);
      const uint64_t value = packed(root, hardware_.model());
      set(context, first + 8 * i, static_cast<uint32_t>(value));
      set(context, first + 8 * i + 4, static_cast<uint32_t>(value >> 32));
    }
  }
  // Returns the dword of a register's value in images. No value: images do not hold it.
  std::optional<uint32_t> dword_of(uint32_t offset) const {
    auto found = dwords_.find(offset);
    if (found == dwords_.end()) found = dwords_.find(offset - engine_.mmio_base);
    return found == dwords_.end() ? std::nullopt : std::optional(found->second);
  }
  // Sets the value of a register in the image.
  void set(ExeclistContext& context, uint32_t offset, uint32_t value) const {
    const auto at = dwords_.find(offset);
    check(at != dwords_.end(), "the context image holds the register");
    context.image.store(kPageBytes + at->second * 4, value);
  }
  void set(ExeclistContext& context, const spec::RegisterDesc& desc, uint32_t value) const {
    set(context, desc.offset(hardware_.model().id), value);
  }

  mmio::ContextImage layout_;
  std::unordered_map<uint32_t, uint32_t> dwords_;  // register -> dword in the image
  bool has_submit_queue_;
  bool preempts_;      // the engine supports preemption
  bool counts_apart_;  // a context can have counters of its own
  std::vector<uint32_t> first_image_;
  std::vector<RegisterValue> user_registers_;     // those that images do not hold
  std::vector<RegisterValue> context_registers_;  // of performance counters
  PinnedMemory device_value_;                     // of the register that set_device_register() sets; 0 at start-up
  ContextReports reports_;
  uint32_t next_context_ = 0;
  std::vector<std::weak_ptr<ExeclistContext>> contexts_;
  std::vector<Port> active_;             // what the engine executes, by its reports
  LoadClock::Point started_;             // a point before the first of them was started
  LoadClock::Point active_since_;        // when the driver learned of that
  std::vector<Port> pending_;            // submitted but not yet accepted
  std::vector<Port> interrupted_;        // by a reset
  std::shared_ptr<EngineContext> turn_;  // owner of the current time slice
  uint64_t turn_since_ = 0;
};

}  // namespace

std::unique_ptr<EngineQueue> make_execlist_queue(Hardware& hardware, GlobalTable& table,
                                                 const spec::EngineModel& engine) {
  std::optional<PinnedMemory> status = PinnedMemory::create(hardware, table, kPageBytes);
  std::optional<PinnedMemory> device_value = PinnedMemory::create(hardware, table, kPageBytes);
  if (!status || !device_value) return nullptr;
  return std::make_unique<ExeclistQueue>(hardware, table, engine, std::move(*status), std::move(*device_value));
}

}  // namespace halogen::driver
