// The debugger: any command lines over a dispatch that the input makes. Also checked: a session does not change the
// dispatch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "debugger/command.h"
#include "debugger/session.h"
#include "fuzz/compute_target.h"

namespace halogen::fuzz {

// Lines from input bytes: mostly words of the command language with numbers, sometimes the bytes themselves.
class DebuggerScript {
 public:
  explicit DebuggerScript(std::span<const uint8_t> bytes) : in_(bytes) {}

  std::optional<std::string> next() {
    if (in_.empty() || lines_++ == kMaxLines) return std::nullopt;
    const auto how = in_.take<uint8_t>();
    if (how >= 0xe0) return text(in_.take<uint8_t>() % 80);
    constexpr std::array<std::string_view, 16> kVerbs{"step", "step",  "continue", "break",   "delete", "watch",
                                                      "regs", "reg",   "arf",      "payload", "masks",  "list",
                                                      "mem",  "where", "help",     "quit"};
    // Ending early is rare.
    const size_t verb = how % kVerbs.size();
    if (verb == 15 && how < 0xc0) return "step";
    std::string line(kVerbs[verb]);
    const auto arguments = in_.take<uint8_t>();
    for (unsigned i = 0; i < arguments % 3u; ++i) line += " " + argument();
    return line;
  }

 private:
  static constexpr unsigned kMaxLines = 64;

  std::string text(size_t count) {
    std::string line(count, ' ');
    in_.take_to(std::as_writable_bytes(std::span(line)));
    std::erase(line, '\n');
    return line;
  }
  std::string argument() {
    const auto how = in_.take<uint8_t>();
    if (how < 0x60) return std::to_string(how);
    if (how < 0xa0) return "0x" + hex(scene::kPixelKernel + (how & 0x3fu) * 16);
    if (how < 0xc0) return "0x" + hex(in_.take<uint32_t>());
    if (how < 0xe0) return "r" + std::to_string(in_.take<uint8_t>()) + "." + std::to_string(how & 15) + "<8;8,1>:ud";
    if (how < 0xf0) return "0x" + hex(in_.take<uint64_t>());
    return text(how & 15);
  }
  static std::string hex(uint64_t value) {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(value));
    return digits;
  }

  Input in_;
  unsigned lines_ = 0;
};

// Input: chip, thread and group, format of answers, length of the script / 4, the script, then the dispatch.
inline void debugger(std::span<const uint8_t> data) {
  if (data.size() < 6) return;
  for (size_t at = 0; at + 1 < data.size(); at += 64) {
    const auto piece = data.subspan(at, std::min<size_t>(64, data.size() - at));
    static_cast<void>(halogen::debugger::parse_command({reinterpret_cast<const char*>(piece.data()), piece.size()}));
  }
  DispatchWorld& world = dispatch_world(data[0]);
  const size_t script = std::min<size_t>(size_t{data[3]} * 4, data.size() - 4);
  if (!world.build(data.subspan(4 + script))) return;
  const DispatchResult plain = world.run(nullptr);
  DebuggerScript lines(data.subspan(4, script));
  uint64_t bytes = 0;
  halogen::debugger::Target target;
  target.thread = data[1] & 7;
  if ((data[1] & 0x80) != 0) target.group = std::array<uint32_t, 3>{data[2] & 7u, data[2] >> 3 & 3u, 0};
  halogen::debugger::Console console;
  console.json = (data[1] & 0x40) != 0;
  console.next_line = [&lines] { return lines.next(); };
  console.put = [&bytes](std::string_view answer) { bytes += answer.size(); };
  halogen::debugger::Session session(target, console,
                                     [&world](const memory::WalkContext&, uint64_t address, std::span<std::byte> into) {
                                       return world.read(address, into);
                                     });
  const DispatchResult watched = world.run(nullptr, &session);
  session.finish(bytes);
  expect_same(plain, watched, "debugger");
}

}  // namespace halogen::fuzz
