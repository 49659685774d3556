// The requirement ledgers of docs/requirements/ and the tests that claim their rows; used by `halogen coverage`.
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

// Rows start a line: "- ID | ..." or "| ID | ...". Everything else is prose.
std::vector<Row> parse_ledger(std::string_view text, std::string_view ledger);

// Finds every COVERS("...") in the code of a C++ source text, not in its comments and literals.
std::vector<Claim> find_claims(std::string_view text, std::string_view file);

// Ids that tests recorded in GoogleTest's XML. A skipped test proves nothing; a failed test disproves the row.
struct RecordedIds {
  std::set<std::string> passed;
  std::set<std::string> failed;
};
void collect_ids(std::string_view xml, RecordedIds& ids);

struct GroupCoverage {
  size_t rows = 0;
  size_t proved = 0;
  std::vector<std::string> missing;
};

struct Coverage {
  size_t rows = 0;
  size_t proved = 0;
  std::map<std::string, std::map<std::string, GroupCoverage>> ledgers;  // ledger -> group
  std::vector<Claim> unknown;                                           // ids that are in no ledger
  bool from_results = false;  // true: counts claims of tests that ran and passed; false: all claims in the sources

  std::string to_json() const;
  std::string to_text() const;
};

// `results` null: every claim counts.
Coverage count(const std::vector<Row>& rows, const std::vector<Claim>& claims, const RecordedIds* results);

// Reads `root`/docs/requirements/*.md and every source file below `root`/tests; with `results`, also its *.xml files.
Result<Coverage> measure(const std::filesystem::path& root, const std::filesystem::path* results);

}  // namespace halogen::requirements
