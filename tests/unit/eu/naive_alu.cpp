#include "unit/eu/naive_alu.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/eu/naive_numbers.h"

namespace halogen::eu::test {

namespace {

// One row for each operation of this evaluator, as the instruction pages of the manuals list it under "Source Modifier"
// (Broadwell PRM vol. 2a; DP4A: Tiger Lake PRM vol. 2a). Independent of spec/eu, which this evaluator checks.
struct ManualRow {
  Op op;
  bool source_modifiers;
};
constexpr ManualRow kManual[]{
    {Op::mov, true},   {Op::add, true},   {Op::mul, true},    {Op::not_, true},  {Op::and_, true}, {Op::or_, true},
    {Op::xor_, true},  {Op::shl, true},   {Op::shr, true},    {Op::asr, true},   {Op::cmp, true},  {Op::cmpn, true},
    {Op::sel, true},   {Op::avg, true},   {Op::frc, true},    {Op::rndd, true},  {Op::rndu, true}, {Op::rnde, true},
    {Op::rndz, true},  {Op::lzd, true},   {Op::mad, true},    {Op::csel, true},  {Op::mach, true}, {Op::bfe, false},
    {Op::bfi1, false}, {Op::bfi2, false}, {Op::bfrev, false}, {Op::cbit, false}, {Op::fbh, false}, {Op::fbl, false},
    {Op::addc, false}, {Op::subb, false}, {Op::dp4a, false}};

class Naive {
 public:
  Naive(Thread& thread, const Instruction& in, spec::GenId gen) : thread_(thread), in_(in), gen_(gen) {
    exec_ = execution();
  }

  void run() {
    std::vector<Out> outs(in_.exec_size);
    std::vector<bool> on(in_.exec_size);
    for (unsigned lane = 0; lane < in_.exec_size; ++lane) {
      const bool enabled = in_.no_mask || ((thread_.dispatch_mask >> (in_.first_channel + lane)) & 1) != 0;
      on[lane] = enabled && (in_.op == Op::sel || predicate(lane));
      if (on[lane]) {
        outs[lane] = compute(lane);
      }
    }
    const auto flags = thread_.flag;
    for (unsigned lane = 0; lane < in_.exec_size; ++lane) {
      if (on[lane]) {
        finish(lane, outs[lane], flags);
      }
    }
  }

 private:
  struct Out {
    Number n;
    bool raw = false;
    uint64_t bits = 0;
    bool decided = false;  // `truth` is the flag bit
    bool truth = false;
    bool to_accumulator = false;
    Big accumulator = 0;
    Big accumulator_upper = 0;
  };

  bool late() const { return gen_ >= spec::GenId::gen8; }
  bool stacks() const { return gen_ <= spec::GenId::gen5; }
  unsigned count() const { return in_.sources; }

  Type execution() const {
    bool f = false;
    bool df = false;
    bool hf = false;
    unsigned bytes = 2;
    for (unsigned i = 0; i < count(); ++i) {
      const Type t = in_.src[i].type;
      f |= t == Type::f;
      df |= t == Type::df;
      hf |= t == Type::hf;
      bytes = std::max(bytes, real_type(t) ? 2u : size_of(t));
    }
    if (df || f || hf) {
      return df ? Type::df : f || in_.dst.type == Type::f ? Type::f : Type::hf;
    }
    return bytes == 8 ? Type::q : bytes == 4 ? Type::d : Type::w;
  }

  bool flushes(Type t) const {
    const uint32_t cr0 = thread_.control[0];
    switch (t) {
      case Type::hf:
        return gen_ < spec::GenId::gen8 || ((cr0 >> 10) & 1) == 0;
      case Type::df:
        return !late() || ((cr0 >> 6) & 1) == 0;
      default:
        return !late() || ((cr0 >> 7) & 1) == 0;
    }
  }
  double flushed(Type t, double d) const {
    return flushes(t) && std::fabs(d) < smallest_normal(t) ? std::copysign(0.0, d) : d;
  }

