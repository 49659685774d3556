#include "display/fbc/dpfc_code.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace halogen::display::dpfc {

namespace {

constexpr unsigned kMinMonoPixels = 8;

// Fields that deltas are added to; bits above them do not change.
struct Fields {
  std::array<unsigned, 3> shift;
  std::array<unsigned, 3> bits;
};
constexpr Fields kFields32 = {{0, 8, 16}, {8, 8, 8}};
constexpr Fields kFields16 = {{0, 5, 11}, {5, 6, 5}};

const Fields& fields_of(unsigned pixel_bytes) {
  return pixel_bytes == 4 ? kFields32 : kFields16;
}

constexpr uint32_t mask_of(unsigned bits) {
  return (1u << bits) - 1;
}
constexpr unsigned delta_nibbles(unsigned bits) {
  return (3 * bits + 3) / 4;
}

// State that encoder and decoder share at each pixel.
struct History {
  std::array<uint32_t, kPalette> palette{};
  uint32_t last = 0;

  void add(uint32_t pixel) {
    std::ranges::copy_backward(palette.begin(), palette.end() - 1, palette.end());
    palette[0] = pixel;
    last = pixel;
  }
};

uint32_t load(std::span<const std::byte> line, size_t index, unsigned pixel_bytes) {
  uint32_t pixel = 0;
  std::memcpy(&pixel, line.data() + index * pixel_bytes, pixel_bytes);
  return pixel;
}

class Writer {
 public:
  explicit Writer(std::span<std::byte> into) : into_(into) {}

  void nibble(uint32_t value) {
    if (used_ / 2 < into_.size()) {
      std::byte& byte = into_[used_ / 2];
      byte = used_ % 2 == 0 ? static_cast<std::byte>(value & 15) : byte | static_cast<std::byte>((value & 15) << 4);
    }
    ++used_;
  }
  void nibbles(uint32_t value, unsigned count) {
    for (; count > 0; --count, value >>= 4) {
      nibble(value);
    }
  }
  void op(Op op) { nibble(static_cast<uint32_t>(op)); }
  bool fits() const { return (used_ + 1) / 2 <= into_.size(); }
  size_t bytes() const { return (used_ + 1) / 2; }

 private:
  std::span<std::byte> into_;
  size_t used_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : from_(from) {}

  uint32_t nibbles(unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; ++i, ++used_) {
      const uint32_t byte = used_ / 2 < from_.size() ? std::to_integer<uint32_t>(from_[used_ / 2]) : 0;
      value |= (byte >> (used_ % 2 * 4) & 15) << (4 * i);
    }
    return value;
  }
  bool ended() const { return used_ > 2 * from_.size(); }

 private:
  std::span<const std::byte> from_;
  size_t used_ = 0;
};

class Encoder {
 public:
  Encoder(std::span<const std::byte> line, unsigned pixel_bytes, uint32_t disabled, std::span<std::byte> into)
      : line_(line),
        pixel_bytes_(pixel_bytes),
        pixels_(line.size() / pixel_bytes),
        disabled_(disabled),
        writer_(into) {}

  std::optional<size_t> run() {
    while (at_ < pixels_ && writer_.fits()) {
      const size_t same = run_length();
      if (same < kMinMonoPixels && mono()) {
        continue;
      }
      if (same != 0 && repeat(same)) {
        continue;
      }
      single(load(line_, at_, pixel_bytes_));
      ++at_;
    }
    return writer_.fits() ? std::optional(writer_.bytes()) : std::nullopt;
  }

 private:
  bool may(uint32_t bit) const { return (disabled_ & bit) == 0; }

  size_t run_length() const {
    size_t end = at_;
    while (end < pixels_ && end - at_ < 256 && load(line_, end, pixel_bytes_) == history_.last) {
      ++end;
    }
    return end - at_;
  }

  bool repeat(size_t same) {
    const bool is_short = same <= 16 || !may(kNoRun2);
    if (is_short && may(kNoRun1)) {
      same = std::min<size_t>(same, 16);
      writer_.op(Op::run_1);
      writer_.nibble(static_cast<uint32_t>(same - 1));
    } else if (may(kNoRun2)) {
      writer_.op(Op::run_2);
      writer_.nibbles(static_cast<uint32_t>(same - 1), 2);
    } else {
      return false;
    }
    at_ += same;
    return true;
  }

  bool mono() {
    if (!may(kNoMono) || history_.palette[0] == history_.palette[1]) {
      return false;
    }
    size_t end = at_;
    while (end < pixels_ && end - at_ < 64) {
      const uint32_t pixel = load(line_, end, pixel_bytes_);
      if (pixel != history_.palette[0] && pixel != history_.palette[1]) {
        break;
      }
      ++end;
    }
    const size_t groups = (end - at_) / 4;
    if (groups * 4 < kMinMonoPixels) {
      return false;
    }
    writer_.op(Op::mono);
    writer_.nibble(static_cast<uint32_t>(groups - 1));
    for (size_t group = 0; group < groups; ++group) {
      uint32_t bits = 0;
      for (unsigned i = 0; i < 4; ++i, ++at_) {
        history_.last = load(line_, at_, pixel_bytes_);
        bits |= (history_.last == history_.palette[1] ? 1u : 0u) << i;
      }
      writer_.nibble(bits);
    }
    return true;
  }

