// Where a trace's bytes come from: a plain file, an .xz file (known by its first bytes, unpacked on the way) or memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace halogen::trace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` as far as bytes are left and says how many it wrote: less than asked for means the end.
  virtual Result<size_t> read(std::span<std::byte> out) = 0;
};

Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path);

// The same choice between plain and .xz, over bytes that the caller keeps alive.
std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes);

}  // namespace halogen::trace
