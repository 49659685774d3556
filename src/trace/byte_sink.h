// The destination of a new trace: a file or memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace halogen::trace {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  // Makes everything written so far visible to other processes.
  virtual Result<void> flush() = 0;
};

Result<std::unique_ptr<ByteSink>> create_file(const std::filesystem::path& path);  // replaces a file that exists
// Creates a file under a free name. An error: a file or a link has it.
Result<std::unique_ptr<ByteSink>> create_new_file(const std::filesystem::path& path);

class MemorySink final : public ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<void> flush() override { return {}; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace halogen::trace
