#include "trace/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/bits.h"
#include "gen/generation.h"
#include "hw/fuse.h"
#include "hw/gtt.h"
#include "hw/l3.h"
#include "hw/pci_graphics.h"
#include "spec/pci.h"

namespace halogen::trace {
namespace {

using aub::MemorySpace;
using aub::RegisterSpace;

constexpr unsigned kRegisterBar = 0;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kEngineBytes = 0x1000;
constexpr uint64_t kTableEnable = 1;
constexpr uint64_t kLocalTables = uint64_t{1} << 31;  // bit of LMEM_CFG

bool resets_by_config(const spec::DeviceModel& model) {
  return Generation(model).reset_port() == ResetPort::config_gdrst;
}

bool starts_work(const spec::DeviceModel& model, uint64_t offset) {
  return std::ranges::any_of(model.engines,
                             [&](const spec::EngineModel& engine) { return offset - engine.mmio_base < kEngineBytes; });
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const spec::DeviceModel& model, std::unique_ptr<ByteSink> sink,
                                                   bool table_enabled, bool local_tables, std::string_view text,
                                                   uint64_t settle_limit) {
  std::unique_ptr<Recorder> recorder(new Recorder);
  SimulatorOptions options;
  options.settle_limit = settle_limit;
  auto simulator = Simulator::create(model, options);
  if (!simulator) return simulator.error();
  recorder->simulator_ = std::move(*simulator);
  recorder->sink_ = std::move(sink);
  recorder->writer_ = std::make_unique<aub::Writer>(*recorder->sink_);
  recorder->simulator_->record_to(recorder->writer_.get(), text);
  recorder->table_enabled_ = table_enabled;
  recorder->local_tables_ = local_tables;
  const auto local = std::ranges::find(model.bars, spec::BarKind::lmem, &spec::BarModel::kind);
  if (local != model.bars.end()) recorder->local_bar_ = local->index;
  recorder->enable_local_tables();
  return recorder;
}

// Moves page tables to local memory. After its start and after every reset a simulator has them in system memory.
void Recorder::enable_local_tables() {
  const uint32_t offset = hw::LMEM_CFG::kDesc.offset(simulator_->model().id);
  if (!local_tables_ || offset == spec::kNoOffset) return;
  simulator_->write_register(RegisterSpace::mmio, offset, 4, kLocalTables);
}

bool Recorder::Page::differs() const {
  return std::memcmp(theirs.data(), ours.data(), theirs.size()) != 0;
}

bool Recorder::Page::is_by_others() const {
  if (before.empty()) return false;
  for (size_t i = 0; i < theirs.size(); ++i) {
    if (theirs[i] != ours[i] && ours[i] != before[i]) return false;
  }
  return true;
}

void Recorder::remember(Page& page) const {
  if (others_) {
    page.before.assign(page.ours.begin(), page.ours.end());
  } else {
    page.before.clear();
  }
}

void Recorder::on_page(uint64_t address, std::span<const std::byte> bytes) {
  if (pages_.contains(address)) return;
  const std::span<std::byte> ours = simulator_->host().map_memory(PhysAddr{address}, bytes.size());
  if (ours.empty()) return;  // exceeds the memory limit of a replay, in which the page stays zero
  Page& page = pages_.emplace(address, Page{bytes, ours}).first->second;
  catch_up(address, page);
  remember(page);
}

// Copies the range from the first to the last cache line that differs. Other threads may be writing to it.
void Recorder::catch_up(uint64_t address, const Page& page) {
  if (!page.differs()) return;
  const auto same = [&](size_t at, size_t bytes) { return std::memcmp(&page.theirs[at], &page.ours[at], bytes) == 0; };
  const size_t size = page.theirs.size();
  size_t first = 0;
  while (first < size && same(first, std::min(kLineBytes, size - first))) first += kLineBytes;
  if (first >= size) return;
  size_t end = align_up(size, kLineBytes);
  while (end > first + kLineBytes && same(end - kLineBytes, std::min(kLineBytes, size - (end - kLineBytes)))) {
    end -= kLineBytes;
  }
  simulator_->write_memory(MemorySpace::system, address + first,
                           page.theirs.subspan(first, std::min(end, size) - first));
}

void Recorder::catch_up() {
  for (const auto& [address, page] : pages_) catch_up(address, page);
  find_local_differences(
      [this](uint64_t address, auto theirs) { simulator_->write_memory(MemorySpace::local, address, theirs); });
}

// Finds differences in local memory that software wrote without a BAR, except in the device's own table.
void Recorder::find_local_differences(const Visitor& found) {
  if (!visit_local_) return;
  const device::MemoryLayout& layout = device_->memory_layout();
  std::array<std::byte, kPageBytes> ours;
  visit_local_([&](uint64_t address, std::span<const std::byte> bytes) {
    for (uint64_t done = 0; done < bytes.size(); done += kPageBytes) {
      const uint64_t at = address + done;
      if (at >= layout.gsm_base && at - layout.gsm_base < layout.gsm_bytes) continue;
      const auto theirs = bytes.subspan(done, std::min<uint64_t>(kPageBytes, bytes.size() - done));
      simulator_->device().local_memory().read(at, ours);
      if (std::memcmp(theirs.data(), ours.data(), theirs.size()) != 0) found(at, theirs);
    }
  });
}

void Recorder::forget(uint64_t address, uint64_t bytes) {
  pages_.erase(pages_.lower_bound(address), pages_.lower_bound(address + bytes));
}

void Recorder::after_entries(uint64_t offset, std::span<const std::byte> entries) {
  constexpr size_t kMany = 16 * 1024;
  if (!local_bar_) {
    simulator_->write_memory(MemorySpace::ggtt_entry, offset, entries);
    return;
  }
  if (entries.size() > kMany) return;
  const unsigned bytes = simulator_->entry_bytes();
  for (uint64_t done = 0; done + bytes <= entries.size(); done += bytes) {
    uint64_t entry = 0;
    std::memcpy(&entry, entries.data() + done, bytes);
    after_write(kRegisterBar, simulator_->model().gtt_offset + offset + done, bytes, entry);
  }
}

// Advances the device whose time is earlier, which is idle, to the time of the other.
void Recorder::keep_time() {
  if (device_ == nullptr) return;
  const auto now = [](const device::Device& device) { return device.clock().nanoseconds; };
  if (now(*device_) < now(simulator_->device())) device_->advance(now(simulator_->device()) - now(*device_));
  while (now(simulator_->device()) < now(*device_) && !simulator_->device().stop_flag().raised()) {
    simulator_->advance(now(*device_) - now(simulator_->device()));
  }
}

void Recorder::report_difference(std::string_view memory, uint64_t address, const std::string& when) {
  if (run_.differences++ == 0) {
    run_.fault = fmt::format("replay of the trace leaves other memory: {} memory at {:#x} differs, first seen {}",
                             memory, address, when);
  }
}

void Recorder::compare(uint64_t offset) {
  ++run_.comparisons;
  bool by_others = false;
  for (const auto& [address, page] : pages_) {
    if (!page.differs()) continue;
    if (page.is_by_others()) {
      by_others = true;
      continue;
    }
    const auto [theirs, ours] = std::ranges::mismatch(page.theirs, page.ours);
    report_difference("system", address + static_cast<uint64_t>(theirs - page.theirs.begin()),
                      fmt::format("after the write to {:#x} in comparison {}", offset, run_.comparisons));
  }
  find_local_differences([&](uint64_t address, auto) {
    by_others = by_others || others_;
    if (!others_) report_difference("local", address, fmt::format("after the write to {:#x}", offset));
  });
  if (by_others) ++run_.unjudged;
}

// Compares local memory, except for the device's own page table, which lies elsewhere in a replay.
void Recorder::compare_local() {
  const device::MemoryLayout& layout = device_->memory_layout();
  const device::OwnFrames& theirs = device_->local_memory();
  const device::OwnFrames& ours = simulator_->device().local_memory();
  std::array<std::byte, kPageBytes> other;
  const auto look_in = [&](const device::OwnFrames& against) {
    return [&](uint64_t address, std::span<const std::byte> bytes) {
      for (uint64_t at = address; at - address < bytes.size() && at < theirs.size(); at += kPageBytes) {
        if (at >= layout.gsm_base && at - layout.gsm_base < layout.gsm_bytes) continue;
        against.read(at, other);
        const bool same = std::memcmp(&bytes[at - address], other.data(), kPageBytes) == 0;
        if (!same) report_difference("local", at, "at the end");
      }
    };
  };
  theirs.visit(look_in(ours));
  if (run_.differences == 0) ours.visit(look_in(theirs));
}

void Recorder::before_write(unsigned bar, uint64_t offset) {
  const bool registers = bar == kRegisterBar;
  const bool works = (registers && starts_work(simulator_->model(), offset)) || simulator_->busy();
  if (works) {
    others_ = others_write_ && others_write_();
    catch_up();
    for (auto& [address, page] : pages_) remember(page);
    keep_time();
  }
  caught_up_ =
      works && (registers || bar == local_bar_);  // an aperture write changes system memory on behalf of software
}

void Recorder::after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) {
  const spec::DeviceId device = simulator_->model().id;
  if (bar == local_bar_) {
    simulator_->write_memory(MemorySpace::local, offset, std::as_bytes(std::span(&value, 1)).first(bytes));
  }
  if (bar == kRegisterBar) {
    if (table_enabled_ && offset == hw::PGTBL_CTL::kDesc.offset(device)) value |= kTableEnable;
    simulator_->write_register(RegisterSpace::mmio, static_cast<uint32_t>(offset), bytes, value);
    if (offset == hw::GDRST::kDesc.offset(device)) enable_local_tables();
  }
  if (!std::exchange(caught_up_, false) || device_ == nullptr) return;
  keep_time();
  compare(offset);
}

// Addresses of BARs and interrupt settings do not matter for a replay; resets do.
void Recorder::after_config_write(uint32_t offset, unsigned bytes, uint32_t value) {
  const spec::DeviceModel& model = simulator_->model();
  const uint32_t reset = hw::PCI_GDRST::kDesc.offset(model.id);
  if (!resets_by_config(model) || offset > reset || offset + bytes <= reset) return;
  simulator_->write_register(RegisterSpace::pci_config, offset, bytes, value);
  const uint32_t table = hw::PGTBL_CTL::kDesc.offset(model.id);
  if (!table_enabled_ || table == spec::kNoOffset) return;
  const uint64_t control = simulator_->read_register(RegisterSpace::mmio, table, 4).value_or(0);
  simulator_->write_register(RegisterSpace::mmio, table, 4, control | kTableEnable);
}

void Recorder::after_reset() {
  constexpr uint32_t kWholeChip = 1;
  if (resets_by_config(simulator_->model())) {
    const spec::PciWrite write = spec::pci_write(simulator_->model(), hw::PCI_GDRST{.initiate = true});
    after_config_write(write.offset, write.bytes, write.value);
    return;
  }
  after_write(kRegisterBar, hw::GDRST::kDesc.offset(simulator_->model().id), 4, kWholeChip);
}

void Recorder::before_time() {
  works_beside_ = device_ != nullptr && simulator_->busy();
  if (!works_beside_) return;
  catch_up();
  keep_time();
  commands_before_ = commands_of(*device_);
}

void Recorder::after_time() {
  if (!works_beside_) return;
  keep_time();
  if (commands_of(*device_) != commands_before_) ++run_.unjudged;
}

void Recorder::pass(uint64_t nanoseconds) {
  if (nanoseconds == 0 || !simulator_->busy()) return;
  catch_up();
  simulator_->advance(nanoseconds);
}

Result<RecordedRun> Recorder::finish() {
  if (const auto done = writer_->finish(); !done) return done.error();
  run_.memory_hash = simulator_->memory_hash();
  run_.commands = commands_of(simulator_->device());
  if (device_ == nullptr || simulator_->busy()) return run_;
  if (local_bar_ && !visit_local_) {
    compare_local();  // otherwise compare() has checked it after each write that may start work
  }
  const uint64_t executed = commands_of(*device_);
  if (run_.fault.empty() && run_.unjudged == 0 && executed != run_.commands) {
    run_.fault = fmt::format("the trace does not replay the same work: {} of {} commands were executed", run_.commands,
                             executed);
  }
  return run_;
}

uint64_t commands_of(device::Device& device) {
  uint64_t commands = 0;
  for (unsigned number = 0; number < device.engines().count(); ++number) {
    commands += device.engines().engine(number).state().commands;
  }
  return commands;
}

}  // namespace halogen::trace
