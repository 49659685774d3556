// Small OpenCL programs on the first device that the OpenCL library finds: each case computes, compares with
// reference.h and prints one line. `--out DIR` keeps each result, so that two devices can be compared. Exit 0: all
// cases are right.
// usage: opencl_cases KERNEL_FOLDER [--out DIR] [case...]
#include <algorithm>
#include <numeric>

#include "../reference.h"
#include "../results.h"
#include "opencl_session.h"

namespace {

bool vector_add(OpenClSession& session) {
  constexpr size_t kCount = 300, kOffset = 5;
  Numbers numbers;
  std::vector<int> a(kCount + kOffset), b(a.size()), c(a.size(), -1), wanted = c;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(numbers.next());
    b[i] = static_cast<int>(numbers.next());
    if (i >= kOffset) wanted[i] = static_cast<int>(static_cast<uint32_t>(a[i]) + static_cast<uint32_t>(b[i]));
  }
  cl_mem result = session.buffer(c);
  session.run(session.kernel("vector_add", "vector_add"), {kCount}, {100}, {kOffset}, session.buffer(a),
              session.buffer(b), result);
  return same("vector_add", session.read<int>(result, c.size()), wanted);
}

bool saxpy(OpenClSession& session) {
  constexpr size_t kCount = 1000;
  const SaxpyCase given(kCount);
  cl_mem result = session.buffer(given.y);
  session.run(session.kernel("saxpy", "saxpy"), {kCount}, {}, {}, given.s, session.buffer(given.x), result);
  return same("saxpy", session.read<float>(result, kCount), given.wanted);
}

bool reduction(OpenClSession& session) {
  constexpr size_t kCount = 4096, kGroup = 256;
  const ReductionCase given(kCount, kGroup);
  cl_mem sums = session.buffer(std::vector<uint32_t>(given.wanted.size()));
  session.run(session.kernel("reduction", "reduction"), {kCount}, {kGroup}, {}, session.buffer(given.in), sums,
              OpenClSession::Local{kGroup * 4});
  return same("reduction", session.read<uint32_t>(sums, given.wanted.size()), given.wanted);
}

bool matmul(OpenClSession& session) {
  constexpr size_t kSide = 48;
  const MatmulCase given(kSide);
  cl_mem result = session.buffer(std::vector<float>(kSide * kSide));
  session.run(session.kernel("matmul", "matmul"), {kSide, kSide}, {16, 16}, {}, static_cast<int>(kSide),
              session.buffer(given.a), session.buffer(given.b), result);
  return same("matmul", session.read<float>(result, kSide * kSide), given.wanted);
}

bool histogram(OpenClSession& session) {
  constexpr uint32_t kCount = 10000;
  Numbers numbers;
  std::vector<uint8_t> in(kCount);
  std::vector<uint32_t> wanted(256);
  for (uint8_t& value : in) {
    value = static_cast<uint8_t>(numbers.next() % 256 & numbers.next());
    ++wanted[value];
  }
  cl_mem bins = session.buffer(std::vector<uint32_t>(256));
  session.run(session.kernel("histogram", "histogram"), {512}, {128}, {}, session.buffer(in), kCount, bins,
              OpenClSession::Local{256 * 4});
  return same("histogram", session.read<uint32_t>(bins, 256), wanted);
}

bool prefix_sum(OpenClSession& session) {
  constexpr size_t kGroups = 3, kItems = 256;
  Numbers numbers;
  std::vector<uint32_t> in(kGroups * kItems), wanted(in.size());
  for (uint32_t& value : in) value = numbers.next() % 1000;
  for (size_t g = 0; g < kGroups; ++g) {
    std::exclusive_scan(in.begin() + static_cast<long>(g * kItems), in.begin() + static_cast<long>((g + 1) * kItems),
                        wanted.begin() + static_cast<long>(g * kItems), 0u);
  }
  cl_mem out = session.buffer(std::vector<uint32_t>(in.size()));
  session.run(session.kernel("prefix_sum", "prefix_sum"), {kGroups * kItems / 2}, {kItems / 2}, {}, session.buffer(in),
              out, OpenClSession::Local{kItems * 4});
  return same("prefix_sum", session.read<uint32_t>(out, in.size()), wanted);
}

bool bitonic_sort(OpenClSession& session) {
  constexpr uint32_t kCount = 512;
  const SortCase given(kCount);
  cl_mem memory = session.buffer(given.data);
  cl_kernel kernel = session.kernel("bitonic_sort", "bitonic_sort");
  for (uint32_t block = 2; block <= kCount; block *= 2) {
    for (uint32_t distance = block / 2; distance > 0; distance /= 2) {
      session.run(kernel, {kCount}, {}, {}, memory, distance, block);
    }
  }
  return same("bitonic_sort", session.read<int>(memory, kCount), given.wanted);
}

