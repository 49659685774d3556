#include "trace/aub_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/bits.h"

namespace halogen::trace::aub {
namespace {

constexpr uint32_t kType = 7;
constexpr uint32_t kOpcodeClassic = 0x01;
constexpr uint32_t kOpcodeTrace = 0x2e;
constexpr unsigned kTraceBias = 1;  // dwords that the length field does not count
constexpr unsigned kClassicBias = 2;
constexpr std::array<std::byte, 4> kZeros{};

constexpr uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
constexpr uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}
constexpr uint32_t at(uint32_t value, unsigned shift) {
  return value << shift;
}
template <class Enum>
constexpr uint32_t number(Enum value) {
  return static_cast<uint32_t>(value);
}

// Returns the text with its final NUL, cut to the length that fits every kind of record.
std::string terminated(std::string_view text) {
  constexpr size_t kMaxText = (0xffff - 16) * sizeof(uint32_t);
  std::string result(text.substr(0, kMaxText - 1));
  result.push_back('\0');
  return result;
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

uint32_t register_flags(RegisterSpace space, uint8_t size_code) {
  return at(number(space), 28) | at(size_code, 16);
}
uint32_t memory_flags(MemorySpace space, uint8_t hint, Tiling tiling) {
  return at(number(space), 28) | at(hint, 20) | at(number(tiling), 2);
}

// Registers of up to 32 bits have one dword of data, wider ones two.
std::array<uint32_t, 2> value_dwords(uint64_t value) {
  return {low(value), high(value)};
}
std::span<const std::byte> value_bytes(const std::array<uint32_t, 2>& dwords, uint8_t size_code) {
  return std::as_bytes(std::span(dwords).first(size_code > 2 ? 2 : 1));
}

}  // namespace

struct Writer::Handler {
  Writer& out;

