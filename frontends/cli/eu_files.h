// Shared by `halogen disasm` and `halogen asm`: names of generations and reading of whole files.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "base/result.h"
#include "spec/device_model.h"

namespace halogen::cli {

inline Result<spec::GenId> parse_generation(const std::string& name) {
  std::string known;
  for (size_t n = 0; n < spec::kGenCount; ++n) {
    const auto gen = static_cast<spec::GenId>(n);
    if (spec::name_of(gen) == name) return gen;
    known += fmt::format("{}{}", n == 0 ? "" : ", ", spec::name_of(gen));
  }
  return Error{fmt::format("unknown generation \"{}\"; give one of {}.", name, known)};
}

// Reads a whole file; "-" is the standard input.
inline Result<std::string> read_whole(const std::string& path) {
  constexpr size_t kLimit = size_t{64} << 20;
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error{fmt::format("{}: {}.", path, std::strerror(errno))};
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  char part[4096];
  while (in.read(part, sizeof part), in.gcount() > 0) {
    text.append(part, static_cast<size_t>(in.gcount()));
    if (text.size() > kLimit) return Error{fmt::format("{}: larger than the limit of 64 MB.", path)};
  }
  if (in.bad() || (path != "-" && text.empty() && !in.eof())) {
    return Error{fmt::format("{}: cannot read the file.", path)};
  }
  return text;
}

}  // namespace halogen::cli
