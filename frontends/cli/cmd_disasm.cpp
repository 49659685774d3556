// halogen disasm: prints EU machine code as text.
#include <fmt/format.h>

#include <cctype>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "eu/exec/executor.h"
#include "eu/ir/print.h"
#include "eu/isa/decoder.h"
#include "eu/isa/printer.h"
#include "eu_files.h"
#include "gen/eu_rules.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string gen;
  std::string file;
  bool rules = false;
  bool payloads = false;
  bool lowered = false;
};

class FileCode final : public eu::CodeSource {
 public:
  FileCode(spec::GenId gen, std::vector<std::byte> bytes) : gen_(gen), bytes_(std::move(bytes)) {}
  std::optional<eu::Instruction> at(uint32_t offset) const override {
    if (offset >= bytes_.size()) return {};
    const eu::Decoded decoded = eu::decode(gen_, std::span(bytes_).subspan(offset));
    return decoded.ok() ? decoded.instruction : eu::Instruction{};
  }

 private:
  spec::GenId gen_;
  std::vector<std::byte> bytes_;
};

bool is_hex_text(const std::string& text) {
  bool digit = false;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isxdigit(u) == 0 && std::isspace(u) == 0) return false;
    digit = digit || std::isxdigit(u) != 0;
  }
  return digit;
}

// Accepts pairs of digits separated by white space; any other file is raw machine code.
Result<std::vector<std::byte>> code_of(const std::string& name, const std::string& text) {
  std::vector<std::byte> out;
  if (!is_hex_text(text)) {
    const auto bytes = std::as_bytes(std::span(text));
    out.assign(bytes.begin(), bytes.end());
    return out;
  }
  std::string pair;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!pair.empty()) return Error{fmt::format("{}: hexadecimal digits must come in pairs.", name)};
      continue;
    }
    pair += c;
    if (pair.size() == 2) {
      out.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
      pair.clear();
    }
  }
  if (!pair.empty()) return Error{fmt::format("{}: hexadecimal digits must come in pairs.", name)};
  return out;
}

int run(const Options& options) {
  const auto complain = [](const std::string& message) {
    fmt::print(stderr, "halogen disasm: {}\n", message);
    return kExitUse;
  };
  const auto gen = parse_generation(options.gen);
  if (!gen) return complain(gen.message());
  const auto text = read_whole(options.file);
  if (!text) return complain(text.message());
  if (text->empty()) return complain(fmt::format("{}: the file is empty.", options.file));
  const auto code = code_of(options.file, *text);
  if (!code) return complain(code.message());
  if (options.lowered) {
    const auto& rules = eu_rules(*gen);
    std::cout << eu::ir::print(eu::ir::BlockList(FileCode(*gen, *code), 0, rules)) << std::flush;
    return std::cout ? 0 : complain("cannot write standard output.");
  }
  const std::string lines = eu::disassemble(*gen, *code, {.rules = options.rules, .headers = options.payloads});
  std::cout << lines << std::flush;
  if (!std::cout) return complain("cannot write standard output.");
  return lines.find(".bytes") == std::string::npos ? 0 : kExitFault;
}

}  // namespace

void add_disasm(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("disasm", "print machine code of execution units as text");
  command->add_option("--gen", options->gen, "generation of the code: gen4, gen4.5, gen5 ... gen12")->required();
  command->add_option("file", options->file, "hexadecimal bytes or raw code; - is standard input")
      ->required()
      ->type_name("FILE");
  command->add_flag("--rules", options->rules, "print the rules that an instruction breaks below it");
  command->add_flag("--payloads", options->payloads,
                    "print the fields of message headers below each send, with their registers");
  command->add_flag("--lowered", options->lowered,
                    "print instead the code that is reachable from the start, in the form that executors run");
  command->footer("Exit: 0 printed; 1 printed, but some of it is not a valid instruction; 2 wrong usage or bad file.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