  unsigned flag_bit(unsigned lane) const {
    const unsigned base = (in_.flag % 2) * 16u;
    return gen_ >= spec::GenId::gen7 ? (base + in_.first_channel + lane) % 32 : base + (in_.first_channel % 16) + lane;
  }

  bool predicate(unsigned lane) const {
    const auto flag = [&](unsigned reg, unsigned bit) { return ((thread_.flag[reg] >> (bit % 32)) & 1) != 0; };
    const unsigned reg = in_.flag / 2;
    const unsigned bit = flag_bit(lane);
    const auto group = [&](unsigned size, bool all) {
      bool any_set = false;
      bool all_set = true;
      for (unsigned b = bit / size * size; b < bit / size * size + size; ++b) {
        any_set |= flag(reg, b);
        all_set &= flag(reg, b);
      }
      return all ? all_set : any_set;
    };
    bool result = true;
    switch (in_.predicate) {
      case Predicate::none:
        return true;
      case Predicate::normal:
        result = flag(reg, bit);
        break;
      case Predicate::any_v:
        result = flag(reg, bit) || (gen_ >= spec::GenId::gen7 ? flag(reg ^ 1, bit) : flag(reg, bit + 16));
        break;
      case Predicate::all_v:
        result = flag(reg, bit) && (gen_ >= spec::GenId::gen7 ? flag(reg ^ 1, bit) : flag(reg, bit + 16));
        break;
      default: {
        const unsigned code = static_cast<unsigned>(in_.predicate) - static_cast<unsigned>(Predicate::any2h);
        result = group(2u << (code / 2), code % 2 == 1);
        break;
      }
    }
    return result != in_.predicate_inverse;
  }

  uint64_t fetch(const Operand& o, unsigned lane) const {
    if (o.file == File::immediate) {
      return o.immediate;
    }
    const int size = static_cast<int>(size_of(o.type));
    const int row = static_cast<int>(lane) / o.region.width;
    const int column = static_cast<int>(lane) % o.region.width;
    int address = o.reg * 32 + o.sub;
    int vertical = o.region.vertical;
    if (o.indirect) {
      const bool each_row = o.region.vertical_by_address;
      address = thread_.address[(o.address_sub + (each_row ? static_cast<unsigned>(row) : 0u)) % 16] + o.address_offset;
      vertical = each_row ? 0 : vertical;
    }
    address += (row * vertical + column * o.region.horizontal) * size;
    uint64_t raw = 0;
    if (address >= 0 && address + size <= 4096) {
      std::memcpy(&raw, thread_.grf.data() + address, static_cast<size_t>(size));
    }
    return raw;
  }

  bool is_logic() const { return in_.op >= Op::not_ && in_.op <= Op::xor_; }
  // Returns whether the instruction page lists source modifiers. False: negate and absolute have no effect.
  bool has_source_modifiers() const {
    for (const ManualRow& row : kManual) {
      if (row.op == in_.op) {
        return row.source_modifiers;
      }
    }
    ADD_FAILURE() << "kManual has no row for operation " << static_cast<int>(in_.op);
    return true;
  }

  Number source(unsigned which, unsigned lane) const {
    const Operand& o = in_.src[which];
    Number n = decode(o.type, fetch(o, lane));
    if (o.file == File::immediate || !has_source_modifiers()) {
      return n;
    }
    if (n.real) {
      if (o.absolute) {
        n.d = std::fabs(n.d);
        n.negative_nan = false;
      }
      if (o.negate) {
        n.d = -n.d;
        n.negative_nan = !n.negative_nan;
      }
      return n;
    }
    if (is_logic() && late()) {
      if (o.negate) {
        n.i = keep_bits(o.type, ~n.i);
      }
      return n;
    }
    if (signed_type(o.type)) {
      if (o.absolute && n.i < 0) {
        n.i = keep_bits(o.type, -n.i);
      }
      if (o.negate) {
        n.i = keep_bits(o.type, -n.i);
      }
    } else if (o.negate) {
      n.i = -n.i;
    }
    return n;
  }

