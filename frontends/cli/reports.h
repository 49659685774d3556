// The fidelity report as a file and as a sentence.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/fidelity.h"
#include "base/result.h"

namespace halogen::cli {

inline Result<void> write_report(const std::string& file, const FidelityReport& report, std::string_view device) {
  std::ofstream out(file);
  out << report.to_json(device);
  return out.flush() ? Result<void>{} : Error{fmt::format("{}: cannot be written.", file)};
}

// The commands that the model did not do, with counts; empty: it did all.
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
