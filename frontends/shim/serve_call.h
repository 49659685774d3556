// One call of a client in the owner: from the bytes of a request, which are private to this process, to those of an
// answer. No data from the client is trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "driver/core/driver.h"
#include "driver/gem/foreign_call.h"

namespace halogen::shim {

class ServedCall {
 public:
  ServedCall() = default;
  ~ServedCall();  // closes the descriptors that the call made
  ServedCall(const ServedCall&) = delete;
  ServedCall& operator=(const ServedCall&) = delete;

  // Performs the request and writes the answer. `received`: the descriptors that came with the request, owned by the
  // caller. False: the bytes are not a request; nothing was done.
  bool perform(driver::Driver& driver, driver::File& file, const driver::ForeignCaller& caller,
               std::span<std::byte> request, std::span<const int> received, std::span<std::byte> answer);
  // Answers without a call.
  void fail(int error, std::span<std::byte> answer);

  size_t answer_bytes() const { return bytes_; }
  // Descriptors that belong to the answer, in its order.
  const std::vector<int>& made() const { return made_; }

 private:
  std::vector<driver::ForeignCall::Passed> passed_;
  std::optional<driver::ForeignCall> call_;
  int file_ = -1;  // of a mapping
  size_t bytes_ = 0;
  std::vector<int> made_;
};

}  // namespace halogen::shim
