// Where a trace's bytes come from: a plain file, an .xz file (known by its first bytes, unpacked on the way) or memory.
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

  // Fills `out` as far as bytes are left and says how many it wrote: less than asked for means the end.
  virtual Result<size_t> read(std::span<std::byte> out) = 0;

  // How far the file itself was used: of an .xz file, packed bytes. Sources that are no files stay at 0.
  virtual uint64_t position() const { return 0; }
};

Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path);

// The same choice between plain and .xz, over bytes that the caller keeps alive.
std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes);

// The whole rest of a source, at a dword boundary; the bytes behind `bytes` up to the next dword are zero.
struct Content {
  std::unique_ptr<uint32_t[]> dwords;
  size_t bytes = 0;

  std::span<const std::byte> as_bytes() const {
    return std::as_bytes(std::span(dwords.get(), (bytes + 3) / 4)).first(bytes);
  }
};

// `expected` bytes are read without growing; more than `limit` is an error. `name` opens every error sentence.
Result<Content> read_rest(ByteSource& source, size_t expected, size_t limit, const std::string& name);

}  // namespace halogen::trace
