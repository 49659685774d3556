// Reads ledgers and tests from disk and writes the report.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "requirements/ledger.h"

namespace halogen::requirements {
namespace fs = std::filesystem;
namespace {

Result<std::string> read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error{fmt::format("cannot read {}", path.string())};
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Returns the files below a folder with one of the endings, sorted.
std::vector<fs::path> files_below(const fs::path& folder, std::initializer_list<std::string_view> endings) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_regular_file() && std::find(endings.begin(), endings.end(), ending) != endings.end()) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string Coverage::to_json() const {
  std::string out = fmt::format("{{\"rows\":{},\"proved\":{},\"ledgers\":{{", rows, proved);
  std::string_view ledger_separator;
  for (const auto& [ledger, groups] : ledgers) {
    out += fmt::format("{}{}:{{", ledger_separator, json_quote(ledger));
    ledger_separator = ",";
    std::string_view group_separator;
    for (const auto& [name, group] : groups) {
      out += fmt::format("{}{}:{{\"rows\":{},\"proved\":{},\"missing\":[", group_separator, json_quote(name),
                         group.rows, group.proved);
      group_separator = ",";
      std::string_view id_separator;
      for (const std::string& id : group.missing) {
        out += fmt::format("{}{}", id_separator, json_quote(id));
        id_separator = ",";
      }
      out += "]}";
    }
    out += "}";
  }
  return out + "}}\n";
}

std::string Coverage::to_text() const {
  std::string out;
  for (const auto& [ledger, groups] : ledgers) {
    for (const auto& [name, group] : groups) {
      out += fmt::format("{:6} {:5} {:4} of {:4}", ledger, name, group.proved, group.rows);
      constexpr size_t kShown = 6;
      for (size_t i = 0; i < std::min(kShown, group.missing.size()); ++i) {
        out += fmt::format("{}{}", i == 0 ? "   without a test: " : " ", group.missing[i]);
      }
      if (group.missing.size() > kShown) {
        out += fmt::format(" and {} more", group.missing.size() - kShown);
      }
      out += "\n";
    }
  }
  return out + fmt::format("rows={} proved={}{}\n", rows, proved,
                           from_results ? "" : " (claimed in the sources; --results counts what ran and passed)");
}

Result<Coverage> measure(const fs::path& root, const fs::path* results) {
  const fs::path ledgers = root / "docs" / "requirements";
  const fs::path tests = root / "tests";
  if (!fs::is_directory(ledgers) || !fs::is_directory(tests)) {
    return Error{fmt::format("{} is not a Halogen source tree: docs/requirements or tests is missing", root.string())};
  }
  std::vector<Row> rows;
  for (const fs::path& path : files_below(ledgers, {".md"})) {
    const Result<std::string> text = read_text(path);
    if (!text) {
      return text.error();
    }
    std::ranges::move(parse_ledger(*text, path.stem().string()), std::back_inserter(rows));
  }
  std::vector<Claim> claims;
  for (const fs::path& path : files_below(tests, {".cpp", ".py"})) {
    const Result<std::string> text = read_text(path);
    if (!text) {
      return text.error();
    }
    std::ranges::move(find_claims(*text, fs::relative(path, root).string()), std::back_inserter(claims));
  }
  RecordedIds recorded;
  if (results != nullptr) {
    if (!fs::is_directory(*results)) {
      return Error{fmt::format("{} is not a folder of test results", results->string())};
    }
    for (const fs::path& path : files_below(*results, {".xml"})) {
      const Result<std::string> text = read_text(path);
      if (!text) {
        return text.error();
      }
      collect_ids(*text, recorded);
    }
  }
  return count(rows, claims, results != nullptr ? &recorded : nullptr);
}

}  // namespace halogen::requirements
