#include "debugger/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "base/graphics_address.h"

namespace halogen::debugger {
namespace {

constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kOffsets = std::numeric_limits<uint32_t>::max();

// The kind of an argument.
enum class Word : uint8_t { address, count, region };

struct Row {
  std::string_view name;
  std::string_view brief;
  Verb verb;
  std::array<Word, 2> words;
  size_t least;  // minimum number of arguments
  size_t most;
  uint64_t last_address;
  uint64_t most_count;
  std::string_view usage;
  std::string_view text;
};

constexpr Row kRows[] = {
    {"step", "s", Verb::step, {Word::count}, 0, 1, 0, kAny, "step [N]", "execute one instruction, or N"},
    {"continue",
     "c",
     Verb::go_on,
     {},
     0,
     0,
     0,
     0,
     "continue",
     "run until a breakpoint, a watch or the end of the thread"},
    {"break",
     "b",
     Verb::break_at,
     {Word::address},
     1,
     1,
     kOffsets,
     0,
     "break ADDR",
     "stop before the instruction at ADDR (in units of ip)"},
    {"delete",
     "d",
     Verb::delete_at,
     {Word::address},
     1,
     1,
     kAny,
     0,
     "delete ADDR",
     "delete the breakpoint or the watch at ADDR"},
    {"watch",
     "",
     Verb::watch,
     {Word::address, Word::count},
     2,
     2,
     kAny,
     kMaxWatched,
     "watch ADDR LEN",
     "stop when one of LEN bytes of memory has changed"},
    {"regs",
     "",
     Verb::regs,
     {Word::region, Word::count},
     1,
     2,
     0,
     eu::kGrfs,
     "regs REG [N]",
     "print N whole registers as dwords"},
    {"reg",
     "r",
     Verb::reg,
     {Word::region, Word::count},
     1,
     2,
     0,
     1024,
     "reg REGION [N]",
     "print N elements of a region, for example r10.2<8;8,1>:f"},
    {"arf", "", Verb::arf, {}, 0, 0, 0, 0, "arf", "print the architecture registers"},
    {"payload",
     "p",
     Verb::payload,
     {},
     0,
     0,
     0,
     0,
     "payload",
     "print the fields of r0, and of the header that the next instruction sends"},
    {"masks", "m", Verb::masks, {}, 0, 0, 0, 0, "masks", "print which channels run, and where the others wait"},
    {"list",
     "l",
     Verb::list,
     {Word::address, Word::count},
     0,
     2,
     kOffsets,
     kMaxListed,
     "list [ADDR] [N]",
     "print the instructions around ip, or N from ADDR on"},
    {"memory",
     "x",
     Verb::memory,
     {Word::address, Word::count},
     2,
     2,
     kAny,
     kMaxMemory,
     "memory ADDR LEN",
     "print bytes at an address of the dispatch's address space"},
    {"where", "w", Verb::where, {}, 0, 0, 0, 0, "where", "print the position, the breakpoints and the watches"},
    {"quit", "q", Verb::quit, {}, 0, 0, 0, 0, "quit", "quit; the end of the input does the same"},
    {"help", "h", Verb::help, {}, 0, 0, 0, 0, "help", "print this list"},
};

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

Result<uint64_t> number_of(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (status != std::errc{} || end != digits.data() + digits.size()) {
    return Error{fmt::format("\"{}\" is not a number.", text)};
  }
  return value;
}

Result<void> put_number(const Row& row, Word kind, std::string_view word, Command& out) {
  const Result<uint64_t> value = number_of(word);
  if (!value) {
    return value.error();
  }
  if (kind == Word::count) {
    if (*value == 0 || *value > row.most_count) {
      return Error{fmt::format("{} is out of range; {} takes 1 to {}.", word, row.name, row.most_count)};
    }
    out.count = *value;
    return {};
  }
  if (*value > row.last_address || (row.last_address == kAny && !is_graphics_address(*value))) {
    return Error{fmt::format("{} is out of range; {} addresses have {} bits.", word,
                             row.last_address == kAny ? "graphics" : "instruction",
                             row.last_address == kAny ? kGraphicsAddressBits : 32)};
  }
  out.address = row.last_address == kAny ? plain_address(*value) : *value;
  return {};
}

}  // namespace

Result<Command> parse_command(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty() || words[0].front() == '#') {
    return Command{};
  }
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& each) { return each.name == words[0] || (!each.brief.empty() && each.brief == words[0]); });
  if (row == std::end(kRows)) {
    return Error{fmt::format("unknown command \"{}\"; help lists all commands.", words[0])};
  }
  if (words.size() - 1 < row->least || words.size() - 1 > row->most) {
    return Error{fmt::format("usage: {}.", row->usage)};
  }
  Command out{.verb = row->verb};
  for (size_t i = 1; i < words.size(); ++i) {
    if (row->words[i - 1] == Word::region) {
      const Result<RegisterRegion> region = parse_region(words[i]);
      if (!region) {
        return region.error();
      }
      out.region = *region;
    } else if (const Result<void> done = put_number(*row, row->words[i - 1], words[i], out); !done) {
      return done.error();
    }
  }
  return out;
}

std::string help_text() {
  std::string out;
  for (const Row& row : kRows) {
    const std::string brief = row.brief.empty() ? std::string() : fmt::format(" ({})", row.brief);
    out += fmt::format("{:<20} {}{}\n", row.usage, row.text, brief);
  }
  return out;
}

}  // namespace halogen::debugger
