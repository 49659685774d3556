// Small Vulkan compute programs on the first device that the Vulkan library finds: each case computes, compares with
// reference.h and prints one line. `--out DIR` keeps each result, so that two devices can be compared. Exit 0: all
// cases are right. usage: vulkan_cases SHADER_FOLDER [--out DIR] [case...]   (the folder holds <name>.spv)
#include <bit>

#include "../reference.h"
#include "../results.h"
#include "vulkan_session.h"

namespace {

bool vector_add(VulkanSession& session) {
  constexpr size_t kCount = 320;
  Numbers numbers;
  std::vector<uint32_t> a(kCount), b(kCount), wanted(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = numbers.next();
    b[i] = numbers.next() << 1;
    wanted[i] = a[i] + b[i];
  }
  const auto result = session.buffer(std::vector<uint32_t>(kCount));
  session.run({.shader = "vector_add",
               .buffers = {session.buffer(a), session.buffer(b), result},
               .groups = {kCount / 64, 1, 1}});
  return same("vector_add", session.read<uint32_t>(result), wanted);
}

// Adds two vectors with the group counts in memory.
bool indirect(VulkanSession& session) {
  constexpr size_t kCount = 128;
  Numbers numbers;
  std::vector<uint32_t> a(kCount), b(kCount), wanted(kCount);
  for (size_t i = 0; i < kCount; ++i) wanted[i] = (a[i] = numbers.next()) + (b[i] = numbers.next());
  const auto result = session.buffer(std::vector<uint32_t>(kCount));
  const auto counts = session.buffer(std::vector<uint32_t>{kCount / 64, 1, 1});
  const auto none = session.buffer(std::vector<uint32_t>{5, 0, 1});
  const std::vector<VulkanSession::Buffer> buffers = {session.buffer(a), session.buffer(b), result};
  session.run({.shader = "vector_add", .buffers = buffers, .indirect = &none});
  const bool nothing = same("indirect_none", session.read<uint32_t>(result), std::vector<uint32_t>(kCount));
  session.run({.shader = "vector_add", .buffers = buffers, .indirect = &counts});
  return nothing && same("indirect", session.read<uint32_t>(result), wanted);
}

bool saxpy(VulkanSession& session) {
  constexpr size_t kCount = 1000;
  const SaxpyCase given(kCount);
  const auto result = session.buffer(given.y);
  session.run({.shader = "saxpy",
               .buffers = {session.buffer(given.x), result},
               .constants = {std::bit_cast<uint32_t>(given.s)},
               .groups = {kCount / 40, 1, 1}});
  return same("saxpy", session.read<float>(result), given.wanted);
}

bool reduction(VulkanSession& session) {
  constexpr size_t kCount = 4096, kGroup = 256;
  const ReductionCase given(kCount, kGroup);
  const auto sums = session.buffer(std::vector<uint32_t>(given.wanted.size()));
  session.run({.shader = "reduction", .buffers = {session.buffer(given.in), sums}, .groups = {kCount / kGroup, 1, 1}});
  return same("reduction", session.read<uint32_t>(sums), given.wanted);
}

bool matmul(VulkanSession& session) {
  constexpr uint32_t kSide = 48;
  const MatmulCase given(kSide);
  const auto result = session.buffer(std::vector<float>(kSide * kSide));
  session.run({.shader = "matmul",
               .buffers = {session.buffer(given.a), session.buffer(given.b), result},
               .constants = {kSide},
               .groups = {kSide / 16, kSide / 16, 1}});
  return same("matmul", session.read<float>(result), given.wanted);
}

bool histogram(VulkanSession& session) {
  constexpr uint32_t kCount = 10000;
  Numbers numbers;
  std::vector<uint32_t> in(kCount), wanted(256);
  for (uint32_t& value : in) ++wanted[value = numbers.next() % 256 & numbers.next()];
  const auto bins = session.buffer(std::vector<uint32_t>(256));
  session.run(
      {.shader = "histogram", .buffers = {session.buffer(in), bins}, .constants = {kCount}, .groups = {4, 1, 1}});
  return same("histogram", session.read<uint32_t>(bins), wanted);
}

bool prefix_sum(VulkanSession& session) {
  constexpr size_t kGroups = 3, kItems = 256;
  Numbers numbers;
  std::vector<uint32_t> in(kGroups * kItems), wanted(in.size());
  for (uint32_t& value : in) value = numbers.next() % 1000;
  for (size_t i = 0; i < in.size(); ++i) wanted[i] = in[i] + (i % kItems == 0 ? 0 : wanted[i - 1]);
  const auto out = session.buffer(std::vector<uint32_t>(in.size()));
  session.run({.shader = "prefix_sum", .buffers = {session.buffer(in), out}, .groups = {kGroups, 1, 1}});
  return same("prefix_sum", session.read<uint32_t>(out), wanted);
}

bool bitonic_sort(VulkanSession& session) {
  constexpr uint32_t kCount = 256;
  const SortCase given(kCount);
  const auto memory = session.buffer(given.data);
  for (uint32_t block = 2; block <= kCount; block *= 2) {
    for (uint32_t distance = block / 2; distance > 0; distance /= 2) {
      session.run({.shader = "bitonic_sort",
                   .buffers = {memory},
                   .constants = {distance, block},
                   .groups = {kCount / 64, 1, 1}});
    }
  }
  return same("bitonic_sort", session.read<int>(memory), given.wanted);
}

bool sha256(VulkanSession& session) {
  constexpr size_t kCount = 64;
  const std::vector<uint32_t> wanted = sha256_digests(kCount);
  const auto digests = session.buffer(std::vector<uint32_t>(8 * kCount));
  session.run(
      {.shader = "sha256", .buffers = {digests, session.buffer(sha256_constants())}, .groups = {kCount / 32, 1, 1}});
  return same("sha256", session.read<uint32_t>(digests), wanted);
}

template <class Real>
bool mandelbrot(VulkanSession& session, const std::string& name) {
  constexpr uint32_t kWidth = 64, kHeight = 48, kLimit = 100;
  const Real left = static_cast<Real>(-2.25), top = static_cast<Real>(-1.125), pitch = static_cast<Real>(3.0 / 64);
  const std::array<Real, 3> reals{left, top, pitch};
  std::vector<uint32_t> constants(sizeof reals / 4);
  std::memcpy(constants.data(), reals.data(), sizeof reals);
  constants.push_back(kWidth);
  constants.push_back(kLimit);
  const auto steps = session.buffer(std::vector<uint32_t>(kWidth * kHeight));
  session.run({.shader = name, .buffers = {steps}, .constants = constants, .groups = {kWidth / 8, kHeight / 8, 1}});
  return same(name, session.read<uint32_t>(steps), mandelbrot_picture<Real>(kWidth, kHeight, kLimit, left, top, pitch));
}

bool image_copy(VulkanSession& session) {
  constexpr uint32_t kSide = 40;
  std::vector<uint32_t> wanted(kSide * kSide);
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      const uint32_t from = y | x << 8 | ((y * 3 + x) & 255) << 16 | (255 - y) << 24;  // the texel at (y, x)
      wanted[y * kSide + x] = from << 8 | from >> 24;
    }
  }
  const auto first = session.image(kSide), second = session.image(kSide);
  const auto texels = session.buffer(std::vector<uint32_t>(kSide * kSide));
  const std::array<uint32_t, 3> groups{kSide / 8, kSide / 8, 1};
  session.run({.shader = "image_fill", .images = {first}, .groups = groups});
  session.run({.shader = "image_copy", .images = {first, second}, .groups = groups});
  session.run({.shader = "image_read", .buffers = {texels}, .images = {second}, .groups = groups});
  return same("image_copy", session.read<uint32_t>(texels), wanted);
}

}  // namespace

int main(int count, char** arguments) {
  const Arguments given = read_arguments(count, arguments, "vulkan_cases SHADER_FOLDER");
  VulkanSession session(given.folder);
  std::printf("device: %s\n", session.name().c_str());
  return run_cases(given, {
                              {"vector_add", [&] { return vector_add(session); }},
                              {"indirect", [&] { return indirect(session); }},
                              {"saxpy", [&] { return saxpy(session); }},
                              {"reduction", [&] { return reduction(session); }},
                              {"matmul", [&] { return matmul(session); }},
                              {"histogram", [&] { return histogram(session); }},
                              {"prefix_sum", [&] { return prefix_sum(session); }},
                              {"bitonic_sort", [&] { return bitonic_sort(session); }},
                              {"sha256", [&] { return sha256(session); }},
                              {"mandelbrot", [&] { return mandelbrot<float>(session, "mandelbrot"); }},
                              {"mandelbrot_wide", [&] { return mandelbrot<double>(session, "mandelbrot_wide"); },
                               session.has_wide()},
                              {"image_copy", [&] { return image_copy(session); }},
                          });
}