  // Rounds to the precision of the execution type.
  Number rounded(Type t, double d) const {
    Number n;
    n.real = true;
    if (std::isnan(d)) {
      return nan_number(1ull << 51, true);
    }
    n.d = t == Type::hf ? half_value(half_code(d)) : t == Type::f ? static_cast<double>(static_cast<float>(d)) : d;
    n.d = flushed(t, n.d);
    return n;
  }

  Number arithmetic(const Number* s) const {
    for (unsigned i = 0; i < count(); ++i) {
      if (s[i].nan) {
        Number n = s[i];
        n.payload |= 1ull << 51;
        return n;
      }
    }
    double v[3]{};
    for (unsigned i = 0; i < count(); ++i) {
      v[i] = flushed(in_.src[i].type, s[i].d);
    }
    const auto f = [&](unsigned i) { return static_cast<float>(v[i]); };
    const bool single = exec_ == Type::f;
    switch (in_.op) {
      case Op::add:
        return rounded(exec_, single ? static_cast<double>(f(0) + f(1)) : v[0] + v[1]);
      case Op::mul:
        return rounded(exec_, single ? static_cast<double>(f(0) * f(1)) : v[0] * v[1]);
      case Op::mad:
        return rounded(exec_, single ? static_cast<double>(std::fma(f(1), f(2), f(0))) : std::fma(v[1], v[2], v[0]));
      case Op::frc: {
        double part = v[0] - std::floor(v[0]);
        if (single && part != 0 && part == part) {
          float cut = static_cast<float>(part);
          part = static_cast<double>(static_cast<double>(cut) > part ? std::nextafter(cut, 0.0f) : cut);
        } else if (exec_ == Type::hf && part > 0) {
          const double unit = std::ldexp(1, std::max(std::ilogb(part), -14) - 10);
          part = std::floor(part / unit) * unit;
        }
        return rounded(exec_, part);
      }
      default: {
        double right = v[0];
        if (!std::isinf(v[0])) {
          const double down = std::floor(v[0]);
          right = in_.op == Op::rndd   ? down
                  : in_.op == Op::rndu ? std::ceil(v[0])
                  : in_.op == Op::rnde ? std::nearbyint(v[0])
                                       : std::trunc(v[0]);
          if (stacks()) {
            right = down;
          }
        }
        return rounded(exec_, right);
      }
    }
  }

