#include "trace/simulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bits.h"
#include "base/graphics_address.h"
#include "hw/gtt.h"
#include "hw/pci_header.h"
#include "hw/ring.h"
#include "spec/packing.h"
#include "spec/pci.h"

namespace halogen::trace {
namespace {

constexpr unsigned kRegisterBar = 0;
constexpr uint64_t kPageBytes = 4096;

uint8_t size_code(unsigned bytes) {
  return static_cast<uint8_t>(std::countr_zero(bytes));
}

}  // namespace

Result<std::unique_ptr<Simulator>> Simulator::create(const spec::DeviceModel& model, const SimulatorOptions& options) {
  std::unique_ptr<Simulator> simulator(new Simulator(options));
  // The reserved areas of an integrated part lie above the addresses that clients use.
  device::DeviceOptions device;
  device.name = options.name;
  device.threads = options.threads;
  device.executor = options.executor;
  device.check_rules = options.check_rules;
  device.power_gating = false;
  device.local_tables = false;
  device.wide_local = true;
  Result<std::unique_ptr<device::Device>> created = device::Device::create(model, simulator->host_, device);
  if (!created) return created.error();
  simulator->device_ = std::move(created).value();
  if (options.budget != nullptr) {
    simulator->device_->local_memory().set_permit([raw = simulator.get()](uint64_t bytes) {
      const bool granted = raw->budget_->take(bytes / kPageBytes);
      raw->local_pages_ += granted ? bytes / kPageBytes : 0;
      return granted;
    });
  }
  simulator->formats_.emplace(model, model.physical_bits);
  const memory::PageFormat* const global = simulator->formats_->find(memory::WalkMode::ggtt);
  simulator->entry_bytes_ = global == nullptr ? 8 : global->levels.back().table.bytes;
  if (const uint64_t local = local_bytes(model, device); local != 0) {
    simulator->objects_.emplace(*simulator->formats_);
    simulator->object_base_ = local / 4 * 3;  // beyond the reach of page tables in traces
  }
  simulator->commands_.resize(model.engines.size());
  simulator->settle_limit_ = options.settle_limit;
  if (options.stop != nullptr) {
    simulator->device_->stop_flag().set_watch([stop = options.stop] { return stop->raised(); });
  }
  simulator->bring_up();
  return simulator;
}

Simulator::~Simulator() {
  if (budget_ != nullptr) budget_->give(local_pages_);
}

// Does what firmware and a driver do first: enables decoding and the global table of Gen4.
void Simulator::bring_up() {
  const spec::PciWrite command =
      spec::pci_write(model(), hw::PCI_COMMAND{.io_space = true, .memory_space = true, .bus_master = true});
  device_->config_write(command.offset, command.bytes, command.value);
  if (const uint32_t offset = hw::PGTBL_CTL::kDesc.offset(model().id); offset != spec::kNoOffset) {
    device_->bar_write(kRegisterBar, offset, 4, device_->bar_read(kRegisterBar, offset, 4) | 1);
  }
}

void Simulator::reset() {
  note(aub::Comment{false, false, kResetNote});
  device_->reset(device::ResetKind::function_level);
  bring_up();
}

bool Simulator::busy() const {
  bool any = false;
  for (unsigned number = 0; number < device_->engines().count(); ++number) {
    any |= device_->engines().engine(number).state().activity != engine::Activity::idle;
  }
  return any;
}

void Simulator::record_to(aub::Writer* writer, std::string_view text) {
  recorder_ = writer;
  if (writer != nullptr) writer->open(model(), text);
}

bool Simulator::write_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes, uint64_t value) {
  note(aub::RegisterWrite{offset, 0, size_code(bytes), space, low_mask(8 * std::min(bytes, 8u)), value});
  switch (space) {
    case aub::RegisterSpace::mmio:
      device_->bar_write(kRegisterBar, offset, bytes, value);
      settle();
      return true;
    case aub::RegisterSpace::pci_config:
      device_->config_write(offset, bytes, static_cast<uint32_t>(value));
      settle();
      return true;
    case aub::RegisterSpace::io:
      device_->io_write(static_cast<uint16_t>(offset), bytes, static_cast<uint32_t>(value));
      settle();
      return true;
    case aub::RegisterSpace::vtd:
      device_->iommu_write(offset, bytes, value);
      settle();
      return true;
    case aub::RegisterSpace::mchbar:
    case aub::RegisterSpace::azalia:
      return false;
  }
  return false;
}

