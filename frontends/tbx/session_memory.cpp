// Messages of a session that read, write and compare memory and table entries.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/bits.h"
#include "tbx/session.h"

namespace halogen::tbx {

using trace::Simulator;
using trace::aub::MemorySpace;
using trace::aub::RegisterSpace;

namespace {

uint64_t hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 29;
  }
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100'0000'01b3;
  return hash;
}

// Records what a client read or expects, split into parts that fit a record.
void note_read(Simulator& simulator, MemorySpace space, uint64_t address, std::span<const std::byte> bytes,
               bool not_equal = false) {
  constexpr size_t kMaxRecord = 64 * 1024;
  do {
    const auto part = bytes.first(std::min(bytes.size(), kMaxRecord));
    bytes = bytes.subspan(part.size());
    const bool goes_on = not_equal && !bytes.empty();
    simulator.note(trace::aub::MemoryCompare{address, false, false, false, not_equal, goes_on, trace::aub::Tiling::none,
                                             0, space, static_cast<uint32_t>(part.size()), part});
    address += part.size();
  } while (!bytes.empty());
}

}  // namespace

bool Session::on_gtt(Body body) {
  const bool wide = body.size() > 3;
  const bool write = bit(body[0], 0);
  uint64_t entry = body[2] | (wide ? uint64_t{body[3]} << 32 : 0);
  const auto access = [&](Simulator& simulator) {
    if (write) {
      simulator.write_memory(MemorySpace::ggtt_entry, uint64_t{body[1]} * simulator.entry_bytes(),
                             std::as_bytes(std::span(&entry, 1)).first(simulator.entry_bytes()));
    } else {
      entry = simulator.read_entry(body[1]);
      const auto seen = std::as_bytes(std::span(&entry, 1)).first(simulator.entry_bytes());
      note_read(simulator, MemorySpace::ggtt_entry, uint64_t{body[1]} * simulator.entry_bytes(), seen);
    }
  };
  if (!use(access)) return false;
  const std::array words{static_cast<uint32_t>(entry), static_cast<uint32_t>(entry >> 32)};
  return write || reply(MessageType::gtt_reply, std::span(words).first(wide ? 2 : 1));
}

std::optional<MemorySpace> Session::place(uint32_t memory_type, bool front_door, uint64_t& address) {
  MemorySpace space = memory_type == kLocalMemory ? MemorySpace::local : MemorySpace::system;
  if (memory_type > kLocalMemory) return std::nullopt;
  if (front_door) {
    uint64_t window = kDefaultLocalWindow;
    use([&](Simulator& simulator) {
      for (const spec::BarModel& bar : simulator.model().bars) {
        if (bar.kind != spec::BarKind::lmem) continue;
        if (const uint64_t base = simulator.device().config().bar_address(bar.index); base != 0) window = base;
      }
      if (simulator.model().local_bytes == 0) window = ~uint64_t{0};
    });
    if (address >= window) {
      address -= window;
      space = MemorySpace::local;
    }
  }
  return space;
}

bool Session::on_write_data(Body body) {
  const bool extended = body.size() > 3;
  uint64_t address = body[1] | uint64_t{extended ? body[3] : field(body[0], 31, 24)} << 32;
  uint64_t left = body[2];
  if (bit(body[0], 1)) return lost("a WRITE_DATA message with a mask: its layout is not known");
  const auto space = place(field(body[0], 7, 6), bit(body[0], 2), address);
  if (!fault_.empty()) return false;
  if (!space || bit(body[0], 0)) {
    once("write", "writes to addresses or memory of an unknown kind are skipped");
    return skip(left);
  }
  repeated_what_ = ~uint64_t{0};
  data_.resize(kPart);
  while (left != 0) {
    const auto part = std::span(data_).first(std::min<uint64_t>(left, kPart));
    if (parts_.channel.read(part) != part.size()) {
      return lost("the peer closed the connection inside a WRITE_DATA message");
    }
    bool taken = true;
    if (!use([&](Simulator& simulator) { taken = simulator.write_memory(*space, address, part); })) return false;
    if (!taken) {
      once("memory",
           fmt::format("a write at {:#x} failed: no memory at the address, or the memory limit is reached", address));
    }
    address += part.size();
    left -= part.size();
  }
  return true;
}

