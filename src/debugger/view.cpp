#include "debugger/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/json.h"
#include "eu/isa/decoder.h"
#include "eu/isa/printer.h"

namespace halogen::debugger {
namespace {

constexpr size_t kDwords = eu::kGrfBytes / sizeof(uint32_t);
constexpr size_t kRow_B = 16;        // bytes of memory per line
constexpr unsigned kListBefore = 4;  // listed instructions before ip

std::array<uint32_t, kDwords> dwords_of(std::span<const std::byte> file, size_t reg) {
  std::array<uint32_t, kDwords> out{};
  std::memcpy(out.data(), file.data() + reg * eu::kGrfBytes, eu::kGrfBytes);
  return out;
}

template <class List>
std::string hex_list(const List& list, unsigned digits) {
  std::string out;
  for (const auto value : list) {
    out += fmt::format(" {:0{}x}", value, digits);
  }
  return out;
}

// Formats a list of numbers with names as text and JSON.
class Fields {
 public:
  template <class List>
  void add(std::string_view name, const List& list, unsigned digits) {
    text_ += fmt::format("{:<6}{}\n", name, hex_list(list, digits));
    json_ += fmt::format("{}\"{}\":[{}]", json_.empty() ? "" : ",", name, fmt::join(list, ","));
  }
  Answer answer(std::string_view name) const { return {text_, fmt::format("{{\"{}\":{{{}}}}}", name, json_)}; }

