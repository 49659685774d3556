// The common part of both programs: named cases, and results that are compared and stored.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

inline std::string out_folder;  // folder for results; empty: results are not stored

// Stores a result, compares it with the expected one, and prints the first difference.
template <class T>
bool same(const std::string& name, const std::vector<T>& got, const std::vector<T>& wanted) {
  if (!out_folder.empty()) {
    std::ofstream file(out_folder + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(got.size() * sizeof(T)));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::memcmp(&got[i], &wanted[i], sizeof(T)) == 0) continue;
    std::printf("%s: [%zu] is %.9g, not %.9g\n", name.c_str(), i, static_cast<double>(got[i]),
                static_cast<double>(wanted[i]));
    return false;
  }
  return true;
}

struct Case {
  std::string name;
  std::function<bool()> run;
  bool possible = true;  // the device has the features that the case needs
};

struct Arguments {
  std::string folder;
  std::vector<std::string> cases;
};

inline Arguments read_arguments(int count, char** arguments, const char* usage) {
  Arguments given;
  if (count < 2) {
    std::fprintf(stderr, "usage: %s [--out DIR] [case...]\n", usage);
    std::exit(2);
  }
  given.folder = arguments[1];
  for (int i = 2; i < count; ++i) {
    if (std::string(arguments[i]) == "--out" && i + 1 < count) {
      out_folder = arguments[++i];
    } else {
      given.cases.emplace_back(arguments[i]);
    }
  }
  return given;
}

inline int run_cases(const Arguments& given, const std::vector<Case>& cases) {
  int failed = 0;
  for (const Case& one : cases) {
    if (!given.cases.empty() && std::find(given.cases.begin(), given.cases.end(), one.name) == given.cases.end()) {
      continue;
    }
    if (!one.possible) {
      std::printf("%s: left out, the device cannot\n", one.name.c_str());
      continue;
    }
    const bool right = one.run();
    std::printf("%s: %s\n", one.name.c_str(), right ? "right" : "WRONG");
    std::fflush(stdout);
    failed += right ? 0 : 1;
  }
  return failed == 0 ? 0 : 1;
}