  Big integer(const Number* s, unsigned lane, Out& out) const {
    const Big a = s[0].i;
    const Big b = s[1].i;
    const Big c = s[2].i;
    const auto u = [](Big v) { return static_cast<uint32_t>(v); };
    const bool wide = size_of(in_.dst.type) == 8 || size_of(in_.src[0].type) == 8;
    const auto shift = static_cast<unsigned>(static_cast<uint64_t>(b) % (wide ? 64 : 32));
    switch (in_.op) {
      case Op::not_:
        return ~a;
      case Op::and_:
        return a & b;
      case Op::or_:
        return a | b;
      case Op::xor_:
        return a ^ b;
      case Op::shl: {
        Big v = a;
        for (unsigned i = 0; i < shift; ++i) {
          v = v + v;
        }
        return v;
      }
      case Op::shr: {
        Big v = a;
        const Big span = Big{1} << (8 * size_of(in_.src[0].type));
        v = ((v % span) + span) % span;
        for (unsigned i = 0; i < shift; ++i) {
          v /= 2;
        }
        return v;
      }
      case Op::asr: {
        Big v = a;
        for (unsigned i = 0; i < shift; ++i) {
          v = (v - (v < 0 && v % 2 != 0 ? 1 : 0)) / 2;
        }
        return v;
      }
      case Op::add:
        return a + b;
      case Op::avg: {
        const Big sum = a + b + 1;
        return sum >= 0 ? sum / 2 : -((-sum + 1) / 2);
      }
      case Op::mul: {
        const bool dwords = size_of(in_.src[0].type) == 4 && size_of(in_.src[1].type) == 4;
        if (dwords && gen_ <= spec::GenId::gen6) {
          return static_cast<Big>(static_cast<uint16_t>(a)) * b;
        }
        if (dwords && !late()) {
          return a * static_cast<Big>(static_cast<uint16_t>(b));
        }
        return a * b;
      }
      case Op::mach: {
        // The accumulator is zero in these tests. Gen4 to Gen6 split src0 into words, like MUL.
        const bool first = gen_ <= spec::GenId::gen6;
        const auto& source = in_.src[first ? 0 : 1];
        const Big split = first ? a : b;
        const Big high = signed_type(source.type) ? static_cast<Big>(static_cast<int32_t>(u(split)) >> 16)
                                                  : static_cast<Big>(static_cast<uint64_t>(split) >> 16 & 0xffff);
        const Big upper = source.negate && !signed_type(source.type) ? (split >> 16) & 0xffff : high;
        const Big all = (first ? b : a) * upper * 65536 + accumulator(lane);
        out.to_accumulator = in_.accumulator_write;
        out.accumulator = u(all);
        const bool low = gen_ >= spec::GenId::gen11 && !in_.accumulator_write;
        return low ? static_cast<Big>(u(all)) : all >> 32;
      }
      case Op::addc:
        out.to_accumulator = true;
        out.accumulator = u(a) > 0xffff'ffff - u(b) ? 1 : 0;
        return u(a) + u(b);
      case Op::subb:
        out.to_accumulator = true;
        out.accumulator = u(b) > u(a) ? 1 : 0;
        return u(a) - u(b);
      case Op::lzd: {
        Big n = 0;
        while (n < 32 && ((u(a) << static_cast<unsigned>(n)) >> 31) == 0) {
          ++n;
        }
        return n;
      }
      case Op::fbh: {
        const bool sign = signed_type(in_.src[0].type) && (u(a) >> 31) != 0;
        for (unsigned i = 0; i < 32; ++i) {
          if ((((u(a) >> (31 - i)) & 1) != 0) != sign) {
            return i;
          }
        }
        return 0xffff'ffff;
      }
      case Op::fbl:
        for (unsigned i = 0; i < 32; ++i) {
          if (((u(a) >> i) & 1) != 0) {
            return i;
          }
        }
        return 0xffff'ffff;
      case Op::cbit: {
        Big n = 0;
        for (unsigned i = 0; i < 32; ++i) {
          n += (u(a) >> i) & 1;
        }
        return n;
      }
      case Op::bfrev: {
        uint32_t v = 0;
        for (unsigned i = 0; i < 32; ++i) {
          v = v * 2 + ((u(a) >> i) & 1);
        }
        return v;
      }
      case Op::bfe: {
        const unsigned width = u(a) % 32;
        const unsigned offset = u(b) % 32;
        if (width == 0) {
          return 0;
        }
        uint32_t v = 0;
        for (unsigned i = 0; i < 32; ++i) {
          // Bits above the field (or the dword) repeat the field's last bit if it is signed.
          const unsigned last = std::min(offset + width, 32u) - 1;
          const unsigned at = offset + i;
          const bool inside = i < width && at < 32;
          const bool bit = inside ? ((u(c) >> at) & 1) != 0 : ((u(c) >> last) & 1) != 0 && signed_type(in_.dst.type);
          v |= bit ? 1u << i : 0;
        }
        return v;
      }
      case Op::bfi1: {
        uint32_t v = 0;
        for (unsigned i = 0; i < u(a) % 32; ++i) {
          const unsigned at = u(b) % 32 + i;
          v |= at < 32 ? 1u << at : 0;
        }
        return v;
      }
      case Op::bfi2: {
        uint32_t v = u(c);
        unsigned first = 0;
        while (first < 32 && ((u(a) >> first) & 1) == 0) {
          ++first;
        }
        for (unsigned i = first; i < 32; ++i) {
          if (((u(a) >> i) & 1) != 0) {
            v = (v & ~(1u << i)) | (((u(b) >> (i - first)) & 1) << i);
          }
        }
        return v;
      }
      case Op::dp4a: {
        Big v = a;
        for (unsigned i = 0; i < 4; ++i) {
          const auto part = [&](Big x, Type t) {
            const Big byte = (static_cast<uint64_t>(x) >> (8 * i)) & 0xff;
            return signed_type(t) && byte >= 128 ? byte - 256 : byte;
          };
          v += part(b, in_.src[1].type) * part(c, in_.src[2].type);
        }
        return v;
      }
      default:
        return a;
    }
  }

