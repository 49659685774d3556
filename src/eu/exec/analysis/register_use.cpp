#include "eu/exec/analysis/register_use.h"

#include <cstring>
#include <utility>

#include "eu/exec/prepared.h"
#include "eu/ir/op_traits.h"
#include "eu/isa/messages.h"

namespace halogen::eu {

namespace {

// Returns the register after the last general register that the instruction writes.
size_t end_of(const Instruction& in) {
  const Operand& to = in.dst;
  if (is_send(in.op)) {
    return in.send.descriptor_in_register ? kGrfs
                                          : to.reg + DescriptorBits::kResponseLength.of(in.send.descriptor) + size_t{1};
  }
  const size_t stride = in.align16 || to.region.horizontal == 0 ? 1 : to.region.horizontal;
  const size_t bytes = to.sub + stride * traits(to.type).bytes * std::max<size_t>(in.exec_size, 2);
  // Remainders go to the register after the quotients.
  const size_t more = in.op == Op::math && in.math == MathFunction::int_divide_both ? 1 : 0;
  return to.reg + (bytes + kGrfBytes - 1) / kGrfBytes + more;
}

// Clears memory in pieces of 64 bytes, because compilers turn larger pieces into string stores, which are slow to
// begin.
template <size_t Bytes>
void zero_bytes(std::byte* at) {
  constexpr size_t kPiece = 64;
  constexpr size_t kPieces = Bytes / kPiece;
  [&]<size_t... Piece>(std::index_sequence<Piece...>) {
    (std::memset(at + Piece * kPiece, 0, kPiece), ...);
  }
  (std::make_index_sequence<kPieces>());
  std::memset(at + kPieces * kPiece, 0, Bytes % kPiece);
}
template <class T>
void zero(T& what) {
  zero_bytes<sizeof(T)>(reinterpret_cast<std::byte*>(&what));
}

// Clears eight registers at once. Registers that are not used hold zeros already.
void clear_registers(Thread& thread, const std::bitset<kGrfs>& which) {
  constexpr size_t kWord = 64;
  constexpr size_t kTogether = 8;
  static const std::bitset<kGrfs> low(~uint64_t{0});
  std::byte* at = thread.grf.data();
  for (const uint64_t word : {(which & low).to_ullong(), (which >> kWord).to_ullong()}) {
    uint64_t rest = word;
    for (size_t i = 0; i < kWord; i += kTogether, rest >>= kTogether, at += kTogether * kGrfBytes) {
      if ((rest & 0xff) != 0) {
        zero_bytes<kTogether * kGrfBytes>(at);
      }
    }
  }
}

}  // namespace

RegisterUse written_registers(const Prepared& prepared) {
  RegisterUse use;
  const Instruction& in = prepared.in;
  const ir::Lowered& lowered = prepared.lowered;
  const Operand& to = in.dst;
  use.mrfs = to.file == File::mrf || prepared.implied_move != nullptr;
  use.accumulators = lowered.accumulator.kind != ir::AccumulatorEffect::Kind::none ||
                     lowered.target.file == ir::File::accumulator || is_macro(in);
  if (to.indirect) {
    use.grfs.set();
  } else if (to.file == File::grf) {
    use.cover_grfs(to.reg, end_of(in));
  }
  return use;
}

void reset(Thread& thread, const RegisterUse& used) {
  const RegisterUse use = thread.ran_unprepared ? RegisterUse::all() : used;
  clear_registers(thread, use.grfs);
  if (use.mrfs) {
    zero(thread.mrf);
  }
  if (use.accumulators) {
    zero(thread.accumulator);
    thread.extension.fill({});
    zero(thread.macro);
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
  zero(thread.masks);
  thread.status = ThreadStatus::running;
  thread.ran_unprepared = false;
  thread.group = 0;
  thread.number = 0;
  thread.instructions = 0;
}

}  // namespace halogen::eu
