#include "debugger/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "debugger/payload_view.h"

namespace halogen::debugger {
namespace {

constexpr unsigned kListed = 10;

std::string_view name_of(eu::ThreadStatus status) {
  switch (status) {
    case eu::ThreadStatus::running:
      return "running";
    case eu::ThreadStatus::blocked:
      return "waiting";
    case eu::ThreadStatus::ended:
      return "ended";
    case eu::ThreadStatus::faulted:
      return "faulted";
    case eu::ThreadStatus::illegal:
      return "illegal";
  }
  return {};
}

}  // namespace

void Session::on_dispatch(const compute::Job& job) {
  ++dispatches_;
  if (over_ || begun_ || dispatches_ != target_.dispatch) {
    return;
  }
  const std::array<uint32_t, 3> group = target_.group.value_or(job.first);
  for (size_t axis = 0; axis < group.size(); ++axis) {
    if (group[axis] >= job.end[axis]) {
      failure_ = fmt::format("dispatch {} has no group {},{},{}; its groups end before {},{},{}.", dispatches_,
                             group[0], group[1], group[2], job.end[0], job.end[1], job.end[2]);
    }
  }
  if (failure_.empty() && target_.thread >= job.group_threads()) {
    failure_ = fmt::format("dispatch {} has no thread {}; a group has {}, counted from 0.", dispatches_, target_.thread,
                           job.group_threads());
  }
  over_ = !failure_.empty();
}

std::optional<uint32_t> Session::on_group(const std::array<uint32_t, 3>& group) {
  if (over_ || begun_ || dispatches_ != target_.dispatch || (target_.group && *target_.group != group)) {
    return std::nullopt;
  }
  begun_ = true;
  group_ = group;
  return target_.thread;
}

std::optional<Session::Change> Session::changed(const compute::Moment& moment) {
  std::optional<Change> first;
  for (Watch& watch : watches_) {
    std::vector<std::byte> now(watch.bytes.size());
    read_(moment.tables, wrapped_address(watch.address).value, now);
    if (now != watch.bytes) {
      if (!first) {
        first = Change{watch.address, watch.bytes, now};
      }
      watch.bytes = std::move(now);
    }
  }
  return first;
}

void Session::before_instruction(const compute::Moment& moment) {
  const uint64_t now = moment.thread.instructions;
  if (over_ || seen_ == now) {
    return;  // the instruction waited and is retried now
  }
  seen_ = now;
  if (!stopped_once_) {
    stopped_once_ = true;
    stop("start", moment);
    return;
  }
  const bool stepped = steps_left_ != 0 && --steps_left_ == 0;
  if (const std::optional<Change> change = changed(moment)) {
    stop("watch", moment, &*change);
  } else if (breaks_.contains(moment.thread.ip)) {
    stop("break", moment);
  } else if (stepped) {
    stop("step", moment);
  }
}

void Session::on_end(const compute::Moment& moment) {
  if (over_) {
    return;
  }
  ended_ = true;
  const std::optional<Change> change = changed(moment);
  stop(name_of(moment.thread.status), moment, change ? &*change : nullptr);
}

Answer Session::place(std::string_view why, const compute::Moment& moment, const Change* change) const {
  const eu::Thread& thread = moment.thread;
  const std::string code = instruction_text(moment, thread.ip, read_);
  Answer out;
  out.text = fmt::format("{}: dispatch {} group {},{},{} thread {} after {} instructions, {}\n", why, target_.dispatch,
                         group_[0], group_[1], group_[2], thread.number, thread.instructions, name_of(thread.status));
  out.json = fmt::format(
      "{{\"stop\":\"{}\",\"dispatch\":{},\"group\":[{},{},{}],\"thread\":{},\"ip\":{},\"base\":{},\"text\":{},"
      "\"instructions\":{},\"status\":\"{}\"",
      why, target_.dispatch, group_[0], group_[1], group_[2], thread.number, thread.ip, moment.job.bases.instruction,
      json_quote(code), thread.instructions, name_of(thread.status));
  if (change != nullptr) {
    out.text += fmt::format("memory {:#x}: {} became {}\n", change->address, hex_bytes(change->before),
                            hex_bytes(change->after));
    out.json += fmt::format(",\"watch\":{{\"address\":{},\"before\":\"{}\",\"after\":\"{}\"}}", change->address,
                            hex_bytes(change->before), hex_bytes(change->after));
  }
  out.text += fmt::format("> {:#06x}  {}\n", thread.ip, code);
  out.json += "}";
  return out;
}

// Executes commands until the thread may continue.
void Session::stop(std::string_view why, const compute::Moment& moment, const Change* change) {
  steps_left_ = 0;
  put(place(why, moment, change));
  for (;;) {
    const std::optional<std::string> line = console_.next_line();
    if (!line) {
      over_ = true;
      return;
    }
    const Result<Command> command = parse_command(*line);
    if (command && command->verb == Verb::none) {
      continue;
    }
    if (command && command->verb == Verb::quit) {
      put({"", R"({"quit":true})"});
      over_ = true;
      return;
    }
    if (command && (command->verb == Verb::step || command->verb == Verb::go_on)) {
      steps_left_ = command->verb == Verb::step ? command->count.value_or(1) : 0;
      return;
    }
    const Result<Answer> said = command ? answer(*command, moment) : Result<Answer>(command.error());
    errors_ += said ? 0u : 1u;
    put(said ? *said : error_answer(said.message()));
  }
}

Result<Answer> Session::answer(const Command& command, const compute::Moment& moment) {
  const auto count = static_cast<unsigned>(command.count.value_or(0));
  const uint64_t address = command.address.value_or(0);
  switch (command.verb) {
    case Verb::break_at:
      if (breaks_.size() >= kMaxStops) {
        return Error{"too many breakpoints; delete one first."};
      }
      breaks_.insert(static_cast<uint32_t>(address));
      return Answer{fmt::format("break at {:#x}\n", address), fmt::format("{{\"break\":{}}}", address)};
    case Verb::delete_at:
      return remove(address);
    case Verb::watch:
      return add_watch(command, moment);
    case Verb::regs:
      return show_registers(moment.thread, *command.region, std::max(count, 1u));
    case Verb::reg:
      return show_region(moment.thread, *command.region, count != 0 ? count : moment.job.simd);
    case Verb::arf:
      return show_arf(moment.thread);
    case Verb::payload:
      return show_payload(moment, instruction_at(moment, moment.thread.ip, read_));
    case Verb::masks:
      return show_masks(moment.thread);
    case Verb::list: {
      const auto from = command.address ? std::optional(static_cast<uint32_t>(address)) : std::nullopt;
      return show_code(moment, from, count != 0 ? count : kListed, breaks_, read_);
    }
    case Verb::memory: {
      std::vector<std::byte> bytes(count);
      const bool mapped = read_(moment.tables, wrapped_address(address).value, bytes);
      return show_memory(address, bytes, mapped);
    }
    case Verb::where: {
      Answer out = place("where", moment, nullptr);
      std::vector<uint64_t> watched;
      for (const Watch& watch : watches_) {
        watched.push_back(watch.address);
        out.text += fmt::format("watch {:#x} {}\n", watch.address, watch.bytes.size());
      }
      for (const uint32_t at : breaks_) {
        out.text += fmt::format("break {:#x}\n", at);
      }
      out.json.pop_back();
      out.json += fmt::format(",\"breaks\":[{}],\"watches\":[{}]}}", fmt::join(breaks_, ","), fmt::join(watched, ","));
      return out;
    }
    case Verb::help:
      return Answer{help_text(), fmt::format("{{\"help\":{}}}", json_quote(help_text()))};
    case Verb::none:
    case Verb::step:
    case Verb::go_on:
    case Verb::quit:
      break;
  }
  return Answer{};
}

Result<Answer> Session::add_watch(const Command& command, const compute::Moment& moment) {
  if (watches_.size() >= kMaxStops) {
    return Error{"too many watches; delete one first."};
  }
  Watch watch{*command.address, std::vector<std::byte>(*command.count)};
  if (!read_(moment.tables, wrapped_address(watch.address).value, watch.bytes)) {
    return Error{fmt::format("{:#x}: not all of the {} bytes are mapped.", *command.address, *command.count)};
  }
  std::erase_if(watches_, [&](const Watch& old) { return old.address == watch.address; });
  watches_.push_back(watch);
  return Answer{
      fmt::format("watch {:#x} {}: {}\n", watch.address, watch.bytes.size(), hex_bytes(watch.bytes)),
      fmt::format("{{\"watch\":{{\"address\":{},\"bytes\":\"{}\"}}}}", watch.address, hex_bytes(watch.bytes))};
}

Result<Answer> Session::remove(uint64_t address) {
  const bool stopped = address <= UINT32_MAX && breaks_.erase(static_cast<uint32_t>(address)) != 0;
  const bool watched = std::erase_if(watches_, [&](const Watch& watch) { return watch.address == address; }) != 0;
  if (!stopped && !watched) {
    return Error{fmt::format("there is no breakpoint or watch at {:#x}.", address)};
  }
  return Answer{fmt::format("deleted {:#x}\n", address), fmt::format("{{\"delete\":{}}}", address)};
}

void Session::finish(uint64_t memory_hash) {
  const std::string_view how = ended_ ? "" : "; the thread never ended";
  put({fmt::format("the trace has ended{}: memory={:#018x}\n", how, memory_hash),
       fmt::format("{{\"stop\":\"finished\",\"ended\":{},\"memory\":\"{:#018x}\"}}", ended_, memory_hash)});
}

}  // namespace halogen::debugger
