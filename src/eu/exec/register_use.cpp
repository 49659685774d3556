#include "eu/exec/register_use.h"

#include <bit>
#include <cstring>

#include "eu/exec/number.h"
#include "eu/isa/messages.h"

namespace halogen::eu {

namespace {

bool is_send(Op op) {
  return op == Op::send || op == Op::sendc || op == Op::sends || op == Op::sendsc;
}

// First register behind what goes to general registers.
size_t end_of(const Instruction& in) {
  const Operand& to = in.dst;
  if (is_send(in.op)) {
    return in.send.descriptor_in_register ? kGrfs
                                          : to.reg + DescriptorBits::kResponseLength.of(in.send.descriptor) + size_t{1};
  }
  const size_t stride = in.align16 || to.region.horizontal == 0 ? 1 : to.region.horizontal;
  const size_t bytes = to.sub + stride * traits(to.type).bytes * std::max<size_t>(in.exec_size, 2);
  // Remainders go to the register behind quotients.
  const size_t more = in.op == Op::math && in.math == MathFunction::int_divide_both ? 1 : 0;
  return to.reg + (bytes + kGrfBytes - 1) / kGrfBytes + more;
}

// Registers that follow each other at once.
void clear_registers(Thread& thread, const std::bitset<kGrfs>& which) {
  constexpr size_t kWord = 64;
  for (size_t base = 0; base < kGrfs; base += kWord) {
    uint64_t rest = (which >> base & std::bitset<kGrfs>(~uint64_t{0})).to_ullong();
    for (size_t first = base; rest != 0;) {
      const auto gap = static_cast<size_t>(std::countr_zero(rest));
      rest >>= gap;
      first += gap;
      const auto count = static_cast<size_t>(std::countr_one(rest));
      std::memset(thread.grf.data() + first * kGrfBytes, 0, count * kGrfBytes);
      rest = count < kWord ? rest >> count : 0;
      first += count;
    }
  }
}

bool is_macro(const Instruction& in) {
  return in.op == Op::madm ||
         (in.op == Op::math && (in.math == MathFunction::inverse_macro || in.math == MathFunction::rsqrt_macro));
}

}  // namespace

RegisterUse written_registers(const Instruction& in, const EuRules& rules) {
  RegisterUse use;
  const Operand& to = in.dst;
  use.mrfs = to.file == File::mrf || (rules.implied_move && is_send(in.op));
  use.accumulators = rules.implicit_accumulator_write || in.accumulator_write || to.is_arf(Arf::accumulator) ||
                     in.op == Op::addc || in.op == Op::subb || in.op == Op::mach || is_macro(in);
  if (to.indirect) {
    use.grfs.set();
  } else if (to.file == File::grf) {
    use.cover_grfs(to.reg, end_of(in));
  }
  return use;
}

void reset(Thread& thread, const RegisterUse& used) {
  const RegisterUse use = thread.strayed ? RegisterUse::all() : used;
  if (use.grfs.all()) {
    thread.grf.fill({});
  } else {
    clear_registers(thread, use.grfs);
  }
  if (use.mrfs) {
    thread.mrf.fill({});
  }
  if (use.accumulators) {
    thread.accumulator.fill({});
    thread.extension.fill({});
    thread.macro.fill({});
  }
  thread.address.fill(0);
  thread.flag.fill(0);
  thread.state.fill(0);
  thread.control.fill(0);
  thread.notification.fill(0);
  thread.dependency.fill(0);
  thread.stack_pointer.fill(0);
  thread.message_control.fill(0);
  thread.debug.fill(0);
  thread.ip = 0;
  thread.sip = kNoIp;
  thread.dispatch_mask = 0;
  thread.active = 0;
  thread.join_ip = kNoIp;
  thread.channel_ip.fill(0);
  thread.call_depth.fill(0);
  thread.masks = {};
  thread.status = ThreadStatus::running;
  thread.strayed = false;
  thread.group = 0;
  thread.number = 0;
  thread.instructions = 0;
}

}  // namespace halogen::eu