std::optional<uint64_t> Simulator::read_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes) {
  switch (space) {
    case aub::RegisterSpace::mmio:
      return device_->bar_read(kRegisterBar, offset, bytes);
    case aub::RegisterSpace::pci_config:
      return device_->config_read(offset, bytes);
    case aub::RegisterSpace::io:
      return device_->io_read(static_cast<uint16_t>(offset), bytes);
    case aub::RegisterSpace::vtd:
      return device_->iommu_read(offset, bytes);
    case aub::RegisterSpace::mchbar:
    case aub::RegisterSpace::azalia:
      return std::nullopt;
  }
  return std::nullopt;
}

bool Simulator::write_memory(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint8_t hint) {
  const bool plain = space == aub::MemorySpace::system;
  const bool local = space == aub::MemorySpace::local;
  const bool object = objects_ && ((plain && objects_->take_system_write(address, data)) ||
                                   (local && objects_->take_local_write(address, data)));
  note(aub::MemoryWrite{address, false, false, aub::Tiling::none, hint, object ? aub::MemorySpace::local : space, data,
                        data.size()});
  switch (space) {
    case aub::MemorySpace::ggtt:
    case aub::MemorySpace::ggtt_non_aperture:
      return transfer_through(device_->memory().walk_of(0, memory::TableKind::global), address, {}, data);
    case aub::MemorySpace::ppgtt:
      return transfer_through(process_walk(), address, {}, data);
    case aub::MemorySpace::local:
    case aub::MemorySpace::system:
    case aub::MemorySpace::ppgtt_pt_entry:
    case aub::MemorySpace::ppgtt_pdp_entry:
    case aub::MemorySpace::ppgtt_pd_entry:
    case aub::MemorySpace::ppgtt_pml4_entry:
      if (!local && !object) return host_.write_memory(PhysAddr{address}, data);
      return device_->local_memory().write(address + (object ? object_base_ : 0), data) && objects_.has_value();
    case aub::MemorySpace::ggtt_entry:
      return store_entries(address, data);
    case aub::MemorySpace::gtt_pd_entry:
    case aub::MemorySpace::power_context:
      return false;
  }
  return false;
}

bool Simulator::read_memory(aub::MemorySpace space, uint64_t address, std::span<std::byte> into) {
  std::ranges::fill(into, std::byte{0});
  switch (space) {
    case aub::MemorySpace::ggtt:
    case aub::MemorySpace::ggtt_non_aperture:
      return transfer_through(device_->memory().walk_of(0, memory::TableKind::global), address, into, {});
    case aub::MemorySpace::ppgtt:
      return transfer_through(process_walk(), address, into, {});
    case aub::MemorySpace::local:
      read_pages(GgttObjects::Pool::local, address, into);
      return objects_.has_value();
    case aub::MemorySpace::system:
      read_pages(GgttObjects::Pool::system, address, into);
      return true;
    case aub::MemorySpace::ppgtt_pt_entry:
    case aub::MemorySpace::ppgtt_pdp_entry:
    case aub::MemorySpace::ppgtt_pd_entry:
    case aub::MemorySpace::ppgtt_pml4_entry:
      return host_.read_memory(PhysAddr{address}, into);
    case aub::MemorySpace::ggtt_entry:
      for (uint64_t at = 0; at + entry_bytes_ <= into.size(); at += entry_bytes_) {
        const uint64_t entry = read_entry((address + at) / entry_bytes_);
        std::memcpy(into.data() + at, &entry, entry_bytes_);
      }
      return true;
    case aub::MemorySpace::gtt_pd_entry:
    case aub::MemorySpace::power_context:
      return false;
  }
  return false;
}

