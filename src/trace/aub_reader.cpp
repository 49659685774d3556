#include "trace/aub_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bits.h"

namespace halogen::trace::aub {
namespace {

static_assert(std::endian::native == std::endian::little, "AUB files and this reader are little endian");

constexpr uint32_t kType = 7;
constexpr uint8_t kOpcodeClassic = 0x01;
constexpr uint8_t kOpcodeTrace = 0x2e;
constexpr uint8_t kSubVersionOld = 0x00;
constexpr uint8_t kSubVersion = 0x0e;
constexpr uint8_t kSubClassicVersion = 0x05;
constexpr size_t kBlockChunkDwords = 16 * 1024;
constexpr size_t kDiscontiguousSlots = 63;

constexpr uint8_t opcode_of(uint32_t header) {
  return static_cast<uint8_t>(bits(header, 28, 23));
}
constexpr uint8_t sub_opcode_of(uint32_t header) {
  return static_cast<uint8_t>(bits(header, 22, 16));
}

// Returns the text up to its first NUL, or up to the end of the record.
std::string_view text_in(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(end - bytes.begin())};
}

constexpr uint8_t byte_bits(uint32_t value, unsigned hi, unsigned lo) {
  return static_cast<uint8_t>(bits(value, hi, lo));
}
constexpr RegisterSpace register_space(uint32_t flags) {
  return static_cast<RegisterSpace>(bits(flags, 31, 28));
}
constexpr MemorySpace memory_space(uint32_t flags) {
  return static_cast<MemorySpace>(bits(flags, 31, 28));
}
constexpr Tiling tiling(uint32_t flags) {
  return static_cast<Tiling>(bits(flags, 3, 2));
}
constexpr uint8_t hint(uint32_t flags) {
  return byte_bits(flags, 27, 20);
}

}  // namespace

bool looks_like_aub(uint32_t first) {
  if (bits(first, 31, 29) != kType) return false;
  const uint8_t sub = sub_opcode_of(first);
  switch (opcode_of(first)) {
    case kOpcodeTrace:
      return sub == kSubVersion || sub == kSubVersionOld;
    case kOpcodeClassic:
      return sub == kSubClassicVersion;
  }
  return false;
}

Error Reader::error(const std::string& what) const {
  return Error{fmt::format("{}: record {} at byte {:#x}: {}.", name_, place_.index, place_.offset, what)};
}

Result<void> Reader::need(size_t dwords, const char* what) const {
  if (record_.size() >= dwords) return {};
  return error(fmt::format("the {} record has {} dwords; {} are needed", what, record_.size(), dwords));
}

uint64_t Reader::value_at(size_t index) const {
  if (index + 1 < record_.size()) return qword(index);
  return index < record_.size() ? record_[index] : 0;
}

std::span<const std::byte> Reader::bytes_at(size_t index) const {
  return std::as_bytes(std::span(record_).subspan(std::min(index, record_.size())));
}

Result<bool> Reader::read_dwords(size_t count) {
  const size_t wanted = count * sizeof(uint32_t);
  record_.resize(1 + count);
  auto got = source_.read(std::as_writable_bytes(std::span(record_).subspan(1)));
  if (!got) return got.error();
  if (*got != wanted) {
    return error(fmt::format("the file ends inside the record, {} bytes short", wanted - *got));
  }
  return true;
}

Result<bool> Reader::next(Visitor& visitor) {
  uint32_t header = 0;
  auto got = source_.read(std::as_writable_bytes(std::span(&header, 1)));
  if (!got) return got.error();
  if (*got == 0) {
    if (place_.offset == 0) return Error{fmt::format("{}: empty file, not an AUB trace.", name_)};
    return false;
  }
  if (*got != sizeof header) return error("the file ends inside the record's header");
  if (place_.offset == 0 && !looks_like_aub(header)) {
    return Error{
        fmt::format("{}: not an AUB trace: it starts with {:#010x}, not with a version record.", name_, header)};
  }
  const uint8_t opcode = opcode_of(header);
  if (bits(header, 31, 29) != kType || (opcode != kOpcodeTrace && opcode != kOpcodeClassic)) {
    return error(fmt::format("{:#010x} is not a record header", header));
  }
  const auto length = static_cast<size_t>(header & 0xffff);
  auto filled = read_dwords(opcode == kOpcodeTrace ? length : length + 1);
  if (!filled) return filled;
  record_[0] = header;
  extra_bytes_ = 0;
  auto done = opcode == kOpcodeTrace ? dispatch_trace(visitor, sub_opcode_of(header))
                                     : dispatch_classic(visitor, sub_opcode_of(header));
  if (!done) return done.error();
  const size_t base = opcode == kOpcodeTrace ? length + 1 : length + 2;
  place_.offset += base * sizeof(uint32_t) + extra_bytes_;
  ++place_.index;
  return true;
}

