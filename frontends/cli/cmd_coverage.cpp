// halogen coverage: lists requirement rows that tests prove.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "requirements/ledger.h"

namespace halogen::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  bool json = false;
  std::string root;
  std::string results;
};

// Returns the nearest parent folder that has the ledgers, otherwise the tree this program was built from.
fs::path source_tree() {
  for (fs::path folder = fs::current_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    if (fs::is_directory(folder / "docs" / "requirements")) {
      return folder;
    }
  }
  return HALOGEN_SOURCE_DIR;
}

int run(const Options& options) {
  const fs::path results = options.results;
  const auto coverage = requirements::measure(options.root.empty() ? source_tree() : fs::path(options.root),
                                              options.results.empty() ? nullptr : &results);
  if (!coverage) {
    fmt::print(stderr, "halogen coverage: {}\n", coverage.message());
    return 2;
  }
  fmt::print("{}", options.json ? coverage->to_json() : coverage->to_text());
  for (const requirements::Claim& claim : coverage->unknown) {
    fmt::print(stderr, "halogen coverage: {}:{} claims {}, which is in no ledger\n", claim.file, claim.line, claim.id);
  }
  return coverage->unknown.empty() ? 0 : 1;
}

}  // namespace

void add_coverage(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("coverage", "list requirement rows proved by tests");
  command->add_flag("--json", options->json, "machine-readable");
  command->add_option("--root", options->root, "source tree (default: the one that contains this folder)");
  command->add_option("--results", options->results, "folder of GoogleTest XML files: count only tests that passed");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