// Pages that the global table maps are read from their storage.
void Simulator::read_pages(GgttObjects::Pool pool, uint64_t address, std::span<std::byte> into) {
  while (!into.empty()) {
    const size_t part = std::min<size_t>(into.size(), kPageBytes - address % kPageBytes);
    const bool object = objects_ && objects_->is_object(pool, address);
    if (object || pool == GgttObjects::Pool::local) {
      device_->local_memory().read(address + (object ? object_base_ : 0), into.first(part));
    } else {
      host_.read_memory(PhysAddr{address}, into.first(part));
    }
    into = into.subspan(part);
    address += part;
  }
}

aub::MemorySpace Simulator::space_of_read(uint64_t address, size_t bytes) {
  const bool local = objects_ && objects_->guess_read(address, bytes) == GgttObjects::Pool::local;
  return local ? aub::MemorySpace::local : aub::MemorySpace::system;
}

// Redirects entries that point at local memory to the storage of global objects, and copies earlier content there.
bool Simulator::store_entries(uint64_t offset, std::span<const std::byte> data) {
  if (objects_) {
    std::array<std::byte, kPageBytes> content;
    for (const uint64_t page : objects_->note_global_entries(data)) {
      device_->local_memory().read(page * kPageBytes, content);
      const bool any = std::ranges::any_of(content, [](std::byte byte) { return byte != std::byte{0}; });
      if (any) device_->local_memory().write(page * kPageBytes + object_base_, content);
    }
  }
  const uint64_t moved = objects_ ? formats_->find(memory::WalkMode::ggtt)->levels.back().table.local_memory : 0;
  for (; data.size() >= entry_bytes_; data = data.subspan(entry_bytes_), offset += entry_bytes_) {
    uint64_t entry = 0;
    std::memcpy(&entry, data.data(), entry_bytes_);
    if ((entry & moved) != 0) entry += object_base_;
    if (offset >= gtt_bytes(model(), device_->options())) return false;
    device_->bar_write(kRegisterBar, model().gtt_offset + offset, entry_bytes_, entry);
  }
  return data.empty();
}

uint64_t Simulator::read_entry(uint64_t index) {
  const uint64_t offset = index * entry_bytes_;
  if (offset >= gtt_bytes(model(), device_->options())) return 0;
  uint64_t entry = device_->bar_read(kRegisterBar, model().gtt_offset + offset, entry_bytes_);
  const uint64_t moved = objects_ ? formats_->find(memory::WalkMode::ggtt)->levels.back().table.local_memory : 0;
  if ((entry & moved) != 0) entry -= object_base_;
  return entry;
}

memory::WalkContext Simulator::process_walk() {
  return device_->memory().walk_of(last_engine_, memory::TableKind::per_process);
}

bool Simulator::transfer_through(const memory::WalkContext& walked, uint64_t address, std::span<std::byte> into,
                                 std::span<const std::byte> from) {
  if (walked.format == nullptr) return false;  // no tables: nothing has run yet
  const memory::PhysicalMemory& memory = device_->memory().map().physical();
  const size_t size = std::max(into.size(), from.size());
  bool all = true;
  for (size_t done = 0; done < size;) {
    const uint64_t at = address + done;
    const size_t part = std::min<size_t>(size - done, kPageBytes - at % kPageBytes);
    const uint64_t walked_at = walked.format->canonical ? wrapped_address(at).value : at;
    const memory::WalkResult found = walk(memory, walked, walked_at, {}, nullptr, false);
    if (found.fault.reason == memory::FaultReason::none && !found.mapping.null) {
      const PhysAddr page{found.mapping.address + at % (uint64_t{1} << found.mapping.page_bits)};
      all &= into.empty() ? memory.write(found.mapping.space, page, from.subspan(done, part))
                          : memory.read(found.mapping.space, page, into.subspan(done, part));
    } else {
      all = false;
    }
    done += part;
  }
  return all;
}

