// A value or an error message. Reports mistakes of the user and bad files. Mistakes of a guest are modelled and
// reported as Events instead.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace halogen {

struct Error {
  std::string message;  // one sentence: what is wrong, and where
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const std::string& message() const { return std::get<1>(state_).message; }
  Error error() const { return std::get<1>(state_); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const std::string& message() const { return error_->message; }
  Error error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace halogen