  size_t accumulator_lane(unsigned lane) const {
    return gen_ >= spec::GenId::gen7_5 ? lane : in_.first_channel % 16 + lane;
  }
  Big accumulator(unsigned lane) const {
    int32_t word = 0;
    std::memcpy(&word, thread_.accumulator.data() + 4 * accumulator_lane(lane), 4);
    return word;
  }

  Out compute(unsigned lane) const {
    Number s[3];
    for (unsigned i = 0; i < count(); ++i) {
      s[i] = source(i, lane);
    }
    Out out;
    const bool real = real_type(exec_);
    if (in_.op == Op::mov) {
      if (in_.src[0].type == in_.dst.type && !in_.saturate &&
          (in_.src[0].file == File::immediate || (!in_.src[0].negate && !in_.src[0].absolute))) {
        out.raw = true;
        out.bits = fetch(in_.src[0], lane);
      }
      out.n = s[0];
      if (s[0].real && in_.src[0].type != in_.dst.type) {
        out.n.d = flushed(in_.src[0].type, out.n.d);
      }
      return out;
    }
    const auto cooked = [&](unsigned i) { return flushed(in_.src[i].type, s[i].d); };
    switch (in_.op) {
      case Op::cmp:
      case Op::cmpn:
        out.decided = out.raw = true;
        if (!real) {
          out.truth = relation(in_.condition, s[0].i, s[1].i);
        } else if (gen_ == spec::GenId::gen4 && !real_type(in_.dst.type) && in_.dst.file == File::grf) {
          out.truth = relation(in_.condition, to_integer(in_.dst.type, s[0], cooked(0)),
                               to_integer(in_.dst.type, s[1], cooked(1)));
        } else if (s[0].nan || s[1].nan) {
          out.truth = in_.condition == Condition::not_zero || (in_.op == Op::cmpn && s[1].nan);
        } else {
          out.truth = relation(in_.condition, cooked(0), cooked(1));
        }
        out.bits = out.truth ? ~0ull : 0;
        return out;
      case Op::sel:
      case Op::csel: {
        bool first = predicate(lane);
        if (in_.op == Op::csel) {
          const double x = flushes(exec_) && std::fabs(s[2].d) < smallest_normal(exec_) ? 0.0 : s[2].d;
          first = s[2].nan ? in_.condition == Condition::not_zero : relation(in_.condition, x, 0.0);
        } else if (in_.condition != Condition::none) {
          const bool min_max = in_.condition == Condition::greater_equal || in_.condition == Condition::less;
          if (real && (s[0].nan || s[1].nan)) {
            first = min_max && !s[0].nan;
          } else if (real) {
            const auto at_exec = [&](unsigned i) { return flushed(exec_, s[i].d); };
            first = relation(in_.condition, at_exec(0), at_exec(1));
          } else {
            first = relation(in_.condition, s[0].i, s[1].i);
          }
          out.decided = true;
          out.truth = first;
        }
        out.n = s[first ? 0 : 1];
        return out;
      }
      default:
        break;
    }
    if (real) {
      out.n = arithmetic(s);
      const bool rounds = in_.op == Op::rndu || in_.op == Op::rnde || in_.op == Op::rndz || in_.op == Op::rndd;
      if (rounds && in_.condition == Condition::round) {
        out.decided = true;
      }
    } else {
      out.n.i = integer(s, lane, out);
    }
    return out;
  }

