// Expected results of the cases, from plain formulas in C++ that share no code with the kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// Pseudo-random numbers, the same on every machine.
class Numbers {
 public:
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  // Returns a number in [-1, 1) with 12 bits, so that products are exact in single precision.
  float small() { return static_cast<float>(static_cast<int>(next() % 8192) - 4096) / 4096.0f; }

 private:
  uint64_t state_ = 12345;
};

// Inputs and results of the cases that OpenCL and Vulkan share.
struct SaxpyCase {
  explicit SaxpyCase(size_t count) : x(count), y(count), wanted(count) {
    Numbers numbers;
    for (size_t i = 0; i < count; ++i) {
      x[i] = numbers.small();
      y[i] = numbers.small();
      wanted[i] = s * x[i] + y[i];  // exact: 12 and 2 bits
    }
  }
  float s = 0.75f;
  std::vector<float> x, y, wanted;
};

// One sum per group.
struct ReductionCase {
  ReductionCase(size_t count, size_t group) : in(count), wanted(count / group) {
    Numbers numbers;
    for (size_t i = 0; i < count; ++i) wanted[i / group] += in[i] = numbers.next();
  }
  std::vector<uint32_t> in, wanted;
};

// Small integers: sums are exact in any order, with fused products or without.
struct MatmulCase {
  explicit MatmulCase(size_t side) : a(side * side), b(side * side), wanted(side * side) {
    Numbers numbers;
    for (float& value : a) value = static_cast<float>(static_cast<int>(numbers.next() % 200) - 100);
    for (float& value : b) value = static_cast<float>(static_cast<int>(numbers.next() % 200) - 100);
    for (size_t y = 0; y < side; ++y) {
      for (size_t x = 0; x < side; ++x) {
        for (size_t k = 0; k < side; ++k) wanted[y * side + x] += a[y * side + k] * b[k * side + x];
      }
    }
  }
  std::vector<float> a, b, wanted;
};

struct SortCase {
  explicit SortCase(size_t count) : data(count) {
    Numbers numbers;
    for (int& value : data) value = static_cast<int>(numbers.next() << 1);
    wanted = data;
    std::sort(wanted.begin(), wanted.end());
  }
  std::vector<int> data, wanted;
};

// Returns the constants of SHA-256, 64 of the rounds and 8 initial values: the first 32 bits of the fractional parts of
// cube and square roots of primes, computed here.
inline std::vector<uint32_t> sha256_constants() {
  std::vector<uint32_t> primes;
  for (uint32_t n = 2; primes.size() < 64; ++n) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) primes.push_back(n);
  }
  const auto fraction = [](long double root) {
    return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
  };
  std::vector<uint32_t> constants;
  for (uint32_t prime : primes) constants.push_back(fraction(std::cbrt(static_cast<long double>(prime))));
  for (size_t i = 0; i < 8; ++i) constants.push_back(fraction(std::sqrt(static_cast<long double>(primes[i]))));
  return constants;
}

// Returns the message of one item.
inline std::string sha256_text(size_t item) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08zx", item);
  return digits + std::string(47, '.');
}

// Returns SHA-256 of a message that fits into one block.
inline std::array<uint32_t, 8> sha256_of(const std::string& text) {
  const std::vector<uint32_t> constants = sha256_constants();
  std::array<uint8_t, 64> block{};
  for (size_t i = 0; i < text.size(); ++i) block[i] = static_cast<uint8_t>(text[i]);
  block[text.size()] = 0x80;
  block[62] = static_cast<uint8_t>(text.size() * 8 >> 8);
  block[63] = static_cast<uint8_t>(text.size() * 8);
  std::array<uint32_t, 64> w{};
  const auto right = [](uint32_t x, int by) { return x >> by | x << (32 - by); };
  for (size_t i = 0; i < 64; ++i) {
    if (i < 16) {
      for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | block[4 * i + j];
    } else {
      w[i] = w[i - 16] + w[i - 7] + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
    }
  }
  std::array<uint32_t, 8> h{};
  for (size_t i = 0; i < 8; ++i) h[i] = constants[64 + i];
  auto [a, b, c, d, e, f, g, last] = h;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 = last + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const uint32_t t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    last = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> end{a, b, c, d, e, f, g, last};
  for (size_t i = 0; i < 8; ++i) h[i] += end[i];
  return h;
}

// Returns the digests of the messages of `count` items, eight words each.
inline std::vector<uint32_t> sha256_digests(size_t count) {
  std::vector<uint32_t> digests;
  for (size_t i = 0; i < count; ++i) {
    for (const uint32_t word : sha256_of(sha256_text(i))) digests.push_back(word);
  }
  return digests;
}

template <class Real>
uint32_t mandelbrot_steps(Real cr, Real ci, uint32_t limit) {
  // volatile: every operation is rounded, as in the kernel.
  volatile Real r = 0, i = 0;
  uint32_t n = 0;
  for (; n < limit; ++n) {
    volatile const Real rr = r * r, ii = i * i, sum = rr + ii;
    if (sum > 4) break;
    volatile const Real difference = rr - ii, two_r = 2 * r, product = two_r * i;
    r = difference + cr;
    i = product + ci;
  }
  return n;
}

template <class Real>
std::vector<uint32_t> mandelbrot_picture(size_t width, size_t height, uint32_t limit, Real left, Real top, Real pitch) {
  std::vector<uint32_t> steps;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      volatile const Real dx = pitch * static_cast<Real>(x), dy = pitch * static_cast<Real>(y);
      steps.push_back(mandelbrot_steps<Real>(left + dx, top + dy, limit));
    }
  }
  return steps;
}