bool Session::on_read_data(Body body) {
  const bool extended = body.size() > 3;
  const uint64_t first = body[1] | uint64_t{extended ? body[3] : field(body[0], 31, 24)} << 32;
  const uint32_t bytes = body[2];
  const uint32_t memory_type = field(body[0], 6, 5);
  typed_reads_ |= memory_type != kSystemMemory || extended || bit(body[0], 1);
  uint64_t address = first;
  auto space = place(memory_type, bit(body[0], 1), address);
  if (!fault_.empty()) return false;
  if (bit(body[0], 0)) space.reset();
  if (!space) once("read", "reads of addresses or memory of an unknown kind return zeros");

  const uint32_t flags = (body[0] & 1) | static_cast<uint32_t>(first >> 32) << 24;
  const std::array head{static_cast<uint32_t>(MessageType::read_data_reply),
                        header_.id,
                        extended ? 16u : 12u,
                        extended ? body[0] & 1 : flags,
                        body[1],
                        bytes,
                        extended ? body[3] : 0u};
  const auto opening = std::as_bytes(std::span(head).first(extended ? 7 : 6));
  // The header and the first part are sent together. A part is one page if pages must be told apart.
  std::vector<std::byte> out(opening.begin(), opening.end());
  uint64_t found = 0;
  uint64_t done = 0;
  do {
    const uint64_t to_page = 4096 - (address + done) % 4096;
    const uint64_t part = std::min<uint64_t>(bytes - done, typed_reads_ ? kPart : to_page);
    const size_t at = out.size();
    out.resize(at + part);
    const auto into = std::span(out).subspan(at);
    const auto look = [&](Simulator& simulator) {
      const MemorySpace from = typed_reads_ ? *space : simulator.space_of_read(address + done, part);
      simulator.read_memory(from, address + done, into);
      const uint64_t hash = hash_of(into);
      // Records what the client saw, but not repeatedly while it polls.
      if (repeated_what_ != first || repeats_ == 0) {
        note_read(simulator, from, address + done, into);
      }
      found = found * 31 + hash;
    };
    if (space && !use(look)) return false;
    done += part;
    if (out.size() >= kPart && done < bytes) {
      if (!parts_.channel.write(out)) return false;
      out.clear();
    }
  } while (done < bytes);
  if (!slow_down(first, found)) return false;
  return parts_.channel.write(out);
}

bool Session::on_compare_data(Body body) {
  const uint32_t bytes = body[2];
  const uint64_t address = body[1] | uint64_t{field(body[0], 31, 24)} << 32;
  if (bytes > kMaxCompare) return lost(fmt::format("a COMPARE_DATA message of {} bytes", bytes));
  // The data may be counted in the body or follow it.
  std::vector<std::byte> expected(bytes);
  if (header_.size >= 12 + uint64_t{bytes}) {
    std::memcpy(expected.data(), body.subspan(3).data(), bytes);
  } else if (header_.size != 12) {
    return lost("a COMPARE_DATA message whose sizes contradict each other");
  } else if (parts_.channel.read(expected) != bytes) {
    return lost("the peer closed the connection inside a COMPARE_DATA message");
  }
  const uint32_t operation = field(body[0], 4, 2);
  std::vector<std::byte> found(bytes);
  // A trace records what the client expects. A register record can only express "equal"; otherwise it records the
  // present value.
  const auto look = [&](Simulator& simulator) {
    simulator.finish();
    if (bit(body[0], 0)) {
      for (size_t at = 0; at + 4 <= bytes; at += 4) {
        const auto offset = static_cast<uint32_t>(address + at);
        const uint64_t value = simulator.read_register(RegisterSpace::mmio, offset, 4).value_or(0);
        std::memcpy(found.data() + at, &value, 4);
        uint32_t awaited = 0;
        std::memcpy(&awaited, (operation == 0 ? expected : found).data() + at, 4);
        simulator.note(trace::aub::RegisterCompare{offset, false, 2, RegisterSpace::mmio, low_mask(32), awaited});
      }
    } else {
      const MemorySpace space = simulator.space_of_read(address, bytes);
      simulator.read_memory(space, address, found);
      if (operation <= 1 && bytes != 0) note_read(simulator, space, address, expected, operation == 1);
    }
  };
  if (!use(look)) return false;
  if (operation > 1) once("operation", fmt::format("COMPARE_DATA with operation {} never holds", operation));
  const bool holds = operation <= 1 && (found == expected) == (operation == 0);
  return reply(MessageType::compare_data_reply, std::array{uint32_t{holds}});
}

}  // namespace halogen::tbx
