#include "requirements/ledger.h"

#include <algorithm>
#include <cctype>

namespace halogen::requirements {
namespace {

bool is_id_char(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-' || c == '.';
}

// "G45-5.3.4-03": ledger prefix, group, number.
bool is_row_id(std::string_view id) {
  const size_t first = id.find('-');
  const size_t last = id.rfind('-');
  if (first == std::string_view::npos || first == last || first == 0) {
    return false;
  }
  const std::string_view number = id.substr(last + 1);
  return number.size() == 2 && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string group_of(std::string_view id) {
  const size_t first = id.find('-') + 1;
  std::string_view group = id.substr(first, id.rfind('-') - first);
  // Chapters of the g45 ledger are numbered with dots; the chapter is the group.
  if (!group.empty() && std::isdigit(static_cast<unsigned char>(group[0])) != 0) {
    group = group.substr(0, group.find('.'));
  }
  return std::string(group);
}

bool is_name_char(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_';
}

char before(std::string_view text, size_t at) {
  return at == 0 ? ' ' : text[at - 1];
}

// Returns the length of the text that ends with `end`, of all of it if `end` is missing.
size_t length_to(std::string_view text, std::string_view end, size_t from) {
  const size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

// Returns the length of a literal in quotes; a backslash hides the character after it, a line's end ends the literal.
size_t quoted_length(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && text[at] != text[0] && text[at] != '\n') {
    at += text[at] == '\\' ? 2u : 1u;
  }
  return std::min(at + 1, text.size());
}

// Returns the length of the comment or literal that starts at `at` of a C++ source text. Zero: code.
size_t not_code(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) {
    return length_to(rest, "\n", 0);
  }
  if (rest.starts_with("/*")) {
    return length_to(rest, "*/", 2);
  }
  if (rest[0] == '"' && before(text, at) == 'R') {
    const std::string_view mark = rest.substr(1, std::min(rest.find('('), rest.size()) - 1);
    return length_to(rest, ")" + std::string(mark) + "\"", 1);
  }
  const bool separates_digits = rest[0] == '\'' && is_name_char(before(text, at));
  return rest[0] == '"' || (rest[0] == '\'' && !separates_digits) ? quoted_length(rest) : 0;
}

template <class Function>
void for_each_line(std::string_view text, Function function) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    function(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

}  // namespace

std::vector<Row> parse_ledger(std::string_view text, std::string_view ledger) {
  std::vector<Row> rows;
  for_each_line(text, [&](std::string_view line) {
    if (!line.starts_with("- ") && !line.starts_with("| ")) {
      return;
    }
    line.remove_prefix(2);
    size_t length = 0;
    while (length < line.size() && is_id_char(line[length])) {
      ++length;
    }
    const std::string_view id = line.substr(0, length);
    if (line.substr(length).starts_with(" |") && is_row_id(id)) {
      rows.push_back({std::string(id), std::string(ledger), group_of(id)});
    }
  });
  return rows;
}

std::vector<Claim> find_claims(std::string_view text, std::string_view file) {
  std::vector<Claim> claims;
  constexpr std::string_view kMark = "COVERS(\"";
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    size_t length = not_code(text, at);
    if (length == 0 && rest.starts_with(kMark) && !is_name_char(before(text, at))) {
      const std::string_view id = rest.substr(kMark.size(), rest.find('"', kMark.size()) - kMark.size());
      claims.push_back({std::string(id), std::string(file), line});
      length = kMark.size() + id.size() + 1;
    }
    const std::string_view token = rest.substr(0, std::max<size_t>(length, 1));
    line += static_cast<size_t>(std::count(token.begin(), token.end(), '\n'));
    at += token.size();
  }
  return claims;
}

void collect_ids(std::string_view xml, RecordedIds& ids) {
  constexpr std::string_view kCase = "<testcase ";
  constexpr std::string_view kProperty = "name=\"covers:";
  for (size_t at = xml.find(kCase); at != std::string_view::npos;) {
    const size_t next = xml.find(kCase, at + 1);
    const std::string_view element = xml.substr(at, next == std::string_view::npos ? next : next - at);
    at = next;
    const bool ran = element.find("result=\"completed\"") != std::string_view::npos;
    const bool failed = element.find("<failure") != std::string_view::npos;
    const bool skipped = element.find("<skipped") != std::string_view::npos;
    if (!ran || skipped) {
      continue;
    }
    std::set<std::string>& into = failed ? ids.failed : ids.passed;
    for (size_t p = element.find(kProperty); p != std::string_view::npos; p = element.find(kProperty, p + 1)) {
      const size_t start = p + kProperty.size();
      into.emplace(element.substr(start, element.find('"', start) - start));
    }
  }
}

Coverage count(const std::vector<Row>& rows, const std::vector<Claim>& claims, const RecordedIds* results) {
  std::set<std::string> known;
  for (const Row& row : rows) {
    known.insert(row.id);
  }
  Coverage coverage;
  coverage.from_results = results != nullptr;
  std::set<std::string> proved;
  for (const Claim& claim : claims) {
    if (!known.contains(claim.id)) {
      coverage.unknown.push_back(claim);
    } else if (results == nullptr || (results->passed.contains(claim.id) && !results->failed.contains(claim.id))) {
      proved.insert(claim.id);
    }
  }
  for (const Row& row : rows) {
    GroupCoverage& group = coverage.ledgers[row.ledger][row.group];
    ++group.rows;
    ++coverage.rows;
    if (proved.contains(row.id)) {
      ++group.proved;
      ++coverage.proved;
    } else {
      group.missing.push_back(row.id);
    }
  }
  return coverage;
}

}  // namespace halogen::requirements
