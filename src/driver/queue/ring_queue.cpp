// Rings shared by all contexts, for chips without execlists. Work executes strictly in the order in which commands are
// written.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "driver/hw/command_writer.h"
#include "driver/hw/packed.h"
#include "driver/queue/engine_queue.h"
#include "hw/context.h"
#include "hw/hwsp.h"
#include "hw/mi_flow.h"
#include "hw/ring.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kRingBytes = 32 * kPageBytes;
constexpr uint64_t kLineBytes = 64;
constexpr uint32_t kSeqno = 0x100;  // offset in the status page; the hardware writes below it

class RingContext final : public EngineContext {
 public:
  RingContext(EngineQueue& queue, std::optional<PinnedMemory> its_image)
      : EngineContext(queue), image(std::move(its_image)) {}
  std::optional<PinnedMemory> image;  // render engine only
  bool has_run = false;
};

class RingQueue final : public EngineQueue {
 public:
  RingQueue(Hardware& hardware, GlobalTable& table, PageTables& tables, const spec::EngineModel& engine,
            PinnedMemory ring, PinnedMemory status)
      : EngineQueue(hardware, table, engine), tables_(tables), ring_(std::move(ring)), status_(std::move(status)) {
    start();
  }

  void start() override {
    table_.enable();
    tables_.load(engine_);
    const bool physical = hardware_.has(spec::Feature::physical_status_page);
    const uint64_t page = physical ? status_.run().address : status_.address();
    hw::HWS_PGA status;
    status.address = page & 0xffff'f000;
    if (physical) status.address_35_32 = static_cast<uint8_t>(page >> 32);
    hw::RING_CTL control;
    control.buffer_length_pages_minus_1 = kRingBytes / kPageBytes - 1;
    control.enable = true;
    hardware_.write(engine_, at(hw::HWS_PGA::kDesc), packed32(status, hardware_.model()));
    hardware_.write(engine_, at(hw::RING_CTL::kDesc), 0);
    hardware_.write(engine_, at(hw::RING_START::kDesc), static_cast<uint32_t>(ring_.address()));
    hardware_.write(engine_, at(hw::RING_HEAD::kDesc), 0);
    hardware_.write(engine_, at(hw::RING_TAIL::kDesc), 0);
    hardware_.write(engine_, at(hw::RING_CTL::kDesc), packed32(control, hardware_.model()));
    tail_ = head_ = told_ = 0;
    loaded_ = nullptr;
    keep_ = nullptr;
  }

  std::shared_ptr<EngineContext> make_context(std::shared_ptr<PageTables>) override {
    std::optional<PinnedMemory> image;
    if (CommandWriter(hardware_.model(), engine_).has<hw::MI_SET_CONTEXT>()) {
      if (!fresh_) fresh_ = PinnedMemory::create(hardware_, table_, image_bytes());
      image = PinnedMemory::create(hardware_, table_, image_bytes());
      if (!image || !fresh_) return nullptr;
    }
    return std::make_shared<RingContext>(*this, std::move(image));
  }

 protected:
  bool write_commands(Request& request) override {
    auto& context = static_cast<RingContext&>(*request.context);
    CommandWriter commands(hardware_.model(), engine_);
    commands.flush(true);
    if (context.image && loaded_ != &context) {
      // A new context starts with the state that the first context found.
      if (!context.has_run) switch_to(commands, *fresh_, !has_fresh_);
      switch_to(commands, *context.image, !context.has_run);
    }
    if (request.batch != 0) commands.start_batch(request.batch, request.secure);
    commands.flush(false);
    request.seqno = next_seqno_;
    commands.store_status(kSeqno, request.seqno);
    commands.interrupt();
    commands.pad();
    const uint64_t bytes = commands.dwords().size() * 4;
    if (free_bytes() < bytes + 64) return false;
    request.keeps.reserve(request.keeps.size() + 1);
    request.start = tail_;
    for (const uint32_t dword : commands.dwords()) {
      ring_.store(tail_, dword);
      tail_ = (tail_ + 4) % kRingBytes;
    }
    request.end = tail_;
    ++next_seqno_;
    context.has_run = true;
    has_fresh_ |= context.image.has_value();
    // The switch saves the previous context to its image, which must live until this request is done.
    if (keep_ != request.context) request.keeps.push_back(std::exchange(keep_, request.context));
    loaded_ = &context;
    return true;
  }
  void submit() override {
    if (told_ != tail_) hardware_.write(engine_, at(hw::RING_TAIL::kDesc), static_cast<uint32_t>(tail_));
    told_ = tail_;
  }
  bool is_done(const Request& request) const override {
    return static_cast<int32_t>(status_.load(kSeqno) - request.seqno) >= 0;
  }
  void read_progress() override {
    const uint32_t value = hardware_.read(engine_, at(hw::RING_HEAD::kDesc));
    head_ = spec::unpack_register<hw::RING_HEAD>(hardware_.model().gen, value).head_offset;
  }
  // The ring is empty after a reset: unfinished requests return to the front of the queue.
  void after_reset(const Request*) override {
    std::deque<RequestRef> again;
    std::swap(again, running_);
    for (auto each = again.rbegin(); each != again.rend(); ++each) waiting_.push_front(*each);
  }

 private:
  uint32_t at(const spec::RegisterDesc& desc) const { return desc.offset(hardware_.model().id); }
  static void switch_to(CommandWriter& commands, const PinnedMemory& image, bool inhibit) {
    commands.set_context(image.address(), inhibit);
    commands.add_dwords({0});  // MI_SET_CONTEXT must be followed by a no-op
  }
  // Returns the size of an image as the chip reports it, rounded up to whole pages.
  uint64_t image_bytes() const {
    const uint32_t value = hardware_.read(engine_, at(hw::CXT_SIZE::kDesc));
    const auto size = spec::unpack_register<hw::CXT_SIZE>(hardware_.model().gen, value);
    const uint64_t lines = hardware_.has(spec::Feature::whole_context_size)
                               ? size.size_minus_1 + uint64_t{1}
                               : uint64_t{size.ring_size} + size.extended_size + size.pipeline_size;
    return align_up(std::max<uint64_t>(lines, 1) * kLineBytes, kPageBytes);
  }
  uint64_t free_bytes() const { return (head_ + kRingBytes - tail_ - 8) % kRingBytes; }

  PageTables& tables_;
  PinnedMemory ring_;
  PinnedMemory status_;
  std::optional<PinnedMemory> fresh_;  // image of a context without any work
  bool has_fresh_ = false;             // it is saved when the first context starts
  uint64_t tail_ = 0;
  uint64_t head_ = 0;
  uint64_t told_ = 0;
  uint32_t next_seqno_ = 1;
  const RingContext* loaded_ = nullptr;
  std::shared_ptr<EngineContext> keep_;  // the engine still saves to its image
};

}  // namespace

std::unique_ptr<EngineQueue> make_ring_queue(Hardware& hardware, GlobalTable& table, PageTables& tables,
                                             const spec::EngineModel& engine) {
  std::optional<PinnedMemory> ring = PinnedMemory::create(hardware, table, kRingBytes);
  std::optional<PinnedMemory> status = PinnedMemory::create(hardware, table, kPageBytes);
  if (!ring || !status) return nullptr;
  return std::make_unique<RingQueue>(hardware, table, tables, engine, std::move(*ring), std::move(*status));
}

}  // namespace halogen::driver