 private:
  std::string text_;
  std::string json_;
};

// Goes back by instructions that the kernel has decoded, because only their sizes are known.
uint32_t go_back(const eu::Kernel& kernel, uint32_t offset, unsigned count) {
  for (; count > 0; --count) {
    bool found = false;
    for (const uint32_t size : {16u, 8u}) {
      const eu::Instruction* const before = offset >= size ? kernel.find(offset - size) : nullptr;
      if (before != nullptr && before->size == size) {
        offset -= size;
        found = true;
        break;
      }
    }
    if (!found) {
      break;
    }
  }
  return offset;
}

std::string text_of(const compute::Moment& moment, const std::optional<eu::Instruction>& in) {
  if (!in) {
    return "(not mapped)";
  }
  return in->op == eu::Op::illegal ? "illegal" : eu::print(moment.gen, *in, true);
}

}  // namespace

std::string hex_bytes(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return out;
}

Answer error_answer(std::string_view sentence) {
  return {fmt::format("error: {}\n", sentence), fmt::format("{{\"error\":{}}}", json_quote(sentence))};
}

Result<Answer> show_registers(const eu::Thread& thread, const RegisterRegion& first, unsigned count) {
  const std::span<const std::byte> file =
      first.accumulator ? std::span<const std::byte>(thread.accumulator) : std::span<const std::byte>(thread.grf);
  if ((first.reg + size_t{count}) * eu::kGrfBytes > file.size()) {
    return Error{fmt::format("{} registers from {} on exceed the register file.", count, print_region(first))};
  }
  Fields fields;
  for (unsigned i = 0; i < count; ++i) {
    fields.add(fmt::format("{}{}", first.accumulator ? "acc" : "r", first.reg + i), dwords_of(file, first.reg + i), 8);
  }
  return fields.answer("regs");
}

Result<Answer> show_region(const eu::Thread& thread, const RegisterRegion& region, unsigned count) {
  const Result<std::vector<uint64_t>> values = read_region(thread, region, count);
  if (!values) {
    return values.error();
  }
  const std::string name = print_region(region);
  std::string text = name;
  std::string json;
  for (const uint64_t bits : *values) {
    text += " " + value_text(region.type, bits);
    json += (json.empty() ? "" : ",") + value_json(region.type, bits);
  }
  return Answer{text + "\n", fmt::format("{{\"reg\":{},\"values\":[{}]}}", json_quote(name), json)};
}

Answer show_arf(const eu::Thread& thread) {
  Fields fields;
  fields.add("ip", std::array{thread.ip}, 8);
  fields.add("a0", thread.address, 4);
  fields.add("f", thread.flag, 8);
  fields.add("acc0", dwords_of(thread.accumulator, 0), 8);
  fields.add("acc1", dwords_of(thread.accumulator, 1), 8);
  fields.add("sr", thread.state, 8);
  fields.add("cr0", thread.control, 8);
  fields.add("n0", thread.notification, 8);
  fields.add("sp", thread.stack_pointer, 16);
  return fields.answer("arf");
}

Answer show_masks(const eu::Thread& thread) {
  std::string text = fmt::format("dispatch {:08x}\nactive   {:08x}\n", thread.dispatch_mask, thread.active);
  std::string json;
  for (unsigned channel = 0; channel < eu::kChannels; ++channel) {
    if (((thread.dispatch_mask & ~thread.active) >> channel & 1) == 0) {
      continue;
    }
    const bool gone = thread.channel_ip[channel] == eu::kNoIp;
    const std::string place = gone ? "ended" : fmt::format("at {:#x}", thread.channel_ip[channel]);
    text += fmt::format("channel {} waits {}, in call {}\n", channel, place, thread.call_depth[channel]);
    json += fmt::format("{}{{\"channel\":{},\"ip\":{},\"depth\":{}}}", json.empty() ? "" : ",", channel,
                        gone ? "null" : fmt::format("{}", thread.channel_ip[channel]), thread.call_depth[channel]);
  }
  return {text, fmt::format("{{\"masks\":{{\"dispatch\":{},\"active\":{},\"flags\":[{}],\"waiting\":[{}]}}}}",
                            thread.dispatch_mask, thread.active, fmt::join(thread.flag, ","), json)};
}

Answer show_memory(uint64_t address, std::span<const std::byte> bytes, bool mapped) {
  Answer out;
  for (size_t at = 0; at < bytes.size(); at += kRow_B) {
    out.text += fmt::format("{:#014x} ", address + at);
    for (const std::byte byte : bytes.subspan(at, std::min(kRow_B, bytes.size() - at))) {
      out.text += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
    }
    out.text += "\n";
  }
  if (!mapped) {
    out.text += "unmapped bytes read as zero\n";
  }
  out.json = fmt::format("{{\"memory\":{{\"address\":{},\"mapped\":{},\"bytes\":\"{}\"}}}}", address, mapped,
                         hex_bytes(bytes));
  return out;
}

std::optional<eu::Instruction> instruction_at(const compute::Moment& moment, uint32_t offset, const ReadMemory& read) {
  if (const eu::Instruction* const known = moment.kernel.find(offset)) {
    return *known;
  }
  std::array<std::byte, 16> bytes{};
  const uint64_t address = wrapped_address(moment.job.bases.instruction + offset).value;
  if ((offset & 7) != 0 || !read(moment.tables, address, bytes)) {
    return std::nullopt;
  }
  const eu::Decoded decoded = eu::decode(moment.gen, bytes);
  eu::Instruction out = decoded.instruction;
  if (!decoded.ok()) {
    out.op = eu::Op::illegal;
  }
  return out;
}

std::string instruction_text(const compute::Moment& moment, uint32_t offset, const ReadMemory& read) {
  return text_of(moment, instruction_at(moment, offset, read));
}

Answer show_code(const compute::Moment& moment, std::optional<uint32_t> from, unsigned count,
                 const std::set<uint32_t>& breaks, const ReadMemory& read) {
  uint32_t offset = from ? *from : go_back(moment.kernel, moment.thread.ip, kListBefore);
  Answer out;
  for (unsigned i = 0; i < count; ++i) {
    const std::optional<eu::Instruction> in = instruction_at(moment, offset, read);
    const bool here = offset == moment.thread.ip;
    const bool stops = breaks.contains(offset);
    const std::string text = text_of(moment, in);
    out.text += fmt::format("{}{} {:#06x}  {}\n", here ? ">" : " ", stops ? "*" : " ", offset, text);
    out.json += fmt::format("{}{{\"ip\":{},\"text\":{},\"here\":{},\"break\":{}}}", i == 0 ? "" : ",", offset,
                            json_quote(text), here, stops);
    const uint32_t size = in && in->size == 8 ? 8 : 16;
    if (!in || offset + size < offset) {
      break;
    }
    offset += size;
  }
  out.json = fmt::format("{{\"list\":[{}]}}", out.json);
  return out;
}

}  // namespace halogen::debugger