  void operator()(const Version& r) const {
    const uint32_t device = at(r.metal, 0) | at(r.stepping, 3) | at(r.device, 8) | at(r.swizzle, 16) |
                            at(r.recording, 18) | at(r.pch, 20) | at(r.tool, 28);
    out.trace(0x0e, {r.file_version, device, r.primary_version, r.secondary_version}, bytes_of(terminated(r.text)));
  }
  void operator()(const OldVersion& r) const { out.put(r.dwords); }
  void operator()(const RegisterWrite& r) const {
    const auto value = value_dwords(r.value);
    out.trace(0x03, {r.offset, register_flags(r.space, r.size_code) | at(r.source, 4), low(r.mask), high(r.mask)},
              value_bytes(value, r.size_code));
  }
  void operator()(const RegisterCompare& r) const {
    const auto value = value_dwords(r.expected);
    out.trace(0x01, {r.offset, register_flags(r.space, r.size_code) | uint32_t{r.no_expect}, low(r.mask), high(r.mask)},
              value_bytes(value, r.size_code));
  }
  void operator()(const RegisterPoll& r) const {
    const auto value = value_dwords(r.value);
    const uint32_t flags =
        register_flags(r.space, r.size_code) | at(r.ignore_timeout, 1) | at(r.not_equal, 2) | at(r.operation, 4);
    out.trace(0x02, {r.offset, flags, low(r.mask), high(r.mask)}, value_bytes(value, r.size_code));
  }
  void operator()(const MemoryWrite& r) const {
    const uint32_t flags = memory_flags(r.space, r.hint, r.tiling) | uint32_t{r.frontdoor} | at(r.repeat, 1);
    if (r.repeat && r.bytes > r.data.size()) {
      out.trace(0x06, {low(r.address), high(r.address), flags, low(r.bytes)}, r.data);
      return;
    }
    uint64_t address = r.address;
    auto data = r.data;
    do {
      const auto part = data.first(std::min(data.size(), kMaxData));
      out.trace(0x06, {low(address), high(address), flags, low(part.size())}, part);
      data = data.subspan(part.size());
      address += part.size();
    } while (!data.empty());
  }
  void operator()(const MemoryCompare& r) const {
    const uint32_t flags = memory_flags(r.space, r.hint, r.tiling) | uint32_t{r.no_expect} | at(r.repeat, 1) |
                           at(r.crc, 6) | at(r.not_equal, 7) | at(r.deferred, 9);
    out.trace(0x04, {low(r.address), high(r.address), flags, r.bytes}, r.data);
  }
  void operator()(const MemoryPoll& r) const {
    const auto value = value_dwords(r.value);
    const uint32_t flags = memory_flags(r.space, r.hint, r.tiling) | uint32_t{r.not_equal} | at(r.size_code, 4) |
                           at(r.ignore_timeout, 8) | at(number(r.comparison), 10);
    out.trace(0x05, {low(r.address), high(r.address), flags, low(r.mask), high(r.mask)},
              value_bytes(value, r.size_code));
  }
  void operator()(const FrameBegin& r) const { out.trace(0x07, {r.number}); }
  void operator()(const Comment& r) const {
    out.trace(0x08, {uint32_t{r.sync_on_comment} | at(r.sync_on_display, 1)}, bytes_of(terminated(r.text)));
  }
  void operator()(const Delay& r) const { out.trace(0x09, {r.time}); }
  void operator()(const MemoryDump& r) const {
    out.trace(0x0a,
              {low(r.address), high(r.address), r.stride, r.width, r.height,
               (number(r.space) & 3) | at(number(r.tiling) & 3, 4)},
              bytes_of(terminated(r.file_name)));
  }
  void operator()(const DiscontiguousWrite& r) const {
    (*this)(MemoryWrite{r.address, false, false, Tiling::none, r.hint, r.space, r.data, r.data.size()});
  }
  void operator()(const TestPhase& r) const { out.trace(0x0c, {at(r.phase, 12) | r.sub_phase}); }
  void operator()(const ContiguousRegion& r) const {
    out.trace(0x0d, {low(r.address), high(r.address), low(r.bytes), high(r.bytes)});
  }
  void operator()(const Predicate& r) const { out.trace(0x0f, {uint32_t{r.state} | at(r.target, 1)}); }
  void operator()(const CompressedDump& r) const { out.put(r.dwords); }
  void operator()(const ClassicVersion& r) const {
    std::array<char, 32> name{};
    std::copy_n(r.application.begin(), std::min(r.application.size(), name.size()), name.begin());
    std::array<uint32_t, 8> words{};
    std::memcpy(words.data(), name.data(), name.size());
    const std::string comment = terminated(r.comment);
    out.classic(0x05,
                {at(r.major, 24) | at(r.minor, 16), words[0], words[1], words[2], words[3], words[4], words[5],
                 words[6], words[7], low(r.time), high(r.time), low(comment.size())},
                bytes_of(comment));
  }
  void operator()(const ClassicBlock& r) const {
    if (r.part_offset == 0) {
      const uint32_t what = number(r.operation) | at(r.type, 8) | at(r.space, 16);
      const auto head = std::array{what, r.subtype, low(r.address), low(r.total_bytes), high(r.address)};
      const auto used = std::span(head).first(high(r.address) != 0 ? 5 : 4);
      const uint32_t opening =
          at(kType, 29) | at(kOpcodeClassic, 23) | at(0x41, 16) | low(used.size() + 1 - kClassicBias);
      out.put(std::span(&opening, 1));
      out.put(used);
    }
    out.put(r.data);
    if (r.is_last()) out.pad(r.total_bytes);
  }
  void operator()(const ClassicBitmap& r) const { out.put(r.dwords); }
  void operator()(const PpgttContextCreate& r) const {
    const auto& roots = r.roots;
    out.classic(0x14, {r.handle, uint32_t{r.advanced} | at(r.is_64bit, 1), low(roots[0]), high(roots[0]), low(roots[1]),
                       high(roots[1]), low(roots[2]), high(roots[2]), low(roots[3]), high(roots[3])});
  }
  void operator()(const BufferDump& r) const {
    uint32_t name = 0;
    std::memcpy(&name, r.file_type.data(), std::min(r.file_type.size(), sizeof name));
    out.classic(0x15,
                {low(r.base), high(r.base), low(r.width), high(r.width), low(r.height), high(r.height), low(r.pitch),
                 high(r.pitch), uint32_t{r.surface_type} | at(r.gtt_type, 4), r.handle, 0, 0, name});
  }
  void operator()(const ImageDump& r) const {
    out.classic(
        0x44, {r.x_min, r.y_min, r.pitch, r.format, r.x_size, r.y_size, low(r.base), high(r.base), r.flags, r.handle});
  }
  void operator()(const Unknown& r) const { out.put(r.dwords); }
};

void Writer::open(const spec::DeviceModel& model, std::string_view text) {
  constexpr uint8_t kPhysical = 1;
  const std::string named = fmt::format("PCI-ID={:#06x} {}", model.pci_id, text);
  write(Version{.file_version = 1,
                .metal = 0,
                .stepping = 0,
                .device = model.aub_codes.empty() ? uint8_t{0} : model.aub_codes.front(),
                .swizzle = 0,
                .recording = kPhysical,
                .pch = 0,
                .tool = 0,
                .primary_version = 0,
                .secondary_version = 0,
                .text = named});
}

void Writer::write(const Record& record) {
  std::visit(Handler{*this}, record);
}

void Writer::put(std::span<const std::byte> bytes) {
  if (error_ || bytes.empty()) return;
  if (const Result<void> done = sink_.write(bytes); !done) error_ = done.error();
  bytes_ += bytes.size();
}

void Writer::pad(uint64_t bytes) {
  put(std::span(kZeros).first(align_up(bytes, sizeof(uint32_t)) - bytes));
}

void Writer::record(uint32_t opcode, uint32_t sub, unsigned bias, std::initializer_list<uint32_t> body,
                    std::span<const std::byte> data) {
  const size_t dwords = 1 + body.size() + (data.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  const uint32_t header = at(kType, 29) | at(opcode, 23) | at(sub, 16) | low(dwords - bias);
  put(std::span(&header, 1));
  put(std::span(body.begin(), body.size()));
  put(data);
  pad(data.size());
}

void Writer::trace(uint32_t sub, std::initializer_list<uint32_t> body, std::span<const std::byte> data) {
  record(kOpcodeTrace, sub, kTraceBias, body, data);
}

void Writer::classic(uint32_t sub, std::initializer_list<uint32_t> body, std::span<const std::byte> data) {
  record(kOpcodeClassic, sub, kClassicBias, body, data);
}

Result<void> Writer::finish() {
  if (!error_) {
    if (const Result<void> done = sink_.flush(); !done) error_ = done.error();
  }
  return error_ ? Result<void>(*error_) : Result<void>{};
}

}  // namespace halogen::trace::aub
