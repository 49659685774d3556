#include "requirements/ledger.h"

#include <gtest/gtest.h>

#include "support/paths.h"

namespace halogen::requirements {
namespace {

// The macro's name is split so that these samples do not count as claims of this file.
const std::string kMacro =
    "COVER"
    "S";

TEST(Ledger, RowsOfBothFormsAreFound) {
  const auto rows = parse_ledger(
      "# Title\n"
      "- DG1-FW-03 | 112-318 | text that names DG1-FW-04\n"
      "| G45-5.3.4-03 | 12 | All | B | text |\n"
      "| id | lines | dev | k | requirement |\n"
      "- prose about DG1-FW-05\n"
      "- DG1-FW-05 and more prose | x\n",
      "x");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, "DG1-FW-03");
  EXPECT_EQ(rows[0].group, "FW");
  EXPECT_EQ(rows[1].id, "G45-5.3.4-03");
  EXPECT_EQ(rows[1].group, "5");
}

TEST(Ledger, ClaimsRecordFileAndLine) {
  const auto claims = find_claims("a\n  " + kMacro + "(\"A-B-01\"); " + kMacro + "(\"A-B-02\");\n", "t.cpp");
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[1].id, "A-B-02");
  EXPECT_EQ(claims[1].line, 2u);
}

TEST(Ledger, CommentsAndLiteralsClaimNothing) {
  const std::string claim = kMacro + "(\"A-B-0";
  const auto found = [](const std::string& text) {
    std::string numbers;
    for (const Claim& c : find_claims(text, "t.cpp")) {
      numbers += c.id.back();
    }
    return numbers;
  };
  EXPECT_EQ(found("// " + claim + "1\");\n" + claim + "2\");"), "2");
  EXPECT_EQ(found("x; // " + claim + "1\");"), "");
  EXPECT_EQ(found("/* " + claim + "1\");\n " + claim + "2\"); */ " + claim + "3\");"), "3");
  EXPECT_EQ(found("s = \"// \\\" /*\"; " + claim + "1\");"), "1") << "a literal with the marks of a comment";
  EXPECT_EQ(found("s = \"" + kMacro + "(\\\"A-B-01\\\")\"; " + claim + "2\");"), "2") << "a literal with the macro";
  EXPECT_EQ(found("s = R\"x(" + claim + "1\"); /* )\")x\"; " + claim + "2\");"), "2") << "a raw literal";
  EXPECT_EQ(found("c = '\"'; d = '\\''; n = 1'000; " + claim + "1\"); m = 2'000;"), "1") << "characters and digits";
  EXPECT_EQ(found("UN" + claim + "1\");"), "") << "another macro";
  EXPECT_EQ(found("/* unfinished " + claim + "1\");"), "");
  EXPECT_EQ(find_claims("/* 1\n2\n*/ s = \"\";\n" + claim + "1\");", "t.cpp").at(0).line, 4u);
}

TEST(Ledger, OnlyPassedTestsProveRows) {
  RecordedIds ids;
  collect_ids(
      "<testcase name=\"a\" status=\"run\" result=\"completed\"><properties><property name=\"covers:A-B-01\" "
      "value=\"1\"/><property name=\"covers:A-B-02\" value=\"1\"/></properties></testcase>"
      "<testcase name=\"b\" status=\"run\" result=\"completed\"><failure message=\"x\"/><properties><property "
      "name=\"covers:A-B-03\" value=\"1\"/></properties></testcase>"
      "<testcase name=\"c\" status=\"run\" result=\"skipped\"><skipped/><properties><property name=\"covers:A-B-04\" "
      "value=\"1\"/></properties></testcase>",
      ids);
  EXPECT_EQ(ids.passed, (std::set<std::string>{"A-B-01", "A-B-02"}));
  EXPECT_EQ(ids.failed, (std::set<std::string>{"A-B-03"}));
}

TEST(Ledger, CountsByGroupAndNamesUnknownIds) {
  const std::vector<Row> rows{{"A-X-01", "a", "X"}, {"A-X-02", "a", "X"}, {"A-Y-01", "a", "Y"}};
  const std::vector<Claim> claims{{"A-X-01", "t", 1}, {"A-X-01", "t", 2}, {"A-Z-01", "t", 3}};
  const Coverage coverage = count(rows, claims, nullptr);
  EXPECT_EQ(coverage.rows, 3u);
  EXPECT_EQ(coverage.proved, 1u);
  ASSERT_EQ(coverage.unknown.size(), 1u);
  EXPECT_EQ(coverage.unknown[0].id, "A-Z-01");
  EXPECT_EQ(coverage.to_json(),
            "{\"rows\":3,\"proved\":1,\"ledgers\":{\"a\":{\"X\":{\"rows\":2,\"proved\":1,\"missing\":[\"A-X-02\"]},"
            "\"Y\":{\"rows\":1,\"proved\":0,\"missing\":[\"A-Y-01\"]}}}}\n");
  RecordedIds results;
  EXPECT_EQ(count(rows, claims, &results).proved, 0u);
  results.passed = {"A-X-01"};
  EXPECT_EQ(count(rows, claims, &results).proved, 1u);
  results.failed = {"A-X-01"};  // one of several tests that claim the row failed
  EXPECT_EQ(count(rows, claims, &results).proved, 0u);
}

// The row counts that the ledgers' README states.
TEST(Ledger, ProjectLedgersHold926Rows) {
  const auto coverage = measure(test::source_folder(), nullptr);
  ASSERT_TRUE(coverage) << coverage.message();
  EXPECT_EQ(coverage->rows, 926u);
  EXPECT_EQ(coverage->ledgers.at("g45").at("8").rows, 130u);
  EXPECT_EQ(coverage->ledgers.at("dg1").at("FW").rows, 11u);
  for (const Claim& claim : coverage->unknown) {
    ADD_FAILURE() << claim.file << ":" << claim.line << " claims " << claim.id << ", which is in no ledger";
  }
}

}  // namespace
}  // namespace halogen::requirements
