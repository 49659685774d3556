#include "eu/exec/analysis/origins.h"

#include <algorithm>
#include <span>

#include "eu/exec/analysis/register_use.h"
#include "eu/exec/general/operands.h"
#include "eu/exec/kernel.h"
#include "eu/exec/send.h"
#include "eu/ir/op_traits.h"
#include "eu/isa/messages.h"

namespace halogen::eu {
namespace {

constexpr size_t kMostInstructions = 64;

// Returns whether each lane's result depends on its own elements of the named sources only. Quotients with remainders
// have a second result.
bool by_lanes(const Instruction& in) {
  const OpTraits traits = op_traits(in.op);
  return traits.lane_local && !traits.reads_accumulator && !is_macro(in) &&
         !(in.op == Op::math && in.math == MathFunction::int_divide_both);
}

// Returns whether an instruction reads and writes nothing but the registers that it names, accumulators and flags.
bool goes_on(const Instruction& in) {
  if (in.op == Op::sync) {
    return in.sync != SyncFunction::bar && in.sync != SyncFunction::host;
  }
  return op_traits(in.op).group == OpClass::nothing || (computes(in.op) && in.op != Op::smov && !is_macro(in));
}

bool indirect(const Instruction& in) {
  return in.dst.indirect || std::ranges::any_of(in.src, [](const Operand& each) { return each.indirect; });
}

// Flags and accumulators are never read, or read as kOther.
bool keeps_to_registers(const Operand& to) {
  return to.file != File::arf || to.is_null() || to.is_arf(Arf::accumulator) || to.is_arf(Arf::flag);
}

class Follower {
 public:
  Follower(const EuRules& rules, const ThreadStarts& starts)
      : rules_(rules), enabled_(starts.enabled), grf_(starts.varying.size(), kFixed) {
    for (size_t i = 0; i < grf_.size(); ++i) {
      grf_[i] = starts.varying[i] ? static_cast<Origin>(kStart + i) : kFixed;
    }
  }

  // False: no answer.
  bool follow(const Prepared& prepared);
  std::vector<SentBytes> take() { return std::move(sent_); }
  bool ended() const { return ended_; }

 private:
  std::vector<Origin>* file(const Operand& operand) {
    return operand.file == File::grf ? &grf_ : operand.file == File::mrf ? &mrf_ : nullptr;
  }
  static Storage storage_of(const Operand& operand) {
    Storage storage;
    const int32_t reg = operand.file == File::mrf ? operand.reg & 0x7f : operand.reg;
    storage.base = reg * static_cast<int32_t>(kGrfBytes) + operand.sub;
    return storage;
  }
  void compute(const Prepared& prepared);
  void spoil(const Instruction& in);
  Origin source(const Prepared& prepared, const Operand& operand, unsigned lane);
  bool reads_what_others_write(const Prepared& prepared);
  bool send(const Prepared& prepared);
  bool take_registers(const Operand& from, size_t first, size_t count, std::vector<Origin>& out);

