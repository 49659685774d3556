#include "base/fidelity.h"

#include <fmt/format.h>

#include <array>

#include "base/json.h"

namespace halogen {

std::string_view name_of(FidelityKind kind) {
  switch (kind) {
    case FidelityKind::command:
      return "commands";
    case FidelityKind::instruction:
      return "instructions";
    case FidelityKind::message:
      return "messages";
    case FidelityKind::reg:
      return "registers";
    case FidelityKind::field:
      return "fields";
  }
  return "invalid";
}

std::string_view name_of(FidelityClass fidelity) {
  switch (fidelity) {
    case FidelityClass::exact:
      return "exact";
    case FidelityClass::approximate:
      return "approximate";
    case FidelityClass::unsupported:
      return "unsupported";
  }
  return "invalid";
}

void FidelityReport::touch(FidelityKind kind, std::string_view name, FidelityClass fidelity, std::string_view reason,
                           uint64_t count) {
  Entry& entry = entries_[Key(kind, name)];
  if (fidelity > entry.fidelity || (entry.count == 0 && fidelity == entry.fidelity)) {
    entry.fidelity = fidelity;
    entry.reason = reason;
  }
  entry.count += count;
}

void FidelityReport::merge(const FidelityReport& other) {
  for (const auto& [key, entry] : other.entries_) {
    touch(key.first, key.second, entry.fidelity, entry.reason, entry.count);
  }
}

uint64_t FidelityReport::total(FidelityClass fidelity) const {
  uint64_t total = 0;
  for (const auto& [key, entry] : entries_) {
    total += entry.fidelity == fidelity ? 1 : 0;
  }
  return total;
}

std::string FidelityReport::to_json(std::string_view device) const {
  std::string out = fmt::format("{{\"device\":{},\"summary\":{{\"exact\":{},\"approximate\":{},\"unsupported\":{}}}",
                                json_quote(device), total(FidelityClass::exact), total(FidelityClass::approximate),
                                total(FidelityClass::unsupported));
  constexpr std::array kKinds{FidelityKind::command, FidelityKind::instruction, FidelityKind::message,
                              FidelityKind::reg, FidelityKind::field};
  for (const FidelityKind kind : kKinds) {
    out += fmt::format(",\"{}\":[", name_of(kind));
    bool first = true;
    for (const auto& [key, entry] : entries_) {
      if (key.first != kind) {
        continue;
      }
      out += fmt::format("{}{{\"name\":{},\"count\":{},\"class\":\"{}\"", first ? "" : ",", json_quote(key.second),
                         entry.count, name_of(entry.fidelity));
      if (!entry.reason.empty()) {
        out += fmt::format(",\"reason\":{}", json_quote(entry.reason));
      }
      out += "}";
      first = false;
    }
    out += "]";
  }
  out += "}\n";
  return out;
}

}  // namespace halogen