  void finish(unsigned lane, const Out& out, const std::array<uint32_t, 2>&) {
    const Type t = in_.dst.type;
    uint64_t bits = out.bits;
    bool truth = out.truth;
    if (!out.raw) {
      if (!real_type(t)) {
        Big v = out.n.i;
        if (out.n.real) {
          v = to_integer(t, out.n, out.n.d);
        }
        const Big limited = v < type_min(t) ? type_min(t) : v > type_max(t) ? type_max(t) : v;
        const Big kept = in_.saturate ? limited : keep_bits(t, v);
        bits = static_cast<uint64_t>(kept);
        if (!out.decided && in_.condition != Condition::none) {
          truth = relation(in_.condition, kept, Big{0});
        }
      } else {
        Number n = out.n;
        if (!n.real) {
          n.real = true;
          n.d = t == Type::hf  ? half_from_integer(n.i)
                : t == Type::f ? static_cast<double>(static_cast<float>(n.i))
                               : static_cast<double>(n.i);
        } else if (result_type() != t) {
          if (n.nan) {
            n.payload |= 1ull << 51;
          } else {
            n.d = t == Type::hf  ? half_value(half_code(n.d))
                  : t == Type::f ? static_cast<double>(static_cast<float>(n.d))
                                 : n.d;
            n.d = flushed(t, n.d);
          }
        }
        if (in_.saturate) {
          n.d = n.nan || !(n.d > 0) ? 0.0 : std::min(n.d, 1.0);
          n.nan = false;
        }
        bits = encode_real(t, n);
        if (!out.decided && in_.condition != Condition::none) {
          truth = n.nan ? in_.condition == Condition::not_zero : relation(in_.condition, n.d, 0.0);
        }
      }
    } else if (!out.decided && in_.condition != Condition::none) {
      const Number n = decode(t, bits);
      truth = n.nan    ? in_.condition == Condition::not_zero
              : n.real ? relation(in_.condition, n.d, 0.0)
                       : relation(in_.condition, n.i, Big{0});
    }
    if (in_.dst.file == File::grf) {
      const size_t size = size_of(t);
      const size_t at = in_.dst.reg * 32u + in_.dst.sub + lane * in_.dst.region.horizontal * size;
      if (at + size <= thread_.grf.size()) {
        std::memcpy(thread_.grf.data() + at, &bits, size);
      }
    }
    if (out.to_accumulator) {
      const auto word = static_cast<uint32_t>(out.accumulator);
      std::memcpy(thread_.accumulator.data() + 4 * accumulator_lane(lane), &word, 4);
    }
    const bool flag_too = in_.condition != Condition::none && in_.op != Op::csel && (in_.op != Op::sel || stacks());
    if (flag_too && in_.flag / 2 < (gen_ >= spec::GenId::gen7 ? 2 : 1)) {
      uint32_t& flag = thread_.flag[in_.flag / 2];
      const uint32_t mask = 1u << flag_bit(lane);
      flag = truth ? flag | mask : flag & ~mask;
    }
  }

  Type result_type() const { return in_.op == Op::mov ? in_.src[0].type : exec_; }

  Thread& thread_;
  const Instruction& in_;
  spec::GenId gen_;
  Type exec_ = Type::d;
};

}  // namespace

void naive_run(Thread& thread, const Instruction& in, spec::GenId gen) {
  Naive(thread, in, gen).run();
}

}  // namespace halogen::eu::test
