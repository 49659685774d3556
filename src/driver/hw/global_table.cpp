#include "driver/hw/global_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/exhaustion.h"
#include "driver/hw/packed.h"
#include "gen/driver_rules.h"
#include "hw/gtt.h"
#include "hw/page_tables.h"

namespace halogen::driver {
namespace {

// The first page stays unused, so that an address of zero shows up as a mistake.
constexpr uint64_t kFirst = kPageBytes;

constexpr uint64_t kBlock = uint64_t{8} << 20;   // bytes of address space cleared at a time
constexpr uint64_t kBehind = uint64_t{1} << 20;  // the display prefetches

PageRun take_page(Hardware& hardware) {
  const std::optional<PageRun> page = hardware.allocate(kPageBytes);
  check(page.has_value(), "memory holds at least one page");
  return *page;
}

}  // namespace

GlobalTable::GlobalTable(Hardware& hardware)
    : hardware_(hardware),
      nothing_(take_page(hardware)),
      format_(format_of(hardware.model(), memory::WalkMode::ggtt).levels[0].table),
      places_(kFirst, hardware.entry_count() * kPageBytes) {
  enable();
  // Programs that use the table find an empty page at every unused address. Programs with tables of their own do not
  // use it, and filling a table of 8 MB takes as long as the rest of the driver's start.
  clear_to(hardware.shares_space() ? bytes() : kFirst);
}

void GlobalTable::clear_to(uint64_t end) {
  if (end <= cleared_) return;
  end = std::min(bytes(), (end + kBlock - 1) / kBlock * kBlock);
  clear(cleared_, end - cleared_);
  cleared_ = end;
}

void GlobalTable::enable() {
  if (!driver_rules(hardware_.model().gen).ggtt_enable_bit) return;
  const uint32_t control = hw::PGTBL_CTL::kDesc.offset(hardware_.model().id);
  auto value = spec::unpack_register<hw::PGTBL_CTL>(hardware_.model().gen, hardware_.read(control));
  value.page_table_enable = true;
  hardware_.write(control, packed32(value, hardware_.model()));
}

uint64_t GlobalTable::entry(uint64_t address, bool local) const {
  return entry_address(format_, address) | format_.present | (local ? format_.local_memory : 0);
}

void GlobalTable::write(uint64_t address, const PageRun& run) {
  for (uint64_t done = 0; done < run.bytes; done += kPageBytes) {
    hardware_.write_entry((address + done) / kPageBytes, entry(run.address + done, run.local));
  }
}

void GlobalTable::clear(uint64_t address, uint64_t bytes) {
  hardware_.write_entries(address / kPageBytes, bytes / kPageBytes, entry(nothing_.address, false));
}

std::optional<uint64_t> GlobalTable::map(const PageRun& run, uint64_t alignment) {
  const std::optional<uint64_t> place = places_.take(run.bytes, alignment);
  if (!place) return std::nullopt;
  const bool written = completes([&] {
    clear_to(*place + run.bytes + kBehind);
    write(*place, run);
  });
  pinned_bytes_ += run.bytes;
  if (written) return place;
  complete_in_the_end([&] { unmap(*place, run.bytes); });  // an entry that stays would lead to another owner's pages
  return std::nullopt;
}

void GlobalTable::unmap(uint64_t address, uint64_t bytes) {
  clear(address, bytes);
  pinned_bytes_ -= bytes;
  places_.give(address, bytes);
}

uint64_t GlobalTable::reserve_end(uint64_t bytes) {
  const uint64_t place = this->bytes() - bytes;
  check(places_.take_at(place, bytes), "the end of the global table is free when the driver starts");
  clear(place, bytes);
  return place;
}

std::optional<uint64_t> GlobalTable::reserve_entries(uint64_t count) {
  const std::optional<uint64_t> place = places_.take(count * kPageBytes, count * kPageBytes);
  if (!place) return std::nullopt;
  pinned_bytes_ += count * kPageBytes;
  clear_to(*place + count * kPageBytes);
  return *place / kPageBytes;
}

std::optional<PinnedMemory> PinnedMemory::create(Hardware& hardware, GlobalTable& table, uint64_t bytes,
                                                 uint64_t alignment) {
  PinnedMemory made(hardware, table);
  const std::optional<PageRun> run = hardware.allocate(bytes);
  if (!run) return std::nullopt;
  made.run_ = *run;
  const std::optional<uint64_t> place = table.map(made.run_, alignment);
  if (!place) return std::nullopt;
  made.address_ = *place;
  return made;
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept : hardware_(other.hardware_), table_(other.table_) {
  *this = std::move(other);
}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(hardware_, other.hardware_);
  std::swap(table_, other.table_);
  std::swap(run_, other.run_);
  std::swap(address_, other.address_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  // Pages that an entry still leads to are lost.
  if (address_ != 0 && !completes_soon([&] { table_->unmap(address_, run_.bytes); })) return;
  if (run_.bytes != 0) hardware_->release(run_);
}

}  // namespace halogen::driver
