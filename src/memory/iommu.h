// The registers and queues of the I/O memory management unit that serves the graphics device (VT-d 2.x,
// spec/structs/iommu.toml): the root table pointer, the invalidation queue, the page request queue, fault records and
// the messages of their events. Integrated parts have a unit of their own for graphics. Its registers are a block of 4
// KB that firmware places and reports, outside the BARs of the device; a machine reaches it through
// Device::iommu_read() and iommu_write(). Reset of the graphics function leaves it alone.
//
// Not modelled: requests without a PASID (legacy contexts use physical addresses), device TLBs, interrupt remapping,
// the advanced fault log, protected memory. If the page request queue is full, hardware answers further requests
// itself; here they wait in the graphics device until there is room (seed 001: a request that waits can block a reset).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/event.h"
#include "hw/enums.h"
#include "hw/iommu.h"
#include "memory/fault_unit.h"
#include "memory/gam.h"
#include "memory/vtd.h"

namespace halogen::memory {

// The state, as plain data: registers as stored, by dword.
struct IommuState {
  static constexpr unsigned kFaultRecords = 8;
  static constexpr unsigned kDwords = 0x280 / 4;
  std::array<uint32_t, kDwords> registers{};
  uint64_t root = 0;        // the root table register, as the last command set it
  uint8_t next_record = 0;  // where the next fault is recorded
  bool operator==(const IommuState&) const = default;
};

// The machine around the unit.
class IommuPort {
 public:
  virtual ~IommuPort() = default;
  // Access system memory. False: no memory, or memory that no device may write.
  virtual bool read(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write(PhysAddr address, std::span<const std::byte> from) = 0;
  virtual void send_message(PhysAddr address, uint32_t data) = 0;
};

class Iommu final : public RemappingSink {
 public:
  static constexpr uint32_t kBytes = 4096;

  struct Parts {
    VtdUnit& vtd;
    Gam& gam;
    FaultUnit& faults;
    IommuPort& port;
  };

  Iommu(const spec::DeviceModel& model, const Parts& parts, EventSink& events, std::string path);
  Iommu(const Iommu&) = delete;
  Iommu& operator=(const Iommu&) = delete;

  // Access 4 bytes, or 8 bytes that are aligned. Other accesses raise an Event, read zero and write nothing.
  uint64_t read(uint32_t offset, unsigned bytes) const;
  void write(uint32_t offset, unsigned bytes, uint64_t value);

  void on_request_queued() override;
  void on_remapping_fault(const FaultContext& context, const Fault& fault) override;

  void reset();  // power on
  const IommuState& state() const { return state_; }
  void restore(const IommuState& state);

 private:
  using Register = hw::VtdRegister;
  // The four registers of an event: control, data and address.
  struct EventRegisters {
    Register control;
    Register data;
    Register address;
  };
  static constexpr EventRegisters kFaultEvent{Register::FAULT_EVENT_CONTROL, Register::FAULT_EVENT_DATA,
                                              Register::FAULT_EVENT_ADDRESS};
  static constexpr EventRegisters kInvalidationEvent{
      Register::INVALIDATION_EVENT_CONTROL, Register::INVALIDATION_EVENT_DATA, Register::INVALIDATION_EVENT_ADDRESS};
  static constexpr EventRegisters kRequestEvent{Register::PAGE_REQUEST_EVENT_CONTROL, Register::PAGE_REQUEST_EVENT_DATA,
                                                Register::PAGE_REQUEST_EVENT_ADDRESS};

  struct Queue {
    uint64_t address;
    uint64_t bytes;
  };

  template <class R>
  static size_t length_of(spec::GenId gen) {
    return R::kDesc.dwords_of_gen[static_cast<size_t>(gen)];
  }
  template <class R>
  R get(Register at, unsigned index = 0) const {
    const size_t length = length_of<R>(model_->gen);
    return R::unpack(model_->gen,
                     std::span(state_.registers).subspan(static_cast<size_t>(at) / 4 + index * length, length));
  }
  template <class R>
  void set(Register at, const R& value, unsigned index = 0) {
    const size_t length = length_of<R>(model_->gen);
    const auto words = std::span(state_.registers).subspan(static_cast<size_t>(at) / 4 + index * length, length);
    static_cast<void>(value.pack(model_->gen, words));
  }

  void write_dword(uint32_t offset, uint32_t value);
  void after_write(Register at, bool upper, uint32_t old_value, uint32_t value);
  void command(uint32_t value);
  void translate(bool on);
  void context_command();
  void iotlb_command();
  void clear_fault_status(uint32_t old_value, uint32_t value);
  void clear_record(unsigned dword, uint32_t value);
  void update_pending();
  void post_requests();
  void record(const hw::VTD_FAULT_RECORD& fault);

  Queue queue(Register address) const;
  void run_queue();
  bool execute(std::span<const uint32_t, 4> entry);
  void stop_queue(uint64_t at, const char* why);
  bool invalidate_contexts(std::span<const uint32_t, 4> entry);
  bool invalidate_translations(std::span<const uint32_t, 4> entry);
  bool invalidate_pasids(std::span<const uint32_t, 4> entry);
  bool wait(std::span<const uint32_t, 4> entry);
  bool answer_group(std::span<const uint32_t, 4> entry);
  bool answer_stream(std::span<const uint32_t, 4> entry);
  void answer(uint16_t group, uint32_t pasid, uint16_t source_id, hw::VtdResponse response);
  void invalidate(hw::VtdGranularity granularity, uint16_t source_id, unsigned function_mask);

  void raise_event(const EventRegisters& event);
  void unmask_event(const EventRegisters& event);
  void drop_event(const EventRegisters& event);
  void raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) const;

  const spec::DeviceModel* model_;
  Parts parts_;
  EventSink* events_;
  std::string path_;
  IommuState state_;
};

}  // namespace halogen::memory
