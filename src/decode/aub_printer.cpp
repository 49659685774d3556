#include "decode/aub_printer.h"

#include <fmt/format.h>

namespace halogen::decode {
namespace {

using namespace trace::aub;  // the records

std::string space_name(MemorySpace space) {
  const auto name = name_of(space);
  return name.empty() ? fmt::format("space {}", static_cast<unsigned>(space)) : std::string(name);
}

std::string space_name(RegisterSpace space) {
  const auto name = name_of(space);
  return name.empty() ? fmt::format("space {}", static_cast<unsigned>(space)) : std::string(name);
}

std::string_view operation_name(BlockOperation operation) {
  switch (operation) {
    case BlockOperation::comment:
      return "comment";
    case BlockOperation::data_write:
      return "data write";
    case BlockOperation::command_write:
      return "command write";
    case BlockOperation::mmio_write:
      return "MMIO write";
  }
  return "unknown operation";
}

struct Kind {
  std::string_view operator()(const Version&) const { return "version"; }
  std::string_view operator()(const OldVersion&) const { return "old version"; }
  std::string_view operator()(const RegisterWrite&) const { return "register write"; }
  std::string_view operator()(const RegisterCompare&) const { return "register compare"; }
  std::string_view operator()(const RegisterPoll&) const { return "register poll"; }
  std::string_view operator()(const MemoryWrite&) const { return "memory write"; }
  std::string_view operator()(const MemoryCompare&) const { return "memory compare"; }
  std::string_view operator()(const MemoryPoll&) const { return "memory poll"; }
  std::string_view operator()(const FrameBegin&) const { return "frame begin"; }
  std::string_view operator()(const Comment&) const { return "comment"; }
  std::string_view operator()(const Delay&) const { return "delay"; }
  std::string_view operator()(const MemoryDump&) const { return "memory dump"; }
  std::string_view operator()(const DiscontiguousWrite&) const { return "discontiguous write"; }
  std::string_view operator()(const TestPhase&) const { return "test phase"; }
  std::string_view operator()(const ContiguousRegion&) const { return "contiguous region"; }
  std::string_view operator()(const Predicate&) const { return "predicate"; }
  std::string_view operator()(const CompressedDump&) const { return "compressed dump"; }
  std::string_view operator()(const ClassicVersion&) const { return "version"; }
  std::string_view operator()(const ClassicBlock&) const { return "trace block"; }
  std::string_view operator()(const ClassicBitmap&) const { return "bitmap dump"; }
  std::string_view operator()(const PpgttContextCreate&) const { return "PPGTT context"; }
  std::string_view operator()(const BufferDump&) const { return "buffer dump"; }
  std::string_view operator()(const ImageDump&) const { return "image dump"; }
  std::string_view operator()(const Unknown&) const { return "unknown record"; }
};

struct Describe {
  const RegisterNames* registers;

  std::string register_name(uint32_t offset, RegisterSpace space) const {
    std::string name = fmt::format("{:#x}", offset);
    if (space != RegisterSpace::mmio) return name + " in " + space_name(space);
    const std::string found = registers != nullptr ? registers->name_at(offset) : std::string{};
    return found.empty() ? name : name + " " + found;
  }

  static std::string place(uint64_t address, MemorySpace space) {
    return fmt::format("{:#x} in {}", address, space_name(space));
  }