  const EuRules& rules_;
  uint32_t enabled_;
  const Thread none_{};
  std::vector<Origin> grf_;
  std::vector<Origin> mrf_ = std::vector<Origin>(kMrfs * kGrfBytes, kFixed);
  std::vector<SentBytes> sent_;
  size_t instructions_ = 0;
  bool ended_ = false;
};

// Of all bytes of an element, as its lane sees them: kFixed, kChannel of its own channel, or kOther.
Origin Follower::source(const Prepared& prepared, const Operand& operand, unsigned lane) {
  if (operand.file == File::immediate || operand.is_null()) {
    return kFixed;
  }
  if (operand.file != File::grf) {
    return kOther;
  }
  const auto own = static_cast<Origin>(kChannel + prepared.in.first_channel + lane);
  const int32_t at = element_offset(none_, prepared, operand, storage_of(operand), lane, false);
  Origin all = kFixed;
  for (int32_t i = at; i < at + static_cast<int32_t>(traits(operand.type).bytes); ++i) {
    const Origin byte = i >= 0 && static_cast<size_t>(i) < grf_.size() ? grf_[static_cast<size_t>(i)] : kFixed;
    if (byte == own && !prepared.in.no_mask) {
      all = std::max(all, own);
    } else if (byte != kFixed) {
      return kOther;
    }
  }
  return all;
}

// A lane of the source lies where another one of the destination does: what is read may depend on channels.
bool Follower::reads_what_others_write(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  const auto range = [&](const Operand& operand, unsigned lane, bool is_destination) {
    const int32_t at = element_offset(none_, prepared, operand, storage_of(operand), lane, is_destination);
    return std::pair(at, at + static_cast<int32_t>(traits(operand.type).bytes));
  };
  if (in.dst.file != File::grf) {
    return false;
  }
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    for (unsigned reader = 0; in.src[i].file == File::grf && reader < in.exec_size; ++reader) {
      const auto [first, end] = range(in.src[i], reader, false);
      for (unsigned writer = 0; writer < in.exec_size; ++writer) {
        const auto [to, to_end] = range(in.dst, writer, true);
        if (writer != reader && first < to_end && to < end) {
          return true;
        }
      }
    }
  }
  return false;
}

void Follower::spoil(const Instruction& in) {
  const RegisterUse use = written_registers(in, rules_);
  for (size_t i = 0; i < grf_.size(); ++i) {
    grf_[i] = use.grfs[i / kGrfBytes] ? kOther : grf_[i];
  }
  if (use.mrfs) {
    std::ranges::fill(mrf_, kOther);
  }
}

void Follower::compute(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  std::vector<Origin>* const to = file(in.dst);
  if (to == nullptr) {
    return;
  }
  if (!by_lanes(in) || in.align16 || reads_what_others_write(prepared)) {
    spoil(in);
    return;
  }
  const size_t size = traits(in.dst.type).bytes;
  const Storage storage = storage_of(in.dst);
  std::vector<std::pair<size_t, Origin>> written;  // all is read before any is written
  for (unsigned lane = 0; lane < in.exec_size; ++lane) {
    Origin value = kFixed;
    for (unsigned i = 0; i < prepared.source_count; ++i) {
      value = std::max(value, source(prepared, in.src[i], lane));
    }
    const bool sure = in.no_mask || (uint64_t{enabled_} >> (in.first_channel + lane) & 1) != 0;
    if (value == kFixed && !sure) {
      value = static_cast<Origin>(kChannel + in.first_channel + lane);
    }
    const int32_t at = element_offset(none_, prepared, in.dst, storage, lane, true);
    if (at < 0 || static_cast<size_t>(at) + size > to->size()) {
      continue;  // nothing is written beyond the file, nor half of it
    }
    const int32_t from = prepared.raw_move && sure && in.src[0].file == File::grf
                             ? element_offset(none_, prepared, in.src[0], storage_of(in.src[0]), lane, false)
                             : -1;
    for (size_t i = 0; i < size; ++i) {
      const auto copied = static_cast<size_t>(from) + i;
      written.emplace_back(static_cast<size_t>(at) + i,
                           from >= 0 && copied < grf_.size() && grf_[copied] >= kStart ? grf_[copied] : value);
    }
  }
  for (const auto& [at, origin] : written) {
    (*to)[at] = origin;
  }
}

bool Follower::take_registers(const Operand& from, size_t first, size_t count, std::vector<Origin>& out) {
  const std::vector<Origin>& all = from.file == File::mrf ? mrf_ : grf_;
  if ((first + count) * kGrfBytes > all.size()) {
    return false;
  }
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first * kGrfBytes);
  out.insert(out.end(), begin, begin + static_cast<ptrdiff_t>(count * kGrfBytes));
  return true;
}

bool Follower::send(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  const SendInfo& info = in.send;
  if (info.descriptor_in_register || info.extended_in_register || in.align16 ||
      DescriptorBits::kResponseLength.of(info.descriptor) != 0) {
    return false;
  }
  Operand from = in.src[0];
  size_t first = from.file == File::mrf ? from.reg & 0x7fu : from.reg;
  if (rules_.implied_move) {
    if (!in.src[0].is_null()) {
      compute(implied_move_of(prepared));
    }
    from.file = File::mrf;
    first = info.message_register;
  }
  SentBytes& sent = sent_.emplace_back();
  sent.instructions = instructions_;
  sent.always = info.end_of_thread || in.no_mask;
  ended_ = info.end_of_thread;
  if (!from.is_null() && !take_registers(from, first, DescriptorBits::kMessageLength.of(info.descriptor), sent.bytes)) {
    return false;
  }
  return in.sources < 2 || in.src[1].file != File::grf ||
         take_registers(in.src[1], in.src[1].reg, ExtendedBits::kSecondLength.of(info.extended), sent.bytes);
}

bool Follower::follow(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  ++instructions_;
  if (in.breakpoint || in.predicate != Predicate::none || indirect(in)) {
    return false;
  }
  if (is_send(in.op)) {
    return send(prepared);
  }
  if (!goes_on(in) || !keeps_to_registers(in.dst)) {
    return false;
  }
  compute(prepared);
  return true;
}

}  // namespace

std::optional<std::vector<SentBytes>> origins_of_messages(const Kernel& kernel, spec::GenId gen,
                                                          const ThreadStarts& starts) {
  if (kernel.instruction_count() == 0 || kernel.instruction_count() > kMostInstructions) {
    return std::nullopt;
  }
  const EuRules& rules = eu_rules(gen);
  Follower follower(rules, starts);
  uint32_t next = kernel.entry();
  bool answered = true;
  kernel.visit([&](uint32_t offset, const Instruction& in) {
    answered = answered && offset == next && !follower.ended() &&
               follower.follow(prepare_instruction(in, offset, rules, nullptr, true));
    next = offset + in.size;
  });
  return answered && follower.ended() ? std::optional(follower.take()) : std::nullopt;
}

}  // namespace halogen::eu
