// OpenCL kernels on Intel's driver with the model, compared with PoCL on the same CPUs: matrix multiply,
// reduction, n-body and SHA-256, from the same source. The program starts itself once for each driver. A kernel is
// built and run once before it is timed. The result is the CPU time of the whole process (all threads) per
// dispatch, the best of several runs, because waiting threads sleep. The elapsed time is printed too. usage:
// compute_bench [--device NAME] [--runs N] [kernel...]
#include <unistd.h>
#include <ctime>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

#include "../tests/compute/opencl/opencl_session.h"
#include "../tests/compute/reference.h"

namespace {

struct Times {
  double processor = 1e9, wall = 1e9;
  double sum = 0;  // sum of the results; must be equal on both drivers
};

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<float> random_floats(size_t count, float most) {
  Numbers numbers;
  std::vector<float> values(count);
  for (float& value : values) value = most * static_cast<float>(numbers.next() % 4096) / 4096;
  return values;
}

// A kernel with its arguments set, its number of work items, and its result buffer.
struct Work {
  std::string name;
  cl_kernel kernel;
  std::vector<size_t> items, group;
  cl_mem results = nullptr;
  size_t count = 0;
  bool is_float = true;
};

Work matmul(OpenClSession& session) {
  constexpr size_t kSide = 256;
  Work work{"matmul", session.kernel("matmul", "matmul"), {kSide, kSide}, {16, 16}};
  work.results = session.buffer(std::vector<float>(work.count = kSide * kSide));
  session.arguments(work.kernel, static_cast<int>(kSide), session.buffer(random_floats(kSide * kSide, 1)),
                    session.buffer(random_floats(kSide * kSide, 1)), work.results);
  return work;
}

Work reduction(OpenClSession& session) {
  constexpr size_t kCount = 1 << 20, kGroup = 256;
  Work work{"reduction", session.kernel("reduction", "reduction"), {kCount}, {kGroup}};
  work.results = session.buffer(std::vector<uint32_t>(work.count = kCount / kGroup));
  work.is_float = false;
  session.arguments(work.kernel, session.buffer(std::vector<uint32_t>(kCount, 3)), work.results,
                    OpenClSession::Local{kGroup * 4});
  return work;
}

Work nbody(OpenClSession& session) {
  constexpr size_t kCount = 2048, kGroup = 64;
  Work work{"nbody", session.kernel("nbody", "nbody"), {kCount}, {kGroup}};
  work.results = session.buffer(std::vector<float>(work.count = 4 * kCount));
  session.arguments(work.kernel, static_cast<int>(kCount), 0.01F, 0.05F, session.buffer(random_floats(4 * kCount, 2)),
                    session.buffer(random_floats(4 * kCount, 0)), work.results,
                    session.buffer(std::vector<float>(4 * kCount)));
  return work;
}

Work sha256(OpenClSession& session) {
  constexpr size_t kCount = 1 << 14;
  Work work{"sha256", session.kernel("sha256", "sha256"), {kCount}, {64}};
  work.results = session.buffer(std::vector<uint32_t>(work.count = 8 * kCount));
  work.is_float = false;
  session.arguments(work.kernel, work.results);
  return work;
}

template <class T>
double sum(OpenClSession& session, const Work& work) {
  double all = 0;
  for (const T value : session.read<T>(work.results, work.count)) all += static_cast<double>(value);
  return all;
}

// Runs in the child. Prints a line `kernel CPU-seconds wall-seconds sum` for each kernel.
int measure(const std::string& folder, int runs, const std::vector<std::string>& wanted) {
  OpenClSession session(folder);
  std::printf("on %s\n", session.text(CL_DEVICE_NAME).c_str());
  for (Work (*make)(OpenClSession&) : {matmul, reduction, nbody, sha256}) {
    const Work work = make(session);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), work.name) == wanted.end()) continue;
    Times best;
    for (int run = -1; run < runs; ++run) {
      const double processor = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
      session.start(work.kernel, work.items, work.group);
      while (!session.done()) usleep(200);
      if (run < 0) continue;  // the first run warms up
      best.processor = std::min(best.processor, now(CLOCK_PROCESS_CPUTIME_ID) - processor);
      best.wall = std::min(best.wall, now(CLOCK_MONOTONIC) - wall);
    }
    best.sum = work.is_float ? sum<float>(session, work) : sum<uint32_t>(session, work);
    std::printf("%s %.6f %.6f %.9g\n", work.name.c_str(), best.processor, best.wall, best.sum);
    std::fflush(stdout);
  }
  return 0;
}

// Starts this program again with `before` in front of it, and reads its measurements.
std::map<std::string, Times> child(const std::string& before, const std::string& self, const std::string& rest) {
  std::map<std::string, Times> times;
  FILE* lines = popen((before + " " + self + " --child " + rest).c_str(), "r");
  if (lines == nullptr) return times;
  char name[64], line[256];
  Times one;
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    if (std::sscanf(line, "%63s %lf %lf %lf", name, &one.processor, &one.wall, &one.sum) == 4) {
      times[name] = one;
    } else {
      std::fputs(line, stdout);
    }
  }
  if (pclose(lines) != 0) {
    std::fprintf(stderr, "compute_bench: the child process failed: %s\n", before.c_str());
    std::exit(1);
  }
  return times;
}

}  // namespace

int main(int count, char** given) {
  std::string device = "icl";
  int runs = 5;
  bool is_child = false;
  std::vector<std::string> wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = given[i];
    if (option == "--child") {
      is_child = true;
    } else if (option == "--device" && i + 1 < count) {
      device = given[++i];
    } else if (option == "--runs" && i + 1 < count) {
      runs = std::max(1, std::atoi(given[++i]));
    } else if (option.substr(0, 1) == "-") {
      std::fprintf(stderr, "usage: compute_bench [--device NAME] [--runs N] [kernel...]\n");
      return 2;
    } else {
      wanted.emplace_back(option);
    }
  }
  if (is_child) return measure(COMPUTE_KERNELS, runs, wanted);

  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  std::string rest = "--runs " + std::to_string(runs);
  for (const std::string& name : wanted) rest += " " + name;
  const auto pocl = child("env OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd", self, rest);
  const auto model = child("env OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd " +
                               (self.parent_path() / "halogen").string() + " run --device " + device + " --",
                           self, rest);
  for (const auto& [name, theirs] : pocl) {
    if (!model.contains(name)) continue;
    const Times& ours = model.at(name);
    if (!(std::abs(ours.sum - theirs.sum) <= 1e-5 * std::abs(theirs.sum))) {
      std::fprintf(stderr, "compute_bench: %s: results add up to %g, PoCL's to %g\n", name.c_str(), ours.sum,
                   theirs.sum);
      return 1;
    }
    std::printf("%s: %.2f ms, PoCL %.2f ms (wall %.2f and %.2f)\n", name.c_str(), 1e3 * ours.processor,
                1e3 * theirs.processor, 1e3 * ours.wall, 1e3 * theirs.wall);
    std::printf("ratio %s / PoCL = %.1f times the CPU time, %.1f times the wall time\n", name.c_str(),
                ours.processor / theirs.processor, ours.wall / theirs.wall);
  }
  return 0;
}