Result<void> Reader::read_all(Visitor& visitor) {
  for (;;) {
    auto more = next(visitor);
    if (!more) return more.error();
    if (!*more) return {};
  }
}

Result<void> Reader::dispatch_trace(Visitor& visitor, uint8_t sub) {
  const auto& r = record_;
  const auto register_record = [&](const char* what) { return need(6, what); };
  switch (sub) {
    case kSubVersionOld:
      visitor.on(place_, OldVersion{r});
      return {};
    case 0x01: {
      if (auto ok = register_record("register compare"); !ok) return ok;
      visitor.on(place_, RegisterCompare{r[1], bit(r[2], 0), byte_bits(r[2], 19, 16), register_space(r[2]), qword(3),
                                         value_at(5)});
      return {};
    }
    case 0x02: {
      if (auto ok = register_record("register poll"); !ok) return ok;
      visitor.on(place_, RegisterPoll{r[1], bit(r[2], 1), bit(r[2], 2), byte_bits(r[2], 7, 4), byte_bits(r[2], 19, 16),
                                      register_space(r[2]), qword(3), value_at(5)});
      return {};
    }
    case 0x03: {
      if (auto ok = register_record("register write"); !ok) return ok;
      visitor.on(place_, RegisterWrite{r[1], byte_bits(r[2], 7, 4), byte_bits(r[2], 19, 16), register_space(r[2]),
                                       qword(3), value_at(5)});
      return {};
    }
    case 0x04: {
      if (auto ok = need(5, "memory compare"); !ok) return ok;
      const auto data = bytes_at(5);
      const bool no_expect = bit(r[3], 0);
      const bool crc = bit(r[3], 6);
      const bool repeat = bit(r[3], 1);
      if (!no_expect && !crc && (!repeat || data.empty()) && data.size() < r[4]) {
        return error(fmt::format("the memory compare claims {} bytes and holds {}", r[4], data.size()));
      }
      visitor.on(place_,
                 MemoryCompare{qword(1), no_expect, repeat, crc, bit(r[3], 7), bit(r[3], 9), tiling(r[3]), hint(r[3]),
                               memory_space(r[3]), r[4], data.first(std::min<size_t>(data.size(), r[4]))});
      return {};
    }
    case 0x05: {
      if (auto ok = need(7, "memory poll"); !ok) return ok;
      visitor.on(place_, MemoryPoll{qword(1), bit(r[3], 0), static_cast<Comparison>(bits(r[3], 12, 10)), bit(r[3], 8),
                                    byte_bits(r[3], 5, 4), tiling(r[3]), hint(r[3]), memory_space(r[3]), qword(4),
                                    value_at(6)});
      return {};
    }
    case 0x06: {
      if (auto ok = need(5, "memory write"); !ok) return ok;
      const auto data = bytes_at(5);
      const bool repeat = bit(r[3], 1) && !data.empty();
      if (data.size() < r[4] && !repeat) {
        return error(fmt::format("the memory write claims {} bytes and holds {}", r[4], data.size()));
      }
      visitor.on(place_, MemoryWrite{qword(1), bit(r[3], 0), bit(r[3], 1), tiling(r[3]), hint(r[3]), memory_space(r[3]),
                                     data.first(std::min<size_t>(data.size(), r[4])), r[4]});
      return {};
    }
    case 0x07: {
      if (auto ok = need(2, "frame begin"); !ok) return ok;
      visitor.on(place_, FrameBegin{static_cast<uint16_t>(r[1])});
      return {};
    }
    case 0x08: {
      if (auto ok = need(2, "comment"); !ok) return ok;
      visitor.on(place_, Comment{bit(r[1], 0), bit(r[1], 1), text_in(bytes_at(2))});
      return {};
    }
    case 0x09: {
      if (auto ok = need(2, "delay"); !ok) return ok;
      visitor.on(place_, Delay{r[1]});
      return {};
    }
    case 0x0a: {
      if (auto ok = need(7, "memory dump"); !ok) return ok;
      visitor.on(place_, MemoryDump{qword(1), r[3], r[4], r[5], static_cast<MemorySpace>(bits(r[6], 1, 0)),
                                    static_cast<Tiling>(bits(r[6], 5, 4)), text_in(bytes_at(7))});
      return {};
    }
    case 0x0b:
      return dispatch_discontiguous(visitor);
    case 0x0c: {
      if (auto ok = need(2, "test phase"); !ok) return ok;
      visitor.on(place_, TestPhase{byte_bits(r[1], 15, 12), static_cast<uint16_t>(bits(r[1], 11, 0))});
      return {};
    }
    case 0x0d: {
      if (auto ok = need(5, "contiguous region"); !ok) return ok;
      visitor.on(place_, ContiguousRegion{qword(1), qword(3)});
      return {};
    }
    case kSubVersion: {
      if (auto ok = need(5, "version"); !ok) return ok;
      visitor.on(place_, Version{r[1], byte_bits(r[2], 2, 0), byte_bits(r[2], 7, 3), byte_bits(r[2], 15, 8),
                                 byte_bits(r[2], 17, 16), byte_bits(r[2], 19, 18), byte_bits(r[2], 27, 20),
                                 byte_bits(r[2], 31, 28), r[3], r[4], text_in(bytes_at(5))});
      return {};
    }
    case 0x0f: {
      if (auto ok = need(2, "predicate"); !ok) return ok;
      visitor.on(place_, Predicate{bit(r[1], 0), byte_bits(r[1], 4, 1)});
      return {};
    }
    case 0x10: {
      if (auto ok = need(23, "compressed dump"); !ok) return ok;
      visitor.on(place_, CompressedDump{r, qword(1), r[3], r[4], r[5], r[21], r[22]});
      return {};
    }
  }
  visitor.on(place_, Unknown{kOpcodeTrace, sub, r});
  return {};
}