  void single(uint32_t pixel) {
    if (may(kNoHistory)) {
      const auto found = std::ranges::find(history_.palette, pixel);
      if (found != history_.palette.end()) {
        writer_.op(Op::history);
        writer_.nibble(static_cast<uint32_t>(found - history_.palette.begin()));
        history_.last = pixel;
        return;
      }
    }
    if (!delta(pixel)) {
      writer_.op(Op::raw);
      writer_.nibbles(pixel, 2 * pixel_bytes_);
    }
    history_.add(pixel);
  }

  // Uses the shortest delta that holds the difference.
  bool delta(uint32_t pixel) {
    const Fields& fields = fields_of(pixel_bytes_);
    const unsigned top = fields.shift[2] + fields.bits[2];
    if (top < 32 && pixel >> top != history_.last >> top) {
      return false;
    }
    std::array<int, 3> differences{};
    for (unsigned i = 0; i < 3; ++i) {
      const uint32_t mask = mask_of(fields.bits[i]);
      differences[i] =
          static_cast<int>(pixel >> fields.shift[i] & mask) - static_cast<int>(history_.last >> fields.shift[i] & mask);
    }
    for (unsigned bits = 2; bits <= 6; ++bits) {
      const int most = (1 << (bits - 1)) - 1;
      if (!may(no_delta(bits)) ||
          !std::ranges::all_of(differences, [most](int d) { return d <= most && d >= -most - 1; })) {
        continue;
      }
      uint32_t value = 0;
      for (unsigned i = 0; i < 3; ++i) {
        value |= (static_cast<uint32_t>(differences[i]) & mask_of(bits)) << (bits * i);
      }
      writer_.nibble(static_cast<uint32_t>(Op::delta_2) + bits - 2);
      writer_.nibbles(value, delta_nibbles(bits));
      return true;
    }
    return false;
  }

  std::span<const std::byte> line_;
  unsigned pixel_bytes_;
  size_t pixels_;
  uint32_t disabled_;
  Writer writer_;
  History history_;
  size_t at_ = 0;
};

uint32_t add_deltas(uint32_t last, uint32_t value, unsigned bits, const Fields& fields) {
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t raw = value >> (bits * i) & mask_of(bits);
    const uint32_t difference = raw - ((raw & 1u << (bits - 1)) << 1);
    const uint32_t mask = mask_of(fields.bits[i]) << fields.shift[i];
    last = (last & ~mask) | ((last + (difference << fields.shift[i])) & mask);
  }
  return last;
}

}  // namespace

std::optional<size_t> encode(std::span<const std::byte> line, unsigned pixel_bytes, uint32_t disabled,
                             std::span<std::byte> into) {
  return Encoder(line, pixel_bytes, disabled, into).run();
}

bool decode(std::span<const std::byte> code, unsigned pixel_bytes, std::span<std::byte> line) {
  Reader reader(code);
  History history;
  const size_t pixels = line.size() / pixel_bytes;
  size_t at = 0;
  const auto put = [&](uint32_t pixel) {
    if (at < pixels) {
      std::memcpy(line.data() + at * pixel_bytes, &pixel, pixel_bytes);
    }
    history.last = pixel;
    ++at;
  };
  const auto repeat = [&](uint32_t count) {
    for (const uint32_t pixel = history.last; count > 0; --count) {
      put(pixel);
    }
  };
  bool sense = true;
  while (at < pixels && sense) {
    const uint32_t number = reader.nibbles(1);
    const auto op = static_cast<Op>(number);
    if (op == Op::run_1) {
      repeat(reader.nibbles(1) + 1);
    } else if (op == Op::run_2) {
      repeat(reader.nibbles(2) + 1);
    } else if (op == Op::mono) {
      for (uint32_t left = 4 * (reader.nibbles(1) + 1), bits = 0; left > 0; --left, bits >>= 1) {
        bits = left % 4 == 0 ? reader.nibbles(1) : bits;
        put(history.palette[bits & 1]);
      }
    } else if (op == Op::history) {
      put(history.palette[reader.nibbles(1)]);
    } else if (number <= static_cast<uint32_t>(Op::raw)) {
      const unsigned bits = number - static_cast<uint32_t>(Op::delta_2) + 2;
      const uint32_t pixel =
          op == Op::raw ? reader.nibbles(2 * pixel_bytes)
                        : add_deltas(history.last, reader.nibbles(delta_nibbles(bits)), bits, fields_of(pixel_bytes));
      history.add(pixel);
      put(pixel);
    } else {
      sense = false;
    }
    sense = sense && !reader.ended();
  }
  if (sense) {
    return true;
  }
  const size_t done = std::min(at, pixels) * pixel_bytes;
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(done), line.end(), std::byte{});
  return false;
}

}  // namespace halogen::display::dpfc
