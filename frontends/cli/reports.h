// The fidelity report as a file and as a sentence.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/fidelity.h"
#include "base/result.h"

namespace halogen::cli {

// Returns whether a file can be created there. Checked before long work; leaves no file.
inline bool can_write(const std::string& path) {
  const std::filesystem::path place(path);
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(place, ignored);
  if (was_there && std::filesystem::is_directory(place, ignored)) return false;
  const bool opens = std::ofstream(place, std::ios::app).is_open();
  if (opens && !was_there) std::filesystem::remove(place, ignored);
  return opens;
}

inline Result<void> write_report(const std::string& file, const FidelityReport& report, std::string_view device) {
  std::ofstream out(file);
  out << report.to_json(device);
  return out.flush() ? Result<void>{} : Error{fmt::format("{}: cannot write the file.", file)};
}

// Lists the commands that the model did not execute, with counts. Empty: it executed all.
inline std::string not_executed(const FidelityReport& report) {
  std::vector<std::string> names;
  for (const auto& [key, entry] : report.entries()) {
    if (key.first == FidelityKind::command && entry.fidelity == FidelityClass::unsupported) {
      names.push_back(fmt::format("{} x{}", key.second, entry.count));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace halogen::cli
