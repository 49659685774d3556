// The options --sandbox and --no-sandbox of the sub-commands that read untrusted input of guests, clients and files.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "sandbox/confine.h"

namespace halogen::cli {

struct SandboxOption {
  std::string mode = "on";
  bool none = false;
};

inline void add_sandbox_option(CLI::App& command, SandboxOption& option) {
  command.add_option("--sandbox", option.mode, "confine this process: on, off, or require, which fails where on warns")
      ->type_name("MODE")
      ->check(CLI::IsMember({"on", "off", "require"}));
  command.add_flag("--no-sandbox", option.none, "do not confine this process (for debuggers)");
}

// Confines this process, as the options say. An error: the host's kernel lacks what was required.
inline Result<void> confine(std::string_view command, const SandboxOption& option, const sandbox::Rights& rights) {
  if (option.none || option.mode == "off") return {};
  const auto done = sandbox::confine(rights);
  std::string missing = done ? *done : done.message();
  if (missing.empty()) return {};
  if (missing.back() == '.') missing.pop_back();
  if (option.mode == "require") return Error{fmt::format("--sandbox=require: {}.", missing)};
  fmt::print(stderr, "halogen {}: sandbox incomplete: {}; --no-sandbox hides this line.\n", command, missing);
  return {};
}

// Creates a file that a confined process will write, or checks that it can be written. Existing content stays.
inline Result<void> prepare_output(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  bool writable = false;
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // Does not open pipes and devices, because the process at the other end would notice.
    writable = !std::filesystem::is_directory(status) && ::access(path.c_str(), W_OK) == 0;
  } else {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    writable = file >= 0;
    if (writable) ::close(file);
  }
  return writable ? Result<void>{} : Error{fmt::format("{}: cannot write the file.", path)};
}

}  // namespace halogen::cli
