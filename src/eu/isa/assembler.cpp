#include "eu/isa/assembler.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "eu/isa/encoder.h"
#include "eu/isa/line_parser.h"

namespace halogen::eu {

namespace {

// Returns the line without its comment and without blanks at both ends.
std::string_view strip(std::string_view line) {
  line = line.substr(0, line.find("//"));
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) {
    line.remove_prefix(1);
  }
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
    line.remove_suffix(1);
  }
  return line;
}

bool is_label(std::string_view line) {
  if (line.size() < 2 || line.back() != ':') {
    return false;
  }
  for (const char c : line.substr(0, line.size() - 1)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') {
      return false;
    }
  }
  return true;
}

struct Item {
  size_t line;
  int64_t at;
  ParsedLine parsed;
  std::vector<std::byte> raw;  // of a .bytes line
};

Error at_line(size_t line, const std::string& message) {
  return Error{fmt::format("line {}: {}", line, message)};
}

Result<std::vector<std::byte>> raw_bytes(std::string_view text) {
  std::vector<std::byte> out;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == '\t') {
      text.remove_prefix(1);
      continue;
    }
    if (text.size() < 2 || std::isxdigit(static_cast<unsigned char>(text[0])) == 0 ||
        std::isxdigit(static_cast<unsigned char>(text[1])) == 0) {
      return Error{".bytes takes pairs of hexadecimal digits"};
    }
    out.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(0, 2)), nullptr, 16)));
    text.remove_prefix(2);
  }
  return out;
}

}  // namespace

Result<Instruction> assemble_line(spec::GenId gen, std::string_view line) {
  const Result<ParsedLine> parsed = LineParser(gen, strip(line)).run();
  if (!parsed) {
    return parsed.error();
  }
  if (!parsed->jip_label.empty() || !parsed->uip_label.empty()) {
    return Error{"a label is only allowed in a program"};
  }
  return parsed->instruction;
}

Result<std::vector<std::byte>> assemble(spec::GenId gen, std::string_view text) {
  std::vector<Item> items;
  std::map<std::string, int64_t, std::less<>> labels;
  int64_t at = 0;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = strip(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.empty()) {
      continue;
    }
    if (is_label(line)) {
      const std::string name(line.substr(0, line.size() - 1));
      if (!labels.emplace(name, at).second) {
        return at_line(number, fmt::format("the label {} is defined twice", name));
      }
      continue;
    }
    Item item{number, at, {}, {}};
    if (line.starts_with(".bytes")) {
      const Result<std::vector<std::byte>> raw = raw_bytes(line.substr(6));
      if (!raw) {
        return at_line(number, raw.message());
      }
      item.raw = *raw;
      at += static_cast<int64_t>(item.raw.size());
    } else {
      Result<ParsedLine> parsed = LineParser(gen, line).run();
      if (!parsed) {
        return at_line(number, parsed.message());
      }
      item.parsed = std::move(*parsed);
      at += item.parsed.instruction.size;
    }
    items.push_back(std::move(item));
  }
  std::vector<std::byte> out;
  for (Item& item : items) {
    if (!item.raw.empty()) {
      out.insert(out.end(), item.raw.begin(), item.raw.end());
      continue;
    }
    Instruction& in = item.parsed.instruction;
    for (const auto& [label, distance] :
         {std::pair(&item.parsed.jip_label, &in.jip), std::pair(&item.parsed.uip_label, &in.uip)}) {
      if (label->empty()) {
        continue;
      }
      const auto found = labels.find(*label);
      if (found == labels.end()) {
        return at_line(item.line, fmt::format("the label {} is not defined", *label));
      }
      *distance = static_cast<int32_t>(in.op == Op::calla ? found->second : found->second - item.at);
    }
    const Result<std::vector<std::byte>> bytes = encode(gen, std::span(&in, 1));
    if (!bytes) {
      return at_line(item.line, bytes.message());
    }
    out.insert(out.end(), bytes->begin(), bytes->end());
  }
  return out;
}

}  // namespace halogen::eu
