// Contexts with rings of their own, handed to the engine's port two at a time (or through the submit queue). The engine
// reports in its status page which context it left and why.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "driver/command_writer.h"
#include "driver/engine_queue.h"
#include "hw/hwsp.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kRingBytes = 4 * kPageBytes;
constexpr uint64_t kImageBytes = 24 * kPageBytes;  // status page of the process, then the image of the largest engine
constexpr uint64_t kTimeline = 0;

// Registers, from an engine's base.
constexpr uint32_t kMode = 0x29c, kPort = 0x230, kSubmitQueue = 0x510, kQueueControl = 0x550, kStatusPointer = 0x3a0;
constexpr uint32_t kExeclists = 1u << 15, kNoLegacy = 1u << 3;
// Dwords of values in an image.
constexpr uint32_t kImageControl = 0x03, kImageHead = 0x05, kImageTail = 0x07, kImageStart = 0x09,
                   kImageRingControl = 0x0b, kImagePdp3High = 0x25;
constexpr uint32_t kRestoreInhibit = 1, kNoSwitchOnWait = 8;

class ExeclistContext final : public EngineContext {
 public:
  ExeclistContext(EngineQueue& queue, KernelMemory its_image, KernelMemory its_ring, KernelMemory its_timeline,
                  std::shared_ptr<PageTables> its_tables)
      : EngineContext(queue),
        image(std::move(its_image)),
        ring(std::move(its_ring)),
        timeline(std::move(its_timeline)),
        tables(std::move(its_tables)) {}

  void set(uint32_t dword, uint32_t value) { image.store(kPageBytes + dword * 4, value); }
  uint32_t get(uint32_t dword) const { return image.load(kPageBytes + dword * 4); }

  KernelMemory image;
  KernelMemory ring;
  KernelMemory timeline;
  std::shared_ptr<PageTables> tables;
  uint64_t descriptor = 0;
  uint64_t tail = 0;
  uint64_t head = 0;  // what is known to be done
  uint32_t next_seqno = 1;
};
using ContextRef = std::shared_ptr<ExeclistContext>;

// As context descriptors name classes.
uint32_t class_number(spec::EngineClass engine) {
  switch (engine) {
    case spec::EngineClass::render:
      return 0;
    case spec::EngineClass::video:
      return 1;
    case spec::EngineClass::vebox:
      return 2;
    case spec::EngineClass::blit:
      return 3;
    case spec::EngineClass::compute:
      return 5;
    case spec::EngineClass::posh:
      return 6;
  }
  return 0;
}

class ExeclistQueue final : public EngineQueue {
 public:
  ExeclistQueue(Hardware& hardware, GlobalTable& table, const spec::EngineModel& engine, KernelMemory status)
      : EngineQueue(hardware, table, engine),
        queue_(hardware.generation().submission() == SubmissionKind::submit_queue),
        status_(std::move(status)) {
    start();
  }

  void start() override {
    hardware_.write(engine_, hw::HWS_PGA::kDesc.offset(hardware_.model().id), static_cast<uint32_t>(status_.address()));
    const uint32_t mode = queue_ ? kNoLegacy : kExeclists;
    hardware_.write(engine_, kMode, Hardware::masked(mode, true));
    seen_ = entries() - 1;
    status_.store(index_dword() * 4, seen_);
    hardware_.write(engine_, kStatusPointer, 0xffff'0000 | seen_ << 8 | seen_);
    ports_.clear();
  }

  std::shared_ptr<EngineContext> make_context(uint32_t number, std::shared_ptr<PageTables> tables) override {
    std::optional<KernelMemory> image = KernelMemory::create(hardware_, table_, kImageBytes);
    std::optional<KernelMemory> ring = KernelMemory::create(hardware_, table_, kRingBytes);
    std::optional<KernelMemory> timeline = KernelMemory::create(hardware_, table_, kPageBytes);
    if (!image || !ring || !timeline) return nullptr;
    auto context = std::make_shared<ExeclistContext>(*this, std::move(*image), std::move(*ring), std::move(*timeline),
                                                     std::move(tables));
    write_image(*context);
    const bool wide = hardware_.has(spec::Feature::ppgtt_4level);
    const uint32_t id =
        queue_ ? class_number(engine_.engine_class) << 29 | uint32_t{engine_.instance} << 16 | (number % 0x7fe + 1) << 5
               : number % 0x1f'fffe + 1;
    constexpr uint32_t kValid = 1, kPrivilege = 1u << 8, kLegacy32 = 1u << 3, kLegacy64 = 3u << 3;
    context->descriptor =
        uint64_t{id} << 32 | context->image.address() | (wide ? kLegacy64 : kLegacy32) | kPrivilege | kValid;
    return context;
  }

 protected:
  bool place(Request& request) override {
    auto& context = static_cast<ExeclistContext&>(*request.context);
    CommandWriter commands(hardware_.model(), engine_);
    commands.flush(true);
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
    return true;
  }

  // The contexts of the next requests, at most two; requests of one context that follow each other go together.
  void submit() override {
    std::vector<Port> next;
    for (const RequestRef& each : by_priority()) {
      const auto context = std::static_pointer_cast<ExeclistContext>(each->context);
      if (!next.empty() && next.back().context == context) continue;
      if (next.size() == kPorts || has(next, *context)) break;
      next.push_back({context, context->tail});
    }
    // The engine goes from the first to the second by itself.
    if (next.empty() || next == ports_) return;
    if (ports_.size() == kPorts && next.size() == 1 && next[0] == ports_[1]) return;
    std::vector<uint64_t> descriptors;
    for (const Port& each : next) {
      each.context->set(kImageTail, static_cast<uint32_t>(each.tail));
      descriptors.push_back(each.context->descriptor);
    }
    ports_ = std::move(next);
    write_port(std::move(descriptors));
  }

  void look() override {
    const uint32_t last = status_.load(index_dword() * 4) % entries();
    if (last != seen_) hardware_.write(engine_, kStatusPointer, 0xff00'0000 | last << 8);
    seen_ = last;
    for (const RequestRef& each : running_) {
      if (is_done(*each)) static_cast<ExeclistContext&>(*each->context).head = each->end;
    }
  }

  bool is_done(const Request& request) const override {
    const auto& context = static_cast<const ExeclistContext&>(*request.context);
    return static_cast<int32_t>(context.timeline.load(kTimeline) - request.seqno) >= 0;
  }

  void after_reset(const Request* culprit) override {
    if (culprit != nullptr) {
      // Its context starts afresh behind the culprit, with the timeline as if that had been done.
      auto& context = static_cast<ExeclistContext&>(*culprit->context);
      context.timeline.store(kTimeline, culprit->seqno);
      write_image(context);
      context.head = culprit->end;
      context.set(kImageHead, static_cast<uint32_t>(culprit->end));
    }
    // Any other was saved when the engine left it, or never ran.
  }

  // What the ports say, not the order in which work came.
  RequestRef current() const override {
    for (const Port& port : ports_) {
      for (const RequestRef& each : running_) {
        if (each->context == port.context && !is_done(*each)) return each;
      }
    }
    return nullptr;
  }

 private:
  static constexpr size_t kPorts = 2;

  uint32_t entries() const { return queue_ ? 12 : 6; }
  uint32_t index_dword() const { return queue_ ? 0x2f : 0x1f; }
  struct Port {
    ContextRef context;
    uint64_t tail = 0;  // that the engine was told
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
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& one, const auto& two) { return one->priority > two->priority; });
    return open;
  }

