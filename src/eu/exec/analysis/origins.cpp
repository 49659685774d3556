#include "eu/exec/analysis/origins.h"

#include <algorithm>
#include <span>

#include "eu/exec/analysis/register_use.h"
#include "eu/exec/kernel.h"
#include "eu/exec/send.h"
#include "eu/ir/op_traits.h"
#include "eu/isa/messages.h"

namespace halogen::eu {
namespace {

constexpr size_t kMaxInstructions = 64;

// Returns whether each lane's result depends on its own elements of the named sources only. Quotients with remainders
// have a second result.
bool by_lanes(const Instruction& in) {
  const OpTraits traits = op_traits(in.op);
  return traits.lane_local && !traits.reads_accumulator && !is_macro(in) &&
         !(in.op == Op::math && in.math == MathFunction::int_divide_both);
}

// Returns whether an instruction reads and writes only the registers that it names, accumulators and flags.
bool is_analysable(const Instruction& in) {
  if (in.op == Op::sync) {
    return in.sync != SyncFunction::bar && in.sync != SyncFunction::host;
  }
  return op_traits(in.op).group == OpClass::nothing || (computes(in.op) && in.op != Op::smov && !is_macro(in));
}

bool indirect(const Instruction& in) {
  return in.dst.indirect || std::ranges::any_of(in.src, [](const Operand& each) { return each.indirect; });
}

// Returns whether writes to a destination need no tracking or are tracked. Flags and accumulators need none: as sources
// they are kOther, and predicates are excluded.
bool is_tracked(const Operand& to) {
  return to.file != File::arf || to.is_null() || to.is_arf(Arf::accumulator) || to.is_arf(Arf::flag);
}

class OriginTracker {
 public:
  explicit OriginTracker(const ThreadStarts& starts) : enabled_(starts.enabled), grf_(starts.varying.size(), kFixed) {
    for (size_t i = 0; i < grf_.size(); ++i) {
      grf_[i] = starts.varying[i] ? static_cast<Origin>(kStart + i) : kFixed;
    }
  }

  // Applies one instruction. False: the kernel cannot be analysed.
  bool follow(const Prepared& prepared);
  std::vector<SentBytes> take() { return std::move(sent_); }
  bool ended() const { return ended_; }

 private:
  std::vector<Origin>* bytes_of(ir::File file) {
    return file == ir::File::grf ? &grf_ : file == ir::File::mrf ? &mrf_ : nullptr;
  }
  void compute(const Prepared& prepared);
  void set_unknown(const Prepared& prepared);
  Origin source(const Prepared& prepared, const ir::Source& source, unsigned lane);
  bool send(const Prepared& prepared);
  bool take_registers(const Operand& from, size_t first, size_t count, std::vector<Origin>& out);

