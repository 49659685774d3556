// The executors of EU code that a user can choose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halogen::eu {

enum class ExecutorKind : uint8_t {
  interpreter,
  compiled,  // kernels translated to host code; not implemented
  check,     // both, with their results compared; not implemented
};

inline constexpr std::array<std::string_view, 3> kExecutorNames{"interpreter", "compiled", "check"};

constexpr std::string_view name_of(ExecutorKind kind) {
  return kExecutorNames[static_cast<size_t>(kind)];
}

// Returns the executor with a name. No value: the name is not in kExecutorNames.
constexpr std::optional<ExecutorKind> executor_named(std::string_view name) {
  for (size_t i = 0; i < kExecutorNames.size(); ++i) {
    if (kExecutorNames[i] == name) {
      return static_cast<ExecutorKind>(i);
    }
  }
  return std::nullopt;
}

constexpr bool is_available(ExecutorKind kind) {
  return kind == ExecutorKind::interpreter;
}

}  // namespace halogen::eu
