#include "recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "hw/fuse.h"
#include "hw/gtt.h"
#include "hw/l3.h"

namespace halogen::vm {
namespace {

using trace::aub::MemorySpace;
using trace::aub::RegisterSpace;

constexpr unsigned kRegisterBar = 0;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kEngineBytes = 0x1000;
constexpr uint32_t kConfigReset = 0xc0;  // GDRST, where it lies in configuration space
constexpr uint64_t kTableEnable = 1;
constexpr uint64_t kLocalTables = uint64_t{1} << 31;  // of LMEM_CFG

bool starts_work(const spec::DeviceModel& model, uint64_t offset) {
  return std::ranges::any_of(model.engines,
                             [&](const spec::EngineModel& engine) { return offset - engine.mmio_base < kEngineBytes; });
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const spec::DeviceModel& model,
                                                   std::unique_ptr<trace::ByteSink> sink, bool table_enabled,
                                                   bool local_tables, std::string_view text) {
  std::unique_ptr<Recorder> recorder(new Recorder);
  auto machine = trace::Machine::create(model);
  if (!machine) return machine.error();
  recorder->machine_ = std::move(*machine);
  recorder->sink_ = std::move(sink);
  recorder->writer_ = std::make_unique<trace::aub::Writer>(*recorder->sink_);
  recorder->machine_->record_to(recorder->writer_.get(), text);
  recorder->table_enabled_ = table_enabled;
  recorder->local_tables_ = local_tables;
  const auto local = std::ranges::find(model.bars, spec::BarKind::lmem, &spec::BarModel::kind);
  if (local != model.bars.end()) recorder->local_bar_ = local->index;
  recorder->enable_local_tables();
  return recorder;
}

// A machine as a replay has it starts, and comes out of every reset, with page tables in system memory.
void Recorder::enable_local_tables() {
  const uint32_t offset = hw::LMEM_CFG::kDesc.offset(machine_->model().id);
  if (!local_tables_ || offset == spec::kNoOffset) return;
  machine_->write_register(RegisterSpace::mmio, offset, 4, kLocalTables);
}

void Recorder::on_page(uint64_t address, std::span<const std::byte> bytes) {
  if (pages_.emplace(address, bytes).second) catch_up(address, bytes);
}

void Recorder::catch_up(uint64_t address, std::span<const std::byte> bytes) {
  std::array<std::byte, kPageBytes> known;
  const size_t size = std::min(known.size(), bytes.size());
  machine_->read_memory(MemorySpace::system, address, std::span(known).first(size));
  if (std::memcmp(known.data(), bytes.data(), size) == 0) return;
  // Only the lines between the first and the last that differ.
  size_t first = 0;
  size_t end = size;
  while (std::memcmp(&known[first], &bytes[first], kLineBytes) == 0) first += kLineBytes;
  while (std::memcmp(&known[end - kLineBytes], &bytes[end - kLineBytes], kLineBytes) == 0) end -= kLineBytes;
  machine_->write_memory(MemorySpace::system, address + first, bytes.subspan(first, end - first));
}

void Recorder::catch_up() {
  for (const auto& [address, bytes] : pages_) catch_up(address, bytes);
}

void Recorder::before_write(unsigned bar, uint64_t offset) {
  if (bar == kRegisterBar && starts_work(machine_->model(), offset)) catch_up();
}

void Recorder::after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) {
  const spec::DeviceId device = machine_->model().id;
  if (bar == local_bar_) {
    machine_->write_memory(MemorySpace::local, offset, std::as_bytes(std::span(&value, 1)).first(bytes));
  }
  if (bar != kRegisterBar) return;
  if (table_enabled_ && offset == hw::PGTBL_CTL::kDesc.offset(device)) value |= kTableEnable;
  machine_->write_register(RegisterSpace::mmio, static_cast<uint32_t>(offset), bytes, value);
  if (offset == hw::GDRST::kDesc.offset(device)) enable_local_tables();
}

// Where BARs lie and which interrupts there are does not matter; resets do.
void Recorder::after_config_write(uint32_t offset, unsigned bytes, uint32_t value) {
  const bool reset =
      machine_->model().has(spec::Feature::gdrst_config) && offset <= kConfigReset && offset + bytes > kConfigReset;
  if (!reset) return;
  machine_->write_register(RegisterSpace::pci_config, offset, bytes, value);
  const uint32_t table = hw::PGTBL_CTL::kDesc.offset(machine_->model().id);
  if (!table_enabled_ || table == spec::kNoOffset) return;
  const uint64_t control = machine_->read_register(RegisterSpace::mmio, table, 4).value_or(0);
  machine_->write_register(RegisterSpace::mmio, table, 4, control | kTableEnable);
}

void Recorder::after_reset() {
  constexpr uint32_t kWholeChip = 1;
  if (machine_->model().has(spec::Feature::gdrst_config)) {
    after_config_write(kConfigReset, 1, kWholeChip);
    return;
  }
  after_write(kRegisterBar, hw::GDRST::kDesc.offset(machine_->model().id), 4, kWholeChip);
}

void Recorder::pass(uint64_t nanoseconds) {
  if (nanoseconds == 0 || !machine_->busy()) return;
  catch_up();
  machine_->advance(nanoseconds);
}

Result<RecordedRun> Recorder::finish() {
  if (const auto done = writer_->finish(); !done) return done.error();
  return RecordedRun{machine_->memory_hash(), commands_of(machine_->device())};
}

uint64_t commands_of(Device& device) {
  uint64_t commands = 0;
  for (unsigned number = 0; number < device.engines().count(); ++number) {
    commands += device.engines().engine(number).state().commands;
  }
  return commands;
}

}  // namespace halogen::vm