  uint32_t enabled_;
  std::vector<Origin> grf_;
  std::vector<Origin> mrf_ = std::vector<Origin>(kMrfs * kGrfBytes, kFixed);
  std::vector<SentBytes> sent_;
  size_t instructions_ = 0;
  bool ended_ = false;
};

struct Range {
  int32_t first;
  int32_t end;
};

// Finds the bytes of a lane's element in its file. False: the element is outside the file.
bool range_of(const ir::Lowered& lowered, ir::File file, const ir::Access& access, Type type, unsigned lane,
              Range& out) {
  const int16_t at = ir::lane_offset(lowered, access, lane);
  out.first = at - static_cast<int32_t>(ir::file_bytes(file).first);
  out.end = out.first + traits(type).bytes;
  return at != ir::kOutside;
}

// Returns the common origin of all bytes of a lane's element: kFixed, kChannel of its own channel, or kOther.
Origin OriginTracker::source(const Prepared& prepared, const ir::Source& source, unsigned lane) {
  if (source.file == ir::File::immediate || source.file == ir::File::none) {
    return kFixed;
  }
  if (source.file != ir::File::grf) {
    return kOther;
  }
  const auto own = static_cast<Origin>(kChannel + prepared.in.first_channel + lane);
  Range range{};
  if (!range_of(prepared.lowered, source.file, source.access, source.type, lane, range)) {
    return kFixed;
  }
  Origin all = kFixed;
  for (int32_t i = range.first; i < range.end; ++i) {
    const Origin byte = grf_[static_cast<size_t>(i)];
    if (byte == own && !prepared.in.no_mask) {
      all = std::max(all, own);
    } else if (byte != kFixed) {
      return kOther;
    }
  }
  return all;
}

// Returns whether a lane of a source overlaps another lane of the target: the bytes read may then depend on other
// channels.
bool reads_what_others_write(const ir::Lowered& lowered) {
  const ir::Target& target = lowered.target;
  if (target.file != ir::File::grf) {
    return false;
  }
  Range from{};
  Range to{};
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const ir::Source& source = lowered.source[i];
    for (unsigned reader = 0; source.file == ir::File::grf && reader < lowered.exec_size; ++reader) {
      if (!range_of(lowered, source.file, source.access, source.type, reader, from)) {
        continue;
      }
      for (unsigned writer = 0; writer < lowered.exec_size; ++writer) {
        if (writer != reader && range_of(lowered, target.file, target.access, target.type, writer, to) &&
            from.first < to.end && to.first < from.end) {
          return true;
        }
      }
    }
  }
  return false;
}

void OriginTracker::set_unknown(const Prepared& prepared) {
  const RegisterUse use = written_registers(prepared);
  for (size_t i = 0; i < grf_.size(); ++i) {
    grf_[i] = use.grfs[i / kGrfBytes] ? kOther : grf_[i];
  }
  if (use.mrfs) {
    std::ranges::fill(mrf_, kOther);
  }
}

void OriginTracker::compute(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  const ir::Lowered& lowered = prepared.lowered;
  const ir::Target& target = lowered.target;
  std::vector<Origin>* const to = bytes_of(target.file);
  if (to == nullptr) {
    return;
  }
  if (!by_lanes(in) || in.align16 || reads_what_others_write(lowered)) {
    set_unknown(prepared);
    return;
  }
  std::vector<std::pair<size_t, Origin>> written;  // applied after all sources are read
  for (unsigned lane = 0; lane < lowered.exec_size; ++lane) {
    Origin value = kFixed;
    for (unsigned i = 0; i < lowered.sources; ++i) {
      value = std::max(value, source(prepared, lowered.source[i], lane));
    }
    const bool sure = in.no_mask || (uint64_t{enabled_} >> (in.first_channel + lane) & 1) != 0;
    if (value == kFixed && !sure) {
      value = static_cast<Origin>(kChannel + in.first_channel + lane);
    }
    Range at{};
    if (!range_of(lowered, target.file, target.access, target.type, lane, at)) {
      continue;  // an element that is not wholly inside the file is not written
    }
    Range from{};
    const ir::Source& first = lowered.source[0];
    const bool copies = lowered.compute.operation == ir::Operation::copy && sure && first.file == ir::File::grf &&
                        range_of(lowered, first.file, first.access, first.type, lane, from);
    for (int32_t i = 0; i < at.end - at.first; ++i) {
      const Origin copied = copies ? grf_[static_cast<size_t>(from.first) + static_cast<size_t>(i)] : kFixed;
      written.emplace_back(static_cast<size_t>(at.first + i), copied >= kStart ? copied : value);
    }
  }
  for (const auto& [at, origin] : written) {
    (*to)[at] = origin;
  }
}

bool OriginTracker::take_registers(const Operand& from, size_t first, size_t count, std::vector<Origin>& out) {
  const std::vector<Origin>& all = from.file == File::mrf ? mrf_ : grf_;
  if ((first + count) * kGrfBytes > all.size()) {
    return false;
  }
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first * kGrfBytes);
  out.insert(out.end(), begin, begin + static_cast<ptrdiff_t>(count * kGrfBytes));
  return true;
}

bool OriginTracker::send(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  const SendInfo& info = in.send;
  if (info.descriptor_in_register || info.extended_in_register || in.align16 ||
      DescriptorBits::kResponseLength.of(info.descriptor) != 0) {
    return false;
  }
  Operand from = in.src[0];
  size_t first = from.file == File::mrf ? from.reg & 0x7fu : from.reg;
  if (prepared.sends_message_registers) {
    if (prepared.implied_move != nullptr) {
      compute(*prepared.implied_move);
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

bool OriginTracker::follow(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  ++instructions_;
  if (in.breakpoint || in.predicate != Predicate::none || indirect(in)) {
    return false;
  }
  if (is_send(in.op)) {
    return send(prepared);
  }
  if (!is_analysable(in) || !is_tracked(in.dst)) {
    return false;
  }
  compute(prepared);
  return true;
}

}  // namespace

std::optional<std::vector<SentBytes>> origins_of_messages(const Kernel& any_kernel, const ThreadStarts& starts) {
  const auto* const kernel = dynamic_cast<const PreparedKernel*>(&any_kernel);
  if (kernel == nullptr || kernel->list().empty() || kernel->list().size() > kMaxInstructions) {
    return std::nullopt;
  }
  OriginTracker tracker(starts);
  uint32_t next = kernel->entry();
  for (const Prepared& prepared : kernel->list()) {
    if (prepared.offset != next || tracker.ended() || !tracker.follow(prepared)) {
      return std::nullopt;
    }
    next = prepared.offset + prepared.in.size;
  }
  return tracker.ended() ? std::optional(tracker.take()) : std::nullopt;
}

}  // namespace halogen::eu
