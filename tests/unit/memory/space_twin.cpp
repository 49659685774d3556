// SpaceTwin: an AddressSpace and the slow walker side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "table_world.h"

namespace halogen::worlds {

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

std::string SpaceTwin::read(uint64_t address, size_t bytes, bool instruction) {
  constexpr std::byte kUntouched{0xa5};
  const Access access{.write = false, .instruction = instruction};
  std::vector<std::byte> expected(bytes, kUntouched);
  std::vector<Found> faults;
  bool whole = true;
  for (size_t done = 0; done < bytes && whole;) {
    const uint64_t at = address + done;
    const size_t part_bytes = std::min<size_t>(bytes - done, kFrameBytes - at % kFrameBytes);
    const Part part = translate(at, access);
    if (part.reason != FaultReason::none) {
      faults.push_back({part.reason, at});
      whole = action_ != FaultAction::stop;
    }
    if (whole && part.bytes != nullptr) {
      std::memcpy(expected.data() + done, part.bytes + at % kFrameBytes, part_bytes);
    } else if (whole) {
      std::memset(expected.data() + done, 0, part_bytes);
    }
    done += part_bytes;
  }

  found_.clear();
  std::vector<std::byte> got(bytes, kUntouched);
  const bool result = space_.read(GpuVa(address), got, instruction);
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

// A write that changes the tables on its own way has no single right outcome past its first page: cut it there.
size_t SpaceTwin::without_self_change(uint64_t address, size_t bytes) {
  const size_t first = std::min<size_t>(bytes, kFrameBytes - address % kFrameBytes);
  for (size_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const Part part = translate(at, {.write = true}, false);
    if (part.bytes != nullptr && tables_.contains(part.number)) {
      return first;
    }
    done += std::min<size_t>(bytes - done, kFrameBytes - at % kFrameBytes);
  }
  return bytes;
}

std::string SpaceTwin::write(uint64_t address, std::span<const std::byte> data) {
  data = data.first(without_self_change(address, data.size()));
  std::vector<Found> faults;
  bool whole = true;
  bool tables_change = false;
  // Where the bytes go is decided before any of them is written.
  struct Target {
    uint8_t* bytes;
    size_t from;
    size_t count;
  };
  std::vector<Target> targets;
  for (size_t done = 0; done < data.size() && whole;) {
    const uint64_t at = address + done;
    const size_t part_bytes = std::min<size_t>(data.size() - done, kFrameBytes - at % kFrameBytes);
    const Part part = translate(at, {.write = true});
    if (part.reason != FaultReason::none) {
      faults.push_back({part.reason, at});
      whole = action_ != FaultAction::stop;
    } else if (part.bytes != nullptr) {
      targets.push_back({part.bytes + at % kFrameBytes, done, part_bytes});
      tables_change = tables_change || tables_.contains(part.number);
    }
    done += part_bytes;
  }
  for (const Target& target : targets) {
    std::memcpy(target.bytes, data.data() + target.from, target.count);
  }

  found_.clear();
  const bool result = space_.write(GpuVa(address), data);
  if (tables_change) {
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
  if (view.stopped != (!faults.empty() && action_ == FaultAction::stop)) {
    return fmt::format("view 0x{:x}: stopped {}", address, view.stopped);
  }
  if (part.bytes == nullptr) {
    return view.bytes.empty() ? std::string() : fmt::format("view 0x{:x}: bytes where there are none", address);
  }
  const uint64_t offset = address % kFrameBytes;
  const std::byte* expected = world_->fast_frame(part.space, part.number) + offset;
  if (view.bytes.data() != expected || view.bytes.size() != kFrameBytes - offset) {
    return fmt::format("view 0x{:x}: other bytes", address);
  }
  return {};
}

void SpaceTwin::invalidate() {
  space_.invalidate();
}

void SpaceTwin::invalidate_page(uint64_t address) {
  space_.invalidate_page(GpuVa(address));
}

}  // namespace halogen::worlds