bool Simulator::run_ring(spec::EngineClass engine_class, uint64_t address, uint64_t bytes) {
  const auto engines = model().engines;
  auto engine = std::ranges::find(engines, engine_class, &spec::EngineModel::engine_class);
  if (engine == engines.end()) engine = engines.begin();
  const uint64_t head = address % kPageBytes;
  const uint64_t tail = align_up(head + bytes, 8);
  const uint64_t pages = tail / kPageBytes + 1;  // the tail must not reach the end
  if (bytes == 0 || hw::RING_TAIL::kDesc.offset(model().id) == spec::kNoOffset || pages > 512) return false;
  const auto set = [&](const spec::RegisterDesc& desc, uint64_t value) {
    write_register(aub::RegisterSpace::mmio, engine->mmio_base + desc.offset(model().id), 4, value);
  };
  set(hw::RING_CTL::kDesc, 0);
  set(hw::RING_START::kDesc, align_down(address, kPageBytes));
  set(hw::RING_HEAD::kDesc, head);
  set(hw::RING_TAIL::kDesc, head);
  set(hw::RING_CTL::kDesc, (pages - 1) << 12 | 1);
  set(hw::RING_TAIL::kDesc, tail);
  return true;
}

void Simulator::note_engines() {
  for (unsigned number = 0; number < commands_.size(); ++number) {
    const uint64_t now = device_->engines().engine(number).state().commands;
    if (now != commands_[number]) {
      last_engine_ = number;
      note_context(number);
    }
    commands_[number] = now;
  }
}

void Simulator::note_context(unsigned engine) {
  constexpr size_t kMaxContexts = 4096;
  constexpr uint64_t kImageMask = 0xffff'f000;  // image address in a descriptor
  const memory::Gam::Engine& gam = device_->memory().gam().engine(engine);
  const uint32_t image = gam.loaded ? static_cast<uint32_t>(gam.launched[0] & kImageMask) : 0;
  std::erase_if(contexts_, [&](const SeenContext& each) { return each.engine == engine && each.image == image; });
  if (contexts_.size() == kMaxContexts) contexts_.erase(contexts_.begin());
  memory::WalkContext walk = device_->memory().walk_of(engine, memory::TableKind::per_process);
  if (walk.nested != nullptr) walk = {};  // it would point to data of the engine's next context
  contexts_.push_back({engine, image, walk});
}

bool Simulator::read_context(const SeenContext& context, uint64_t address, std::span<std::byte> into) {
  std::ranges::fill(into, std::byte{0});
  return transfer_through(context.walk, address, into, {});
}

bool Simulator::finish() {
  if (!busy()) return true;
  note(aub::Comment{false, false, kFinishNote});
  return settle();
}

void Simulator::advance(uint64_t nanoseconds) {
  const uint64_t part = std::min<uint64_t>(nanoseconds, ~uint32_t{0});
  note(aub::Delay{static_cast<uint32_t>(part)});
  pass(part);
}

void Simulator::pass(uint64_t nanoseconds) {
  device_->advance(nanoseconds);
  note_engines();
}

bool Simulator::settle() {
  const bool settled = device_->settle(settle_limit_);
  note_engines();
  return settled;
}

uint64_t Simulator::memory_hash() const {
  static constexpr std::array<std::byte, kPageBytes> kZeros{};
  constexpr uint64_t kPrime = 0x9e37'79b9'7f4a'7c15;
  uint64_t sum = 0;  // independent of the order of pages
  const auto add = [&sum](uint64_t space, uint64_t address, std::span<const std::byte> bytes) {
    for (uint64_t at = 0; at < bytes.size(); at += kPageBytes) {
      const auto page = bytes.subspan(at, kPageBytes);
      if (std::memcmp(page.data(), kZeros.data(), kPageBytes) == 0) continue;
      uint64_t hash = ((address + at) ^ space << 60) * kPrime;
      for (size_t i = 0; i < kPageBytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, page.data() + i, sizeof word);
        hash = std::rotl((hash ^ word) * kPrime, 29);
      }
      sum += hash * kPrime;
    }
  };
  host_.visit([&](uint64_t address, std::span<const std::byte> bytes) { add(0, address, bytes); });
  device_->local_memory().visit([&](uint64_t address, std::span<const std::byte> bytes) { add(1, address, bytes); });
  return sum;
}

}  // namespace halogen::trace