  std::string operator()(const Version& r) const {
    return fmt::format("file version {}, device code {}, stepping {}, {} addresses, \"{}\"", r.file_version, r.device,
                       r.stepping, r.recording == 1 ? "physical" : "graphics", printable(r.text));
  }
  std::string operator()(const OldVersion& r) const { return fmt::format("{} dwords", r.dwords.size()); }
  std::string operator()(const RegisterWrite& r) const {
    return fmt::format("{} = {:#x}", register_name(r.offset, r.space), r.value);
  }
  std::string operator()(const RegisterCompare& r) const {
    if (r.no_expect) return register_name(r.offset, r.space);
    return fmt::format("{} & {:#x} == {:#x}", register_name(r.offset, r.space), r.mask, r.expected);
  }
  std::string operator()(const RegisterPoll& r) const {
    return fmt::format("{} & {:#x} {} {:#x}", register_name(r.offset, r.space), r.mask,
                       r.not_equal ? "!=" : "==", r.value);
  }
  std::string operator()(const MemoryWrite& r) const {
    const auto hint = name_of_hint(r.hint);
    return fmt::format("{}, {} bytes{}{}", place(r.address, r.space), r.data.size(), hint.empty() ? "" : ", ", hint);
  }
  std::string operator()(const MemoryCompare& r) const {
    return fmt::format("{}, {} bytes{}{}", place(r.address, r.space), r.bytes, r.not_equal ? ", must differ" : "",
                       r.no_expect ? ", nothing expected" : "");
  }
  std::string operator()(const MemoryPoll& r) const {
    return fmt::format("{} & {:#x} {} {:#x}", place(r.address, r.space), r.mask, r.not_equal ? "!=" : "==", r.value);
  }
  std::string operator()(const FrameBegin& r) const { return fmt::format("{}", r.number); }
  std::string operator()(const Comment& r) const { return printable(r.text); }
  std::string operator()(const Delay& r) const { return fmt::format("{}", r.time); }
  std::string operator()(const MemoryDump& r) const {
    return fmt::format("{}, {}x{}, stride {}, to \"{}\"", place(r.address, r.space), r.width, r.height, r.stride,
                       printable(r.file_name));
  }
  std::string operator()(const DiscontiguousWrite& r) const {
    return fmt::format("{} of {}: {}, {} bytes", r.piece + 1, r.pieces, place(r.address, r.space), r.data.size());
  }
  std::string operator()(const TestPhase& r) const { return fmt::format("{}.{}", r.phase, r.sub_phase); }
  std::string operator()(const ContiguousRegion& r) const { return fmt::format("{:#x}, {} bytes", r.address, r.bytes); }
  std::string operator()(const Predicate& r) const {
    return fmt::format("target {} {}", r.target, r.state ? "on" : "off");
  }
  std::string operator()(const CompressedDump& r) const {
    return fmt::format("surface {:#x}, {}x{}, pitch {}", r.surface_address, r.width, r.height, r.pitch);
  }
  std::string operator()(const ClassicVersion& r) const {
    return fmt::format("{}.{}, \"{}\", \"{}\"", r.major, r.minor, printable(r.application), printable(r.comment));
  }
  std::string operator()(const ClassicBlock& r) const {
    return fmt::format("{} type {} space {}: {:#x}, {} bytes", operation_name(r.operation), r.type, r.space, r.address,
                       r.total_bytes);
  }
  std::string operator()(const ClassicBitmap& r) const { return fmt::format("{} dwords", r.dwords.size()); }
  std::string operator()(const PpgttContextCreate& r) const {
    return fmt::format("handle {:#x}, {}-bit, roots {:#x} {:#x} {:#x} {:#x}", r.handle, r.is_64bit ? 64 : 32,
                       r.roots[0], r.roots[1], r.roots[2], r.roots[3]);
  }
  std::string operator()(const BufferDump& r) const {
    return fmt::format("{:#x}, {}x{}, pitch {}, {}", r.base, r.width, r.height, r.pitch, printable(r.file_type));
  }
  std::string operator()(const ImageDump& r) const {
    return fmt::format("{:#x}, {}x{} at {},{}, pitch {}", r.base, r.x_size, r.y_size, r.x_min, r.y_min, r.pitch);
  }
  std::string operator()(const Unknown& r) const {
    return fmt::format("opcode {:#x}, sub-opcode {:#x}, {} dwords", r.opcode, r.sub_opcode, r.dwords.size());
  }
};

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

std::string_view kind_of(const Record& record) {
  return std::visit(Kind{}, record);
}

std::string describe(const Record& record, const RegisterNames* registers) {
  return std::visit(Describe{registers}, record);
}

}  // namespace halogen::decode
