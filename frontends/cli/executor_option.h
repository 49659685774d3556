// --executor: how the device runs EU code. Shared by the sub-commands that create a device.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>

#include "base/result.h"
#include "eu/library/executor_kind.h"

namespace halogen::cli {

inline void add_executor_option(CLI::App& command, std::string& name) {
  command.add_option("--executor", name, "how EU code runs: interpreter (compiled and check are not implemented)")
      ->type_name("NAME");
}

// Returns the executor with this name. An empty name selects the interpreter.
inline Result<eu::ExecutorKind> executor_of(const std::string& name) {
  if (name.empty()) return eu::ExecutorKind::interpreter;
  const auto kind = eu::executor_named(name);
  if (!kind) {
    return Error{fmt::format("unknown executor \"{}\"; use {}.", name, fmt::join(eu::kExecutorNames, ", "))};
  }
  if (!eu::is_available(*kind)) {
    return Error{fmt::format("executor \"{}\" is not implemented; use --executor interpreter.", name)};
  }
  return *kind;
}

}  // namespace halogen::cli
