// Runs any bits as a kernel, once with the specialised routines and once without. Both runs must end with the same
// thread state, and the lowered code must keep its invariants. The first bytes choose generation, float modes and
// channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "eu/exec/executor.h"
#include "eu/ir/verify.h"
#include "eu/isa/decoder.h"
#include "gen/eu_rules.h"

namespace halogen::fuzz {

class DecodedCode final : public eu::CodeSource {
 public:
  DecodedCode(spec::GenId gen, std::span<const uint8_t> bytes) : gen_(gen), bytes_(bytes.begin(), bytes.end()) {}
  std::optional<eu::Instruction> at(uint32_t offset) const override {
    if (offset >= bytes_.size()) {
      return std::nullopt;
    }
    const eu::Decoded decoded = eu::decode(gen_, std::as_bytes(std::span(bytes_)).subspan(offset));
    eu::Instruction in = decoded.instruction;
    if (!decoded.ok()) {
      in = eu::Instruction{};
    }
    return in;
  }

 private:
  spec::GenId gen_;
  std::vector<uint8_t> bytes_;
};

// Writes a response that depends on the message.
class Echo final : public eu::MessageTarget {
 public:
  eu::SendOutcome send(eu::Thread&, const eu::Message& message) override {
    unsigned sum = message.descriptor + message.channels;
    for (const std::byte byte : message.first) {
      sum = sum * 31 + static_cast<unsigned>(byte);
    }
    for (const std::byte byte : message.second) {
      sum = sum * 31 + static_cast<unsigned>(byte);
    }
    for (std::byte& byte : message.response) {
      byte = static_cast<std::byte>(sum);
      sum = sum * 1103515245 + 12345;
    }
    return eu::SendOutcome::done;
  }
};

inline void eu_kernel(std::span<const uint8_t> data) {
  constexpr size_t kHeader = 8;
  constexpr uint64_t kBudget = 400;
  if (data.size() < kHeader) {
    return;
  }
  const auto gen = static_cast<spec::GenId>(data[0] % spec::kGenCount);
  eu::Thread start;
  std::memcpy(&start.control[0], data.data() + 1, 2);
  uint32_t mask = 0;
  std::memcpy(&mask, data.data() + 4, sizeof(mask));
  const auto code = std::make_shared<DecodedCode>(gen, data.subspan(kHeader));
  // Fill the registers with repetitions of the code.
  for (size_t i = 0; i < start.grf.size(); ++i) {
    start.grf[i] = static_cast<std::byte>(data[i % data.size()]);
  }
  start.flag = {mask * 2654435761u, ~mask};
  start.start(0, mask);
  const std::string broken = eu::ir::verify(eu::ir::BlockList(*code, 0, eu_rules(gen)));
  check(broken.empty(), broken);
  std::vector<eu::Thread> ends;
  for (const bool only_generic : {false, true}) {
    const auto executor = eu::make_interpreter(gen, {.only_generic = only_generic});
    const auto kernel = executor->prepare(code, 0);
    eu::Thread thread = start;
    Echo echo;
    executor->run(thread, *kernel, kBudget, echo);
    check(thread.instructions <= kBudget, "a thread executes at most its budget");
    ends.push_back(thread);
  }
  check(ends[0] == ends[1], "specialised and general routines end with the same thread");
}

}  // namespace halogen::fuzz