Result<void> Reader::dispatch_discontiguous(Visitor& visitor) {
  constexpr size_t kDataAt = 2 + kDiscontiguousSlots * 3;
  if (auto ok = need(kDataAt, "discontiguous write"); !ok) return ok;
  const uint32_t flags = record_[1];
  const auto pieces = static_cast<uint16_t>(bits(flags, 19, 4));
  if (pieces > kDiscontiguousSlots) {
    return error(
        fmt::format("the discontiguous write claims {} pieces; the maximum is {}", pieces, kDiscontiguousSlots));
  }
  auto data = bytes_at(kDataAt);
  for (uint16_t piece = 0; piece < pieces; ++piece) {
    const size_t slot = 2 + size_t{piece} * 3;
    const uint32_t size = record_[slot + 2];
    if (size > data.size()) {
      return error(fmt::format("piece {} of the discontiguous write claims {} bytes, but {} are left", piece, size,
                               data.size()));
    }
    visitor.on(place_,
               DiscontiguousWrite{piece, pieces, qword(slot), hint(flags), memory_space(flags), data.first(size)});
    data = data.subspan(size);
  }
  return {};
}

Result<void> Reader::dispatch_classic(Visitor& visitor, uint8_t sub) {
  const auto& r = record_;
  switch (sub) {
    case kSubClassicVersion: {
      if (auto ok = need(13, "version"); !ok) return ok;
      const auto comment = bytes_at(13);
      visitor.on(place_,
                 ClassicVersion{byte_bits(r[1], 31, 24), byte_bits(r[1], 23, 16), text_in(bytes_at(2).first(32)),
                                qword(10), text_in(comment.first(std::min<size_t>(comment.size(), r[12])))});
      return {};
    }
    case 0x14: {
      if (auto ok = need(11, "PPGTT context"); !ok) return ok;
      visitor.on(place_,
                 PpgttContextCreate{r[1], bit(r[2], 0), bit(r[2], 1), {qword(3), qword(5), qword(7), qword(9)}});
      return {};
    }
    case 0x15: {
      if (auto ok = need(14, "buffer dump"); !ok) return ok;
      visitor.on(place_, BufferDump{qword(1), qword(3), qword(5), qword(7), byte_bits(r[9], 3, 0),
                                    byte_bits(r[9], 5, 4), r[10], text_in(bytes_at(13).first(4))});
      return {};
    }
    case 0x1e:
      visitor.on(place_, ClassicBitmap{r});
      return {};
    case 0x41:
      return dispatch_block(visitor);
    case 0x44: {
      if (auto ok = need(11, "image dump"); !ok) return ok;
      visitor.on(place_, ImageDump{r[1], r[2], r[3], r[4], r[5], r[6], qword(7), r[9], r[10]});
      return {};
    }
  }
  visitor.on(place_, Unknown{kOpcodeClassic, sub, r});
  return {};
}

Result<void> Reader::dispatch_block(Visitor& visitor) {
  if (auto ok = need(5, "trace block"); !ok) return ok;
  const auto& r = record_;
  const uint32_t high = r.size() > 5 ? r[5] : 0;
  ClassicBlock block{static_cast<BlockOperation>(bits(r[1], 7, 0)),
                     byte_bits(r[1], 15, 8),
                     byte_bits(r[1], 23, 16),
                     r[2],
                     r[3] | (uint64_t{high} << 32),
                     r[4],
                     0,
                     {}};
  const uint64_t padded = align_up(block.total_bytes, sizeof(uint32_t));
  do {
    const auto left = block.total_bytes - block.part_offset;
    const auto take = std::min<uint64_t>(left, kBlockChunkDwords * sizeof(uint32_t));
    if (auto filled = read_dwords(align_up(take, sizeof(uint32_t)) / sizeof(uint32_t)); !filled) return filled.error();
    block.data = bytes_at(1).first(take);
    visitor.on(place_, block);
    block.part_offset += take;
  } while (block.part_offset < block.total_bytes);
  extra_bytes_ = padded;
  return {};
}

}  // namespace halogen::trace::aub
