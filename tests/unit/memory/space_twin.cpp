// SpaceTwin: an AddressSpace and the slow walker side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "table_world.h"

namespace halogen::memory::worlds {
namespace {

constexpr std::byte kUntouched{0xa5};

}  // namespace

SpaceTwin::SpaceTwin(World& world, unsigned tlb_entries, SpaceTag tag)
    : world_(&world), tlb_(tlb_entries), space_(world.memory(), tlb_, tag, *this) {
  space_.load(world.context());
}

FaultAction SpaceTwin::on_fault(const Fault& fault) {
  found_.push_back({fault.reason, fault.address});
  return action_;
}

SpaceTwin::Part SpaceTwin::translate(uint64_t address, Access access, bool update) {
  const slow::Outcome outcome = world_->expect(address, access, update);
  for (const uint64_t entry : outcome.entries) {
    tables_.insert(entry / kFrameBytes);
  }
  Part part{.reason = outcome.reason};
  if (outcome.reason == FaultReason::none && !outcome.mapping.null) {
    const uint64_t page_bytes = uint64_t{1} << outcome.mapping.page_bits;
    part.space = outcome.mapping.space;
    part.number = (outcome.mapping.address + address % page_bytes) / kFrameBytes;
    part.bytes = world_->slow_memory().frame(part.space, part.number);
    if (part.bytes == nullptr) {
      part.reason = FaultReason::page_hole;
    }
  }
  return part;
}

std::string SpaceTwin::compare_faults(const std::vector<Found>& expected) const {
  if (found_ == expected) {
    return {};
  }
  std::string text = "faults";
  for (const Found& fault : found_) {
    text += fmt::format(" {}@0x{:x}", name_of(fault.reason), fault.address);
  }
  text += "; must be";
  for (const Found& fault : expected) {
    text += fmt::format(" {}@0x{:x}", name_of(fault.reason), fault.address);
  }
  return text;
}

// Reads the slow copy. False: a fault stops the access.
bool SpaceTwin::expect_read(uint64_t address, std::span<std::byte> into, Access access, std::vector<Found>& faults) {
  for (size_t done = 0; done < into.size();) {
    const uint64_t at = address + done;
    const size_t part_bytes = std::min<size_t>(into.size() - done, kFrameBytes - at % kFrameBytes);
    const Part part = translate(at, access);
    if (part.reason != FaultReason::none) {
      faults.push_back({part.reason, at});
      if (action_ == FaultAction::stop) {
        return false;
      }
    }
    if (part.bytes != nullptr) {
      std::memcpy(into.data() + done, part.bytes + at % kFrameBytes, part_bytes);
    } else {
      std::memset(into.data() + done, 0, part_bytes);
    }
    done += part_bytes;
  }
  return true;
}

std::string SpaceTwin::read(uint64_t address, size_t bytes, bool instruction) {
  std::vector<std::byte> expected(bytes, kUntouched);
  std::vector<Found> faults;
  const bool whole = expect_read(address, expected, {.instruction = instruction}, faults);

  found_.clear();
  std::vector<std::byte> got(bytes, kUntouched);
  const bool result = ok(space_.read(GpuVa(address), got, instruction));
  if (std::string text = compare_faults(faults); !text.empty()) {
    return fmt::format("read 0x{:x}+{}: {}", address, bytes, text);
  }
  if (result != whole) {
    return fmt::format("read 0x{:x}+{}: returned {}", address, bytes, result);
  }
  if (got != expected) {
    return fmt::format("read 0x{:x}+{}: other bytes", address, bytes);
  }
  return {};
}

std::string SpaceTwin::read_each(std::span<const GpuVa> addresses, size_t bytes) {
  std::vector<std::byte> expected(addresses.size() * bytes, kUntouched);
  std::vector<Found> faults;
  bool whole = true;
  for (size_t i = 0; i < addresses.size() && whole; ++i) {
    whole = expect_read(addresses[i].value, std::span(expected).subspan(i * bytes, bytes), {}, faults);
  }
  found_.clear();
  std::vector<std::byte> got(addresses.size() * bytes, kUntouched);
  const bool result = ok(space_.read_each(addresses, bytes, got.data()));
  if (std::string text = compare_faults(faults); !text.empty()) {
    return fmt::format("read_each of {}: {}", addresses.size(), text);
  }
  if (result != whole || got != expected) {
    return fmt::format("read_each of {}: other bytes or result", addresses.size());
  }
  return {};
}

// A write into tables that have been walked. Beyond its first page the outcome is not defined.
bool SpaceTwin::changes_tables(uint64_t address, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const Part part = translate(at, kWrite, false);
    if (part.bytes != nullptr && tables_.contains(part.number)) {
      return true;
    }
    done += std::min<size_t>(bytes - done, kFrameBytes - at % kFrameBytes);
  }
  return false;
}