  void write_port(std::vector<uint64_t> descriptors) {
    if (!queue_) {
      descriptors.resize(kPorts);
      for (size_t element = kPorts; element-- > 0;) {
        hardware_.write(engine_, kPort, static_cast<uint32_t>(descriptors[element] >> 32));
        hardware_.write(engine_, kPort, static_cast<uint32_t>(descriptors[element]));
      }
      return;
    }
    descriptors.resize(8);
    for (uint32_t element = 0; element < 8; ++element) {
      hardware_.write(engine_, kSubmitQueue + 8 * element, static_cast<uint32_t>(descriptors[element]));
      hardware_.write(engine_, kSubmitQueue + 8 * element + 4, static_cast<uint32_t>(descriptors[element] >> 32));
    }
    hardware_.write(engine_, kQueueControl, 1);
  }

  // The registers of the ring, then page directory pointers: what an engine needs to begin without a saved state.
  void write_image(ExeclistContext& context) {
    const uint32_t base = queue_ ? 0 : engine_.mmio_base;
    const uint32_t load = queue_ ? 0x1108'1000 : 0x1100'1000;  // MI_LOAD_REGISTER_IMM, posted
    const bool short_list = hardware_.has(spec::Feature::swsb);
    std::vector<uint32_t> ring = {0x244, 0x34, 0x30, 0x38, 0x3c, 0x168, 0x140, 0x110};
    const std::vector<uint32_t> rest = short_list ? std::vector<uint32_t>{0x1c0, 0x1c4, 0x1c8, 0x180, 0x2b4}
                                                  : std::vector<uint32_t>{0x11c, 0x114, 0x118, 0x1c0, 0x1c4, 0x1c8};
    ring.insert(ring.end(), rest.begin(), rest.end());
    const auto write = [&](uint32_t at, const std::vector<uint32_t>& offsets) {
      context.set(at, load | static_cast<uint32_t>(2 * offsets.size() - 1));
      for (const uint32_t offset : offsets) {
        context.set(++at, base + offset);
        context.set(++at, 0);
      }
    };
    write(0x01, ring);
    write(0x21, {0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270});
    context.set(kImageControl, 0xffff'0000 | kRestoreInhibit | kNoSwitchOnWait);
    context.set(kImageTail, static_cast<uint32_t>(context.tail));
    context.set(kImageStart, static_cast<uint32_t>(context.ring.address()));
    context.set(kImageRingControl, static_cast<uint32_t>((kRingBytes / kPageBytes - 1) << 12 | 1));
    const std::array<uint64_t, 4> roots = context.tables->roots();
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t high = kImagePdp3High + 4 * (3 - i);
      context.set(high, static_cast<uint32_t>(roots[i] >> 32));
      context.set(high + 2, static_cast<uint32_t>(roots[i]));
    }
  }

  bool queue_;
  KernelMemory status_;
  uint32_t seen_ = 0;
  std::vector<Port> ports_;  // what the engine was given last
};

}  // namespace

std::unique_ptr<EngineQueue> make_execlist_queue(Hardware& hardware, GlobalTable& table,
                                                 const spec::EngineModel& engine) {
  std::optional<KernelMemory> status = KernelMemory::create(hardware, table, kPageBytes);
  if (!status) return nullptr;
  return std::make_unique<ExeclistQueue>(hardware, table, engine, std::move(*status));
}

}  // namespace halogen::driver
