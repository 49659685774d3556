// The requirement ledgers of docs/requirements/ and the tests that claim their rows: what `halogen coverage` counts.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace halogen::requirements {

struct Row {
  std::string id;      // "DG1-FW-03", "G45-5.3.4-03"
  std::string ledger;  // "dg1"
  std::string group;   // "FW"; for g45 the chapter: "5"
};

struct Claim {
  std::string id;
  std::string file;
  size_t line = 0;
};

// A row starts a line: "- ID | ..." or "| ID | ...". Everything else in a ledger is prose.
std::vector<Row> parse_ledger(std::string_view text, std::string_view ledger);

// Every COVERS("...") in a source text.
std::vector<Claim> find_claims(std::string_view text, std::string_view file);

// Ids recorded by tests that passed, from GoogleTest's XML. A test that failed or was skipped proves nothing.
std::set<std::string> passed_ids(std::string_view xml);

struct GroupCoverage {
  size_t rows = 0;
  size_t proved = 0;
  std::vector<std::string> missing;
};

struct Coverage {
  size_t rows = 0;
  size_t proved = 0;
  std::map<std::string, std::map<std::string, GroupCoverage>> ledgers;  // ledger -> group
  std::vector<Claim> unknown;                                           // claims of ids that no ledger has

  std::string to_json() const;
  std::string to_text() const;
};

Coverage count(const std::vector<Row>& rows, const std::vector<Claim>& claims, const std::set<std::string>* passed);

// Reads `root`/docs/requirements/*.md and every source file below `root`/tests; with `results`, also its *.xml files.
Result<Coverage> measure(const std::filesystem::path& root, const std::filesystem::path* results);

}  // namespace halogen::requirements
