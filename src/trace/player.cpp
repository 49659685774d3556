#include "trace/player.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bits.h"
#include "surface/tiling.h"
#include "trace/byte_sink.h"
#include "trace/device_ids.h"

namespace halogen::trace {
namespace {

constexpr unsigned kMaxSizeCode = 3;
constexpr uint64_t kMaxDumpBytes = uint64_t{256} << 20;
constexpr size_t kFillBytes = 64 * 1024;
constexpr uint64_t kTileXBytes = 512;  // row of a tile
constexpr uint64_t kTileYBytes = 128;
constexpr uint64_t kColumnBytes = 16;

unsigned bytes_of(uint8_t size_code) {
  return 1u << std::min<unsigned>(size_code, kMaxSizeCode);
}

bool compares(aub::Comparison comparison, bool not_equal, uint64_t found, uint64_t expected) {
  switch (comparison) {
    case aub::Comparison::legacy:
      return (found == expected) != not_equal;
    case aub::Comparison::equal:
      return found == expected;
    case aub::Comparison::not_equal:
      return found != expected;
    case aub::Comparison::less:
      return found < expected;
    case aub::Comparison::less_equal:
      return found <= expected;
    case aub::Comparison::greater:
      return found > expected;
    case aub::Comparison::greater_equal:
      return found >= expected;
  }
  return false;
}

// Returns the memory space of a classic block.
std::optional<aub::MemorySpace> memory_space_of(uint8_t classic) {
  constexpr std::array kSpaces{aub::MemorySpace::ggtt, aub::MemorySpace::local, aub::MemorySpace::system};
  if (classic < kSpaces.size()) return kSpaces[classic];
  return classic == 4 ? std::optional(aub::MemorySpace::ggtt_entry) : std::nullopt;
}

bool is_readable(aub::MemorySpace space) {
  return space != aub::MemorySpace::gtt_pd_entry && space != aub::MemorySpace::power_context;
}

// Returns whether addresses of this space can be unmapped. (Physical memory that was never written reads zero.)
bool is_translated(aub::MemorySpace space) {
  return space == aub::MemorySpace::ggtt || space == aub::MemorySpace::ggtt_non_aperture ||
         space == aub::MemorySpace::ppgtt || space == aub::MemorySpace::local;
}

// Returns the engine class of a type of classic ring.
spec::EngineClass engine_of_ring(uint8_t type) {
  return type == 3 ? spec::EngineClass::video : type == 4 ? spec::EngineClass::blit : spec::EngineClass::render;
}

// Repeats a pattern up to a useful block size, at least once. Empty stays empty.
std::vector<std::byte> repeated(std::span<const std::byte> pattern) {
  if (pattern.empty()) return {};
  std::vector<std::byte> all(std::max(kFillBytes / pattern.size(), size_t{1}) * pattern.size());
  for (size_t at = 0; at < all.size(); at += pattern.size()) {
    std::ranges::copy(pattern, all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return all;
}

// Returns the last part of a path, without characters that could lead out of the folder.
std::string safe_name(std::string_view name) {
  std::string result;
  for (const char c : name.substr(name.find_last_of("/\\") + 1)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    result.push_back(plain || c == '.' ? c : '_');
  }
  return result.substr(0, 80);
}

}  // namespace

struct Player::Handler {
  Player& player;
  Simulator& simulator() const { return *player.simulator_; }

  void operator()(const aub::Version& version) const {
    const auto pci_id = pci_id_in(version.text);
    const spec::DeviceModel* const named = pci_id ? device_of_pci_id(*pci_id) : nullptr;
    player.choose(named != nullptr ? named : device_of_aub_code(version.device),
                  fmt::format("device code {}", version.device));
  }
  void operator()(const aub::ClassicVersion& version) const {
    const auto pci_id = pci_id_in(version.comment);
    player.choose(pci_id ? device_of_pci_id(*pci_id) : nullptr,
                  pci_id ? fmt::format("PCI id {:#06x}", *pci_id) : std::string("no PCI id"));
  }
  void operator()(const aub::OldVersion& /*version*/) const { player.choose(nullptr, "no device code"); }

  // Writes only the bits of the mask.
  void operator()(const aub::RegisterWrite& write) const {
    const unsigned bytes = bytes_of(write.size_code);
    const uint64_t all = low_mask(8 * bytes);
    uint64_t value = write.value & all;
    ++player.counts_.register_writes;
    if ((write.mask & all) != all) {
      value &= write.mask;
      value |= simulator().read_register(write.space, write.offset, bytes).value_or(0) & ~write.mask & all;
    }
    if (!simulator().write_register(write.space, write.offset, bytes, value)) player.skip("register of another device");
  }
  void operator()(const aub::RegisterCompare& compare) const {
    simulator().note(compare);
    const unsigned bytes = bytes_of(compare.size_code);
    const auto value = simulator().read_register(compare.space, compare.offset, bytes);
    if (compare.no_expect) return value ? void() : player.skip("register of another device");
    if (!value) return player.skip_check("comparison of a register of another device");
    const uint64_t mask = compare.mask & low_mask(8 * bytes);
    player.check((*value & mask) == (compare.expected & mask), [&] {
      return fmt::format("register {:#x} is {:#x}, expected {:#x} in the bits {:#x}", compare.offset, *value,
                         compare.expected, compare.mask);
    });
  }
  void operator()(const aub::RegisterPoll& poll) const {
    simulator().note(poll);
    const unsigned bytes = bytes_of(poll.size_code);
    const uint64_t mask = poll.mask & low_mask(8 * bytes);
    std::optional<uint64_t> value;
    const bool held = player.poll([&] {
      value = simulator().read_register(poll.space, poll.offset, bytes);
      return !value || ((*value & mask) == (poll.value & mask)) != poll.not_equal;
    });
    if (!value) return player.skip_check("wait for a register of another device");
    player.poll_ended(held, poll.ignore_timeout, [&] {
      return fmt::format("register {:#x} stays at {:#x}, expected {}{:#x} in the bits {:#x}", poll.offset, *value,
                         poll.not_equal ? "other than " : "", poll.value, poll.mask);
    });
  }
  void operator()(const aub::MemoryWrite& write) const {
    player.store(write.space, write.address, write.data, write.bytes, write.hint);
  }
  void operator()(const aub::DiscontiguousWrite& write) const {
    player.store(write.space, write.address, write.data, write.data.size(), write.hint);
  }
  void operator()(const aub::MemoryCompare& compare) const {
    simulator().note(compare);
    if (compare.no_expect) return;
    if (compare.crc) return player.skip_check("comparison by CRC");
    if (!is_readable(compare.space)) return player.skip_check(fmt::format("comparison of {}", name_of(compare.space)));
    if (compare.bytes > compare.data.size() && !player.allows_repeated(compare.bytes)) return;
    const std::vector<std::byte> expected = repeated(compare.data);
    std::vector<std::byte> found(expected.size());
    std::optional<uint64_t> differs;
    bool there = true;
    for (uint64_t done = 0; done < compare.bytes && !differs; done += found.size()) {
      const auto part = std::span(found).first(std::min<uint64_t>(found.size(), compare.bytes - done));
      there &= player.read(compare.space, compare.address + done, part) || !is_translated(compare.space);
      if (std::memcmp(part.data(), expected.data(), part.size()) == 0) continue;
      differs = done + static_cast<uint64_t>(std::ranges::mismatch(part, expected).in1 - part.begin());
    }
    if (!there) {
      return player.check(false, [&] {
        return fmt::format("{} bytes at {} {:#x} cannot be compared: not mapped", compare.bytes, name_of(compare.space),
                           compare.address);
      });
    }
    const bool any = differs || player.stored_difference_;
    player.in_parts_ = compare.deferred && compare.not_equal;
    player.stored_difference_ = player.in_parts_ && any;
    if (player.in_parts_) return;
    player.check(any == compare.not_equal, [&] {
      return compare.not_equal ? fmt::format("{} bytes at {} {:#x} match the trace, which expects a difference",
                                             compare.bytes, name_of(compare.space), compare.address)
                               : fmt::format("memory differs at {} {:#x}, byte {:#x} of {:#x}", name_of(compare.space),
                                             compare.address + differs.value_or(0), differs.value_or(0), compare.bytes);
    });
  }
  void operator()(const aub::MemoryPoll& poll) const {
    simulator().note(poll);
    if (!is_readable(poll.space)) return player.skip_check(fmt::format("wait for {}", name_of(poll.space)));
    const size_t bytes = bytes_of(poll.size_code);
    const uint64_t mask = poll.mask & low_mask(static_cast<unsigned>(8 * bytes));
    uint64_t value = 0;
    const bool held = player.poll([&] {
      player.read(poll.space, poll.address, std::as_writable_bytes(std::span(&value, 1)).first(bytes));
      return compares(poll.comparison, poll.not_equal, value & mask, poll.value & mask);
    });
    player.poll_ended(held, poll.ignore_timeout, [&] {
      return fmt::format("memory at {} {:#x} stays at {:#x}, expected {:#x} in the bits {:#x}", name_of(poll.space),
                         poll.address, value, poll.value, poll.mask);
    });
  }
  void operator()(const aub::Delay& delay) const { simulator().advance(delay.time); }
  void operator()(const aub::MemoryDump& dump) const {
    simulator().note(dump);
    player.dump({dump.space, dump.address, dump.width, dump.height, dump.stride, dump.tiling}, dump.file_name);
  }
  void operator()(const aub::BufferDump& dump) const {
    simulator().note(dump);
    player.dump({dump.gtt_type == 1 ? aub::MemorySpace::ppgtt : aub::MemorySpace::ggtt, dump.base, dump.width,
                 dump.height, dump.pitch, aub::Tiling::none},
                dump.file_type);
  }
  void operator()(const aub::ClassicBlock& block) const { player.run_block(block); }
  // Comments, and records whose content the device already has.
  void operator()(const aub::Comment& record) const {
    if (record.text == Simulator::kResetNote) return simulator().reset();  // reset() records itself
    if (record.text == Simulator::kFinishNote) return static_cast<void>(simulator().finish());
    simulator().note(record);
  }
  void operator()(const aub::FrameBegin& record) const { simulator().note(record); }
  void operator()(const aub::TestPhase& record) const { simulator().note(record); }
  void operator()(const aub::ContiguousRegion& record) const { simulator().note(record); }
  void operator()(const aub::PpgttContextCreate& record) const { simulator().note(record); }

  void operator()(const aub::Predicate& record) const { leave_out(record, "predicate"); }
  void operator()(const aub::CompressedDump& record) const { leave_out(record, "dump of a compressed surface"); }
  void operator()(const aub::ClassicBitmap& record) const { leave_out(record, "bitmap dump"); }
  void operator()(const aub::ImageDump& record) const { leave_out(record, "image dump"); }
  void operator()(const aub::Unknown& record) const { leave_out(record, "unknown record"); }

 private:
  void leave_out(const aub::Record& record, std::string_view kind) const {
    simulator().note(record);
    player.skip(kind);
  }
};

Player::Player(const spec::DeviceModel* model, EventSink* events) : model_(model) {
  options_.events = events;
}

void Player::choose(const spec::DeviceModel* model, const std::string& what) {
  if (simulator_ != nullptr) return;
  if (model == nullptr) {
    failure_ = fmt::format("the trace does not name a modelled device ({}); give one with --device", what);
    return;
  }
  start(*model);
}

void Player::start(const spec::DeviceModel& model) {
  Result<std::unique_ptr<Simulator>> created = Simulator::create(model, options_);
  if (!created) {
    failure_ = created.message();
    return;
  }
  simulator_ = std::move(created).value();
  if (recorder_ != nullptr) simulator_->record_to(recorder_);
}

void Player::on(const aub::Place& place, const aub::Record& record) {
  if (!wants_more()) return;
  if (simulator_ == nullptr && model_ != nullptr) start(*model_);
  counts_.records += counts_.records == 0 || place.index != place_.index ? 1 : 0;  // long records come in parts
  place_ = place;
  if (simulator_ == nullptr) {
    const bool opens = std::holds_alternative<aub::Version>(record) ||
                       std::holds_alternative<aub::ClassicVersion>(record) ||
                       std::holds_alternative<aub::OldVersion>(record);
    if (!opens && failure_.empty()) {
      failure_ = "the trace has no version record before its data; give a device with --device";
    }
    if (!failure_.empty()) return;
  }
  std::visit(Handler{*this}, record);
}

void Player::check(bool held, const std::function<std::string()>& sentence) {
  ++counts_.checks;
  if (held) return;
  ++counts_.failed_checks;
  if (faults_.size() < kMaxFaults) {
    faults_.push_back(fmt::format("record {} at byte {:#x}: {}", place_.index, place_.offset, sentence()));
  }
}

bool Player::poll(const std::function<bool()>& holds) {
  simulator_->settle();
  for (unsigned step = 0;; ++step) {
    if (holds()) return true;
    if (step == kPollSteps) return false;
    simulator_->pass(kPollStep);
  }
}

void Player::poll_ended(bool held, bool ignore, const std::function<std::string()>& sentence) {
  if (!held && ignore) {
    ++counts_.checks;
    ++counts_.ignored_polls;
    return;
  }
  check(held, sentence);
  aborted_ = !held;
}

void Player::finish() {
  if (std::exchange(in_parts_, false)) skip_check("comparison without its last part");
}

void Player::skip_check(std::string_view kind) {
  ++counts_.unchecked;
  skip(kind);
}

void Player::skip(std::string_view kind) {
  ++counts_.skipped;
  const auto found = skipped_.find(kind);
  ++(found == skipped_.end() ? skipped_.emplace(kind, 0).first : found)->second;
}

bool Player::allows_repeated(uint64_t bytes) {
  if (bytes <= kMaxRepeated - repeated_) {
    repeated_ += bytes;
    return true;
  }
  failure_ = fmt::format("record {} at byte {:#x} repeats a pattern over {} bytes; the limit for one trace is {} MB",
                         place_.index, place_.offset, bytes, kMaxRepeated >> 20);
  return false;
}

void Player::store(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint64_t bytes,
                   uint8_t hint) {
  ++counts_.memory_writes;
  counts_.memory_bytes += bytes;
  if (space == aub::MemorySpace::gtt_pd_entry || space == aub::MemorySpace::power_context) {
    return skip(fmt::format("write to {}", name_of(space)));
  }
  if (bytes <= data.size()) {
    counts_.unmapped += simulator_->write_memory(space, address, data.first(bytes), hint) ? 0u : 1u;
    return;
  }
  if (!allows_repeated(bytes)) return;
  const std::vector<std::byte> fill = repeated(data);
  bool all = true;
  for (uint64_t done = 0; done < bytes && all; done += fill.size()) {
    all = simulator_->write_memory(space, address + done,
                                   std::span(fill).first(std::min<uint64_t>(fill.size(), bytes - done)), hint);
  }
  counts_.unmapped += all ? 0u : 1u;
}

void Player::run_block(const aub::ClassicBlock& block) {
  constexpr uint8_t kPci = 3;
  switch (block.operation) {
    case aub::BlockOperation::comment:
      return;
    case aub::BlockOperation::data_write:
    case aub::BlockOperation::command_write: {
      if (block.space == kPci) {
        for (size_t at = 0; at + 4 <= block.data.size(); at += 4) {
          uint32_t value = 0;
          std::memcpy(&value, block.data.data() + at, sizeof value);
          simulator_->write_register(aub::RegisterSpace::pci_config,
                                     static_cast<uint32_t>(block.address + block.part_offset + at), 4, value);
        }
        return;
      }
      const auto space = memory_space_of(block.space);
      if (!space) return skip("block in an unknown space");
      store(*space, block.address + block.part_offset, block.data, block.data.size(), 0);
      if (block.operation == aub::BlockOperation::command_write && block.is_last() &&
          !simulator_->run_ring(engine_of_ring(block.type), block.address, block.total_bytes)) {
        skip("ring block that is empty, too large or not supported by the device");
      }
      return;
    }
    case aub::BlockOperation::mmio_write:
      for (size_t at = 0; at + 4 <= block.data.size(); at += 4) {
        uint32_t value = 0;
        std::memcpy(&value, block.data.data() + at, sizeof value);
        ++counts_.register_writes;
        simulator_->write_register(aub::RegisterSpace::mmio,
                                   static_cast<uint32_t>(block.address + block.part_offset + at), 4, value);
      }
      return;
  }
  skip("block of an unknown kind");
}

// Reads one row of an area and undoes its tiling. Rows of X tiles have 512 bytes; rows of Y tiles consist of columns of
// 16 bytes.
void Player::read_row(const DumpArea& area, uint64_t y, std::span<std::byte> into) {
  if (area.tiling == aub::Tiling::none) {
    read(area.space, area.address + y * area.pitch, into);
    return;
  }
  const bool is_x = area.tiling == aub::Tiling::x;
  const uint64_t piece = is_x ? kTileXBytes : kColumnBytes;
  const uint64_t tiles = area.pitch / (is_x ? kTileXBytes : kTileYBytes);
  for (uint64_t x = 0; x < into.size(); x += piece) {
    const uint64_t offset = is_x ? surface::tile_x_offset(x, y, tiles) : surface::tile_y_offset(x, y, tiles);
    read(area.space, area.address + offset, into.subspan(x, std::min(piece, into.size() - x)));
  }
}

void Player::dump(const DumpArea& area, std::string_view name) {
  if (dump_folder_.empty()) return skip("dump without a folder to write it to");
  if (area.width == 0 || area.height == 0) return skip("empty dump");
  if (area.width > kMaxDumpBytes / area.height) return skip("dump of more than 256 MB");
  if (area.tiling == aub::Tiling::w) return skip("dump of a W-tiled surface");
  const uint64_t tile = area.tiling == aub::Tiling::x ? kTileXBytes : kTileYBytes;
  if (area.tiling != aub::Tiling::none && (area.pitch < area.width || area.pitch % tile != 0)) {
    return skip("dump of a tiled surface with an impossible pitch");
  }
  if (counts_.dumps == kMaxDumps || area.width * area.height > kMaxDumped - dumped_) {
    return skip("dump beyond the limit of 1 GB or 4096 files");
  }
  dumped_ += area.width * area.height;
  const std::filesystem::path file = dump_folder_ / fmt::format("{:04}_{}", counts_.dumps, safe_name(name));
  const auto out = replaces_dumps_ ? create_file(file) : create_new_file(file);
  if (!out) {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(std::filesystem::symlink_status(file, ignored));
    failure_ =
        fmt::format("{}: {}", file.string(), exists ? "exists; a dump does not replace it" : "cannot create the file");
    return;
  }
  std::vector<std::byte> row(area.width);
  Result<void> written;
  for (uint64_t y = 0; y < area.height && written; ++y) {
    read_row(area, y, row);
    written = (*out)->write(row);
  }
  if (written) written = (*out)->flush();
  if (!written) {
    failure_ = fmt::format("{}: cannot write the file", file.string());
    return;
  }
  ++counts_.dumps;
}

}  // namespace halogen::trace