bool sha256(OpenClSession& session) {
  constexpr size_t kCount = 64;
  const std::vector<uint32_t> wanted = sha256_digests(kCount);
  cl_mem digests = session.buffer(std::vector<uint32_t>(8 * kCount));
  session.run(session.kernel("sha256", "sha256"), {kCount}, {}, {}, digests);
  return same("sha256", session.read<uint32_t>(digests, wanted.size()), wanted);
}

template <class Real>
bool mandelbrot(OpenClSession& session, const std::string& name, const std::string& options) {
  constexpr size_t kWidth = 64, kHeight = 48;
  constexpr uint32_t kLimit = 100;
  const Real left = static_cast<Real>(-2.25), top = static_cast<Real>(-1.125), pitch = static_cast<Real>(3.0 / 64);
  const std::vector<uint32_t> wanted = mandelbrot_picture<Real>(kWidth, kHeight, kLimit, left, top, pitch);
  cl_mem steps = session.buffer(std::vector<uint32_t>(wanted.size()));
  session.run(session.kernel("mandelbrot", "mandelbrot", options), {kWidth, kHeight}, {}, {}, steps, kLimit, left, top,
              pitch);
  return same(name, session.read<uint32_t>(steps, wanted.size()), wanted);
}

bool image_copy(OpenClSession& session) {
  constexpr size_t kSide = 40;
  Numbers numbers;
  std::vector<uint32_t> texels(kSide * kSide), wanted(texels.size());
  for (uint32_t& texel : texels) texel = numbers.next() << 1 ^ numbers.next();
  for (size_t y = 0; y < kSide; ++y) {
    for (size_t x = 0; x < kSide; ++x) {
      const uint32_t from =
          texels[x * kSide + y];  // red is the lowest byte; the swizzle wxyz moves every channel up by one
      wanted[y * kSide + x] = from << 8 | from >> 24;
    }
  }
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_mem to = session.image(format, kSide, kSide, nullptr);
  session.run(session.kernel("image_copy", "image_copy"), {kSide, kSide}, {}, {},
              session.image(format, kSide, kSide, texels.data()), to);
  return same("image_copy", session.read_image<uint32_t>(to, kSide, kSide, 4), wanted);
}

// The caller of the program checks the output of the items: `item 0 of 7: beef done` and so on.
bool text(OpenClSession& session) {
  session.run(session.kernel("text", "text"), {4}, {}, {}, 7);
  return true;
}

bool atomics(OpenClSession& session) {
  constexpr int kCount = 200;
  std::vector<int> words(16), wanted(16);
  words[4] = wanted[4] = 5000;
  words[6] = wanted[6] = -1;
  for (int i = 0; i < kCount; ++i) {
    wanted[0] += i;
    wanted[1] -= 2 * i;
    ++wanted[2];
    --wanted[3];
    wanted[4] = std::min(wanted[4], 1000 - i);
    wanted[5] = std::max(wanted[5], 3 * i);
    wanted[6] &= ~(1 << (i & 15));
    wanted[7] = static_cast<int>(static_cast<uint32_t>(wanted[7]) | 1u << (i & 31));
    wanted[8] ^= 1 << (i % 31);
    wanted[9] += 3;
    ++wanted[10];
  }
  cl_mem memory = session.buffer(words), tickets = session.buffer(std::vector<uint32_t>(kCount));
  session.run(session.kernel("atomics", "atomics"), {kCount}, {}, {}, memory, tickets);
  return same("atomics", session.read<int>(memory, 16), wanted) &&
         same("tickets", session.read<uint32_t>(tickets, kCount), std::vector<uint32_t>(kCount, 1));
}

}  // namespace

int main(int count, char** arguments) {
  const Arguments given = read_arguments(count, arguments, "opencl_cases KERNEL_FOLDER");
  OpenClSession session(given.folder);
  std::printf("device: %s\n", session.text(CL_DEVICE_NAME).c_str());
  return run_cases(given, {
                              {"vector_add", [&] { return vector_add(session); }},
                              {"saxpy", [&] { return saxpy(session); }},
                              {"reduction", [&] { return reduction(session); }},
                              {"matmul", [&] { return matmul(session); }},
                              {"histogram", [&] { return histogram(session); }},
                              {"prefix_sum", [&] { return prefix_sum(session); }},
                              {"bitonic_sort", [&] { return bitonic_sort(session); }},
                              {"sha256", [&] { return sha256(session); }},
                              {"mandelbrot", [&] { return mandelbrot<float>(session, "mandelbrot", "-DREAL=float"); }},
                              {"mandelbrot_wide",
                               [&] { return mandelbrot<double>(session, "mandelbrot_wide", "-DREAL=double -DWIDE"); },
                               session.has("cl_khr_fp64")},
                              {"image_copy", [&] { return image_copy(session); }},
                              {"atomics", [&] { return atomics(session); }},
                              {"text", [&] { return text(session); }},
                          });
}