bool SpaceTwin::expect_write(uint64_t address, size_t from, size_t bytes, std::vector<Target>& targets,
                             std::vector<Found>& faults) {
  for (size_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const size_t part_bytes = std::min<size_t>(bytes - done, kFrameBytes - at % kFrameBytes);
    const Part part = translate(at, kWrite);
    if (part.reason != FaultReason::none) {
      faults.push_back({part.reason, at});
      if (action_ == FaultAction::stop) {
        return false;
      }
    } else if (part.bytes != nullptr) {
      targets.push_back({part.bytes + at % kFrameBytes, from + done, part_bytes});
    }
    done += part_bytes;
  }
  return true;
}

std::string SpaceTwin::write(uint64_t address, std::span<const std::byte> data) {
  // Twice: the first walk may find new tables that the write then changes.
  const bool changes = changes_tables(address, data.size()) || changes_tables(address, data.size());
  if (changes) {
    data = data.first(std::min<size_t>(data.size(), kFrameBytes - address % kFrameBytes));
  }
  std::vector<Found> faults;
  std::vector<Target> targets;
  const bool whole = expect_write(address, 0, data.size(), targets, faults);
  for (const Target& target : targets) {
    std::memcpy(target.to, data.data() + target.from, target.bytes);
  }

  found_.clear();
  const bool result = ok(space_.write(GpuVa(address), data));
  if (changes) {
    space_.invalidate();
  }
  if (std::string text = compare_faults(faults); !text.empty()) {
    return fmt::format("write 0x{:x}+{}: {}", address, data.size(), text);
  }
  if (result != whole) {
    return fmt::format("write 0x{:x}+{}: returned {}", address, data.size(), result);
  }
  return {};
}

std::string SpaceTwin::write_each(std::span<const GpuVa> addresses, size_t bytes, std::span<const std::byte> data) {
  for (int look = 0; look < 2; ++look) {
    for (const GpuVa address : addresses) {
      if (changes_tables(address.value, bytes)) {
        return {};
      }
    }
  }
  std::vector<Found> faults;
  std::vector<Target> targets;
  bool whole = true;
  for (size_t i = 0; i < addresses.size() && whole; ++i) {
    whole = expect_write(addresses[i].value, i * bytes, bytes, targets, faults);
  }
  for (const Target& target : targets) {
    std::memcpy(target.to, data.data() + target.from, target.bytes);
  }
  found_.clear();
  const bool result = ok(space_.write_each(addresses, bytes, data.data()));
  if (std::string text = compare_faults(faults); !text.empty() || result != whole) {
    return fmt::format("write_each of {}: {} {}", addresses.size(), text, result);
  }
  return {};
}

std::string SpaceTwin::view(uint64_t address, Access access) {
  const Part part = translate(address, access);
  found_.clear();
  const AddressSpace::View view = space_.view(GpuVa(address), access);
  std::vector<Found> faults;
  if (part.reason != FaultReason::none) {
    faults.push_back({part.reason, address});
  }
  if (std::string text = compare_faults(faults); !text.empty()) {
    return fmt::format("view 0x{:x}: {}", address, text);
  }
  const bool stops = !faults.empty() && action_ == FaultAction::stop;
  if (view.result != (stops ? AccessResult::stopped : AccessResult::ok)) {
    return fmt::format("view 0x{:x}: result {}", address, static_cast<unsigned>(view.result));
  }
  if (part.bytes == nullptr) {
    return view.bytes.empty() ? std::string() : fmt::format("view 0x{:x}: bytes of an unmapped page", address);
  }
  const uint64_t offset = address % kFrameBytes;
  const std::byte* expected = world_->fast_frame(part.space, part.number) + offset;
  if (view.bytes.data() != expected || view.bytes.size() != kFrameBytes - offset) {
    return fmt::format("view 0x{:x}: other bytes", address);
  }
  return {};
}

void SpaceTwin::reload() {
  space_.load(world_->context());
}

}  // namespace halogen::memory::worlds
