// The source of a trace's bytes: a plain file, an .xz file (recognised by its first bytes, decompressed on the fly) or
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace halogen::trace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` and returns the number of bytes written. Less than requested: the end.
  virtual Result<size_t> read(std::span<std::byte> out) = 0;

  // Returns the position in the file, in compressed bytes for .xz. 0 for sources that are not files.
  virtual uint64_t position() const { return 0; }
};

Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path);

// Opens bytes in memory, plain or .xz, which the caller keeps alive.
std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes);

// The remaining bytes of a source, dword-aligned; the bytes after `bytes` up to the next dword are zero.
struct Content {
  std::unique_ptr<uint32_t[]> dwords;
  size_t bytes = 0;

  std::span<const std::byte> as_bytes() const {
    return std::as_bytes(std::span(dwords.get(), (bytes + 3) / 4)).first(bytes);
  }
};

// Reads all remaining bytes. `expected` is the initial capacity; more than `limit` bytes are an error. `name` starts
// every error message.
Result<Content> read_rest(ByteSource& source, size_t expected, size_t limit, const std::string& name);

}  // namespace halogen::trace
