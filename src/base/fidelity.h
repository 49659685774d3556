// The features that a run used, and how exactly they are modelled: every command, instruction, message and register,
// with a count and a class. Its JSON form is the report of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace halogen {

// A field is listed if a guest has set it and the model ignores it.
enum class FidelityKind : uint8_t { command, instruction, message, reg, field };
enum class FidelityClass : uint8_t { exact, approximate, unsupported };

std::string_view name_of(FidelityKind kind);
std::string_view name_of(FidelityClass fidelity);

class FidelityReport {
 public:
  struct Entry {
    uint64_t count = 0;
    FidelityClass fidelity = FidelityClass::exact;
    std::string reason;  // never empty when the class is approximate
  };
  using Key = std::pair<FidelityKind, std::string>;

  // Adds a use. The worst class of a name is kept, with its reason.
  void touch(FidelityKind kind, std::string_view name, FidelityClass fidelity, std::string_view reason = {},
             uint64_t count = 1);
  void merge(const FidelityReport& other);

  const std::map<Key, Entry>& entries() const { return entries_; }
  uint64_t total(FidelityClass fidelity) const;  // distinct names of that class

  // Returns {"device":..., "summary":{"exact":N,...}, "commands":[{"name":...,"count":...,"class":...,"reason":...}],
  // ...}.
  std::string to_json(std::string_view device) const;

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace halogen
