#include "decode/aub_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "decode/aub_printer.h"
#include "decode/context_image.h"
#include "hw/execlist.h"
#include "hw/l3.h"
#include "hw/ring.h"
#include "spec/packing.h"
#include "trace/device_ids.h"

namespace halogen::decode {

using engine::StreamLevel;
using engine::StreamSpace;
using trace::aub::MemorySpace;

namespace {

// Type codes of a classic command block.
constexpr uint8_t kClassicVideoRing = 3;
constexpr uint8_t kClassicBlitRing = 4;

}  // namespace

// The effect of each record on memory and engines.
struct AubDecoder::Handler {
  AubDecoder& self;

  void operator()(const trace::aub::Version& r) const {
    const auto pci_id = trace::pci_id_in(r.text);
    const spec::DeviceModel* named = pci_id ? trace::device_of_pci_id(*pci_id) : nullptr;
    self.choose_device(named != nullptr ? named : trace::device_of_aub_code(r.device),
                       fmt::format("device code {}", r.device));
  }
  void operator()(const trace::aub::ClassicVersion& r) const {
    const auto pci_id = trace::pci_id_in(r.comment);
    self.choose_device(pci_id ? trace::device_of_pci_id(*pci_id) : nullptr,
                       pci_id ? fmt::format("PCI id {:#06x}", *pci_id) : std::string("no PCI id"));
  }
  void operator()(const trace::aub::OldVersion&) const { self.choose_device(nullptr, "no device code"); }
  void operator()(const trace::aub::MemoryWrite& r) const { self.store(r.space, r.address, r.data); }
  void operator()(const trace::aub::DiscontiguousWrite& r) const { self.store(r.space, r.address, r.data); }
  void operator()(const trace::aub::ClassicBlock& r) const { self.store_block(r); }
  void operator()(const trace::aub::RegisterWrite& r) const {
    if (r.space != trace::aub::RegisterSpace::mmio) return;
    const uint64_t first_entry = self.device_->gtt_offset;
    if (first_entry != 0 && r.offset >= first_entry) {  // a CPU write to the global table
      const size_t bytes = std::min<size_t>(size_t{1} << std::min<unsigned>(r.size_code, 3), sizeof(r.value));
      return self.memory_->write_ggtt_entries(r.offset - first_entry,
                                              std::as_bytes(std::span(&r.value, 1)).first(bytes));
    }
    self.write_register(r.offset, static_cast<uint32_t>(r.value));
  }
  void operator()(const trace::aub::Unknown&) const { ++self.counts_.unknown_records; }
  template <class Other>
  void operator()(const Other&) const {}
};

AubDecoder::AubDecoder(const spec::DeviceModel* device, OutputFactory make_output, EventSink* events)
    : make_output_(std::move(make_output)), events_(events) {
  if (device != nullptr) set_device(device);
}

void AubDecoder::set_device(const spec::DeviceModel* device) {
  device_ = device;
  memory_ = std::make_unique<PagedImage>(*device);
  registers_ = std::make_unique<RegisterNames>(*device);
  output_ = make_output_(*registers_);
  for (const spec::EngineModel& model : device->engines) {
    Engine engine;
    engine.model = &model;
    engine.decoder = std::make_unique<Decoder>(*device, model.engine_class, *memory_, output_.get());
    engine.decoder->set_command_limit(command_limit_);
    engine.decoder->set_events(events_, fmt::format("gpu0.{}", model.name));
    engines_.push_back(std::move(engine));
  }
}

void AubDecoder::choose_device(const spec::DeviceModel* found, const std::string& what) {
  if (device_ != nullptr) return;
  if (found != nullptr) return set_device(found);
  failure_ = fmt::format("the trace does not name a modelled device ({}); give one with --device", what);
}

Counts AubDecoder::counts() const {
  Counts all = counts_;
  for (const Engine& engine : engines_) all.add(engine.decoder->counts());
  return all;
}

void AubDecoder::on(const trace::aub::Place& place, const trace::aub::Record& record) {
  if (!wants_more()) return;
  const bool is_new = last_record_ != place.index;  // long records come in parts
  last_record_ = place.index;
  if (is_new) ++counts_.records;
  // The version record selects the output, so it is handled before it is printed. All others are printed first, so that
  // a submission appears before the commands it runs.
  if (device_ == nullptr) std::visit(Handler{*this}, record);
  if (device_ == nullptr) {
    if (failure_.empty()) failure_ = "the trace has no version record before its data; give a device with --device";
    return;
  }
  if (output_ != nullptr && (is_new || std::holds_alternative<trace::aub::DiscontiguousWrite>(record))) {
    output_->record({place.offset, place.index, kind_of(record), describe(record, registers_.get())});
  }
  std::visit(Handler{*this}, record);
}

void AubDecoder::store(MemorySpace space, uint64_t address, std::span<const std::byte> data) {
  switch (space) {
    case MemorySpace::ggtt:
    case MemorySpace::ggtt_non_aperture:
      return memory_->write_ggtt(address, data);
    case MemorySpace::local:
      return memory_->write_local(address, data);
    case MemorySpace::system:
    case MemorySpace::ppgtt_pt_entry:
    case MemorySpace::ppgtt_pdp_entry:
    case MemorySpace::ppgtt_pd_entry:
    case MemorySpace::ppgtt_pml4_entry:
      return memory_->write(PagedImage::Pool::system, address, data);
    case MemorySpace::ggtt_entry:
      return memory_->write_ggtt_entries(address, data);
    case MemorySpace::ppgtt:
      return memory_->write(PagedImage::Pool::ppgtt_virtual, address, data);
    case MemorySpace::gtt_pd_entry:
    case MemorySpace::power_context:
      return;
  }
}

void AubDecoder::store_block(const trace::aub::ClassicBlock& block) {
  constexpr uint8_t kGttEntry = 4;
  constexpr uint8_t kPci = 3;
  if (block.operation == trace::aub::BlockOperation::comment || block.space == kPci) return;
  if (block.operation == trace::aub::BlockOperation::mmio_write) {
    uint32_t value = 0;
    std::memcpy(&value, block.data.data(), std::min(block.data.size(), sizeof value));
    return write_register(static_cast<uint32_t>(block.address), value);
  }
  // Classic traces store everything at its graphics address, so table entries add nothing.
  if (block.space == kGttEntry) return;
  memory_->write_ggtt(block.address + block.part_offset, block.data);
  if (block.operation == trace::aub::BlockOperation::command_write && block.is_last()) {
    run_classic_ring(block.address, block.total_bytes, block.type);
  }
}

AubDecoder::Engine* AubDecoder::engine_of_class(spec::EngineClass engine_class) {
  const auto it = std::find_if(engines_.begin(), engines_.end(),
                               [&](const Engine& engine) { return engine.model->engine_class == engine_class; });
  return it == engines_.end() ? nullptr : &*it;
}

void AubDecoder::run_classic_ring(uint64_t address, uint64_t bytes, uint8_t type) {
  Engine* engine = nullptr;
  if (type == kClassicBlitRing) engine = engine_of_class(spec::EngineClass::blit);
  if (type == kClassicVideoRing) engine = engine_of_class(spec::EngineClass::video);
  if (engine == nullptr) engine = engine_of_class(spec::EngineClass::render);
  if (engine == nullptr) return;
  if (output_ != nullptr) {
    output_->heading(fmt::format("{}: ring commands at {:#x}, {} bytes", engine->model->name, address, bytes));
  }
  engine->decoder->walk(
      StreamLevel{.space = StreamSpace::ggtt, .address = GpuVa{address}, .end = GpuVa{address + align_down(bytes, 4)}},
      true);
}

void AubDecoder::write_register(uint32_t offset, uint32_t value) {
  if (offset == hw::LMEM_CFG::kDesc.offset(device_->id)) {
    return memory_->set_tables_in_local_memory(spec::unpack_register<hw::LMEM_CFG>(device_->gen, value).enable);
  }
  const uint32_t port = hw::ELSP::kDesc.offset(device_->id);
  const uint32_t queue = hw::EXECLIST_SQ_CONTENTS::kDesc.offset(device_->id);
  const uint32_t control = hw::EXECLIST_CONTROL::kDesc.offset(device_->id);
  for (Engine& engine : engines_) {
    if (offset < engine.model->mmio_base) continue;
    const uint32_t relative = offset - engine.model->mmio_base;
    if (write_ring(engine, relative, value)) return;
    if (relative == port) {
      // Order of the writes: second element high, low, then first element high, low. The last write submits.
      engine.port[engine.port_writes++] = value;
      if (engine.port_writes < engine.port.size()) return;
      engine.port_writes = 0;
      submit(engine, std::array{engine.port[3], engine.port[2]});
      return submit(engine, std::array{engine.port[1], engine.port[0]});
    }
    if (relative >= queue && relative - queue < engine.queue.size() * sizeof(uint32_t)) {
      engine.queue[(relative - queue) / sizeof(uint32_t)] = value;
      return;
    }
    if (relative == control) {
      if (!spec::unpack_register<hw::EXECLIST_CONTROL>(device_->gen, value).load) return;
      for (size_t i = 0; i < engine.queue.size(); i += 2) {
        submit(engine, std::array{engine.queue[i], engine.queue[i + 1]});
      }
      engine.queue.fill(0);
      return;
    }
  }
}

bool AubDecoder::write_ring(Engine& engine, uint32_t relative, uint32_t value) {
  if (relative == hw::RING_START::kDesc.offset(device_->id)) {
    engine.ring.start = value;
  } else if (relative == hw::RING_HEAD::kDesc.offset(device_->id)) {
    engine.ring.head = value;
  } else if (relative == hw::RING_CTL::kDesc.offset(device_->id)) {
    engine.ring.control = value;
  } else if (relative == hw::RING_TAIL::kDesc.offset(device_->id)) {
    const auto control = spec::unpack_register<hw::RING_CTL>(device_->gen, engine.ring.control);
    const GpuVa start{spec::unpack_register<hw::RING_START>(device_->gen, engine.ring.start).starting_address.value};
    const uint64_t head = spec::unpack_register<hw::RING_HEAD>(device_->gen, engine.ring.head).head_offset;
    const uint64_t tail = spec::unpack_register<hw::RING_TAIL>(device_->gen, value).tail_offset;
    const uint64_t bytes = (uint64_t{control.buffer_length_pages_minus_1} + 1) * PagedImage::kPageBytes;
    if (!control.enable || head == tail || head >= bytes || tail >= bytes) return true;
    if (output_ != nullptr) {
      output_->heading(
          fmt::format("{}: ring at {:#x}, head {:#x}, tail {:#x}", engine.model->name, start.value, head, tail));
    }
    engine.decoder->walk(StreamLevel{.space = StreamSpace::ggtt,
                                     .address = start + head,
                                     .end = start + tail,
                                     .wrap_to = start,
                                     .wrap_at = start + bytes},
                         true);
    engine.ring.head = value;
  } else {
    return false;
  }
  return true;
}

void AubDecoder::submit(Engine& engine, std::array<uint32_t, 2> descriptor) {
  const auto context = hw::CONTEXT_DESCRIPTOR::unpack(device_->gen, descriptor);
  if (!context.valid) return;
  const uint64_t image = context.logical_ring_context_address.value;
  const auto ring = read_context_image(context, *device_, *memory_, engine.decoder->table());
  if (output_ != nullptr) {
    output_->heading(ring ? fmt::format("{}: context {:#x}, ring at {:#x}, head {:#x}, tail {:#x}", engine.model->name,
                                        image, ring->start, ring->head, ring->tail)
                          : fmt::format("{}: context {:#x} has no ring", engine.model->name, image));
  }
  if (!ring) {
    ++counts_.unmapped;
    return;
  }
  submissions_.push_back({engine.model->name, image, ring->root});
  memory_->set_root(ring->root);
  engine.decoder->walk(StreamLevel{.space = StreamSpace::ggtt,
                                   .address = GpuVa{ring->start + ring->head},
                                   .end = GpuVa{ring->start + ring->tail},
                                   .wrap_to = GpuVa{ring->start},
                                   .wrap_at = GpuVa{ring->start + ring->bytes}},
                       true);
  // Updates the head as the device does on completion, because writers rely on it for the next submission.
  const auto head = static_cast<uint32_t>(ring->tail);
  memory_->write_ggtt(ring->head_at, std::as_bytes(std::span(&head, 1)));
}

}  // namespace halogen::decode
