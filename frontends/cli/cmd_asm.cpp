// halogen asm: assembles text to EU machine code.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "commands.h"
#include "eu/isa/assembler.h"
#include "eu/isa/decoder.h"
#include "eu_files.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string gen;
  std::string file;
  std::string out;
  bool raw = false;
};

// Returns one line of hexadecimal digits per instruction.
std::string hex_lines(spec::GenId gen, std::span<const std::byte> code) {
  std::string out;
  for (size_t at = 0; at < code.size();) {
    const size_t size = std::max<size_t>(eu::decode(gen, code.subspan(at)).instruction.size, 1);
    const auto part = code.subspan(at, std::min(size, code.size() - at));
    for (size_t i = 0; i < part.size(); ++i) {
      out += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned>(part[i]));
    }
    out += '\n';
    at += part.size();
  }
  return out;
}

int run(const Options& options) {
  const auto complain = [](const std::string& message) {
    fmt::print(stderr, "halogen asm: {}\n", message);
    return kExitUse;
  };
  const auto gen = parse_generation(options.gen);
  if (!gen) return complain(gen.message());
  const auto text = read_whole(options.file);
  if (!text) return complain(text.message());
  const auto code = eu::assemble(*gen, *text);
  if (!code) return complain(fmt::format("{}: {}.", options.file, code.message()));
  std::string bytes =
      options.raw ? std::string(reinterpret_cast<const char*>(code->data()), code->size()) : hex_lines(*gen, *code);
  if (options.out.empty()) {
    std::cout << bytes << std::flush;
    return std::cout ? 0 : complain("cannot write standard output.");
  }
  std::ofstream file(options.out, std::ios::binary);
  file << bytes << std::flush;
  return file ? 0 : complain(fmt::format("{}: cannot write the file.", options.out));
}

}  // namespace

void add_asm(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("asm", "assemble code for execution units");
  command->add_option("--gen", options->gen, "target generation: gen4, gen4.5, gen5 ... gen12")->required();
  command->add_option("file", options->file, "assembly text (docs/eu-assembly.md); - is standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "output file (default: standard output)")->type_name("FILE");
  command->add_flag("--raw", options->raw, "write raw bytes instead of hexadecimal text");
  command->footer("Exit: 0 assembled; 2 wrong usage or bad text.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
