#include "trace/byte_source.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace halogen::trace {
namespace {

constexpr size_t kChunkBytes = 64 * 1024;
constexpr uint64_t kLzmaMemoryLimit = 256u << 20;  // four times the need of xz -9
constexpr std::array<unsigned char, 6> kXzMagic{0xfd, '7', 'z', 'X', 'Z', 0x00};

class FileSource final : public ByteSource {
 public:
  FileSource(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  Result<size_t> read(std::span<std::byte> out) override {
    const size_t kept = std::min(out.size(), kept_.size());
    std::copy_n(kept_.begin(), kept, out.begin());
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(kept));
    out = out.subspan(kept);
    const size_t got = out.empty() ? 0 : std::fread(out.data(), 1, out.size(), file_.get());
    if (got < out.size() && std::ferror(file_.get()) != 0) {
      return Error{fmt::format("{}: cannot read the file: {}.", name_, std::strerror(errno))};
    }
    position_ += kept + got;
    return kept + got;
  }
  uint64_t position() const override { return position_; }

  // Returns bytes to the source after they were examined, because a pipe cannot seek.
  void put_back(std::span<const std::byte> bytes) {
    kept_.assign(bytes.begin(), bytes.end());
    position_ -= bytes.size();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string name_;
  std::vector<std::byte> kept_;
  uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<size_t> read(std::span<std::byte> out) override {
    const size_t count = std::min(out.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, out.begin());
    bytes_ = bytes_.subspan(count);
    position_ += count;
    return count;
  }
  uint64_t position() const override { return position_; }

 private:
  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

class LzmaSource final : public ByteSource {
 public:
  LzmaSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kChunkBytes) {
    status_ = lzma_stream_decoder(&stream_, kLzmaMemoryLimit, LZMA_CONCATENATED);
  }
  ~LzmaSource() override { lzma_end(&stream_); }
  LzmaSource(const LzmaSource&) = delete;
  LzmaSource& operator=(const LzmaSource&) = delete;

  Result<size_t> read(std::span<std::byte> out) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (status_ == LZMA_OK && stream_.avail_out != 0) {
      if (stream_.avail_in == 0 && !input_ended_) {
        auto got = packed_->read(input_);
        if (!got) return got.error();
        stream_.next_in = reinterpret_cast<const uint8_t*>(input_.data());
        stream_.avail_in = *got;
        input_ended_ = *got < input_.size();
      }
      status_ = lzma_code(&stream_, input_ended_ ? LZMA_FINISH : LZMA_RUN);
    }
    if (status_ != LZMA_OK && status_ != LZMA_STREAM_END) {
      return Error{
          fmt::format("{}: the .xz data is {} at unpacked byte {:#x}.", name_, what(status_), stream_.total_out)};
    }
    return out.size() - stream_.avail_out;
  }
  uint64_t position() const override { return packed_->position() - stream_.avail_in; }

 private:
  static const char* what(lzma_ret status) {
    return status == LZMA_MEMLIMIT_ERROR ? "beyond the memory limit" : status == LZMA_BUF_ERROR ? "cut off" : "corrupt";
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<std::byte> input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_ret status_ = LZMA_OK;
  bool input_ended_ = false;
};

bool is_xz(std::span<const std::byte> head) {
  return head.size() >= kXzMagic.size() && std::memcmp(head.data(), kXzMagic.data(), kXzMagic.size()) == 0;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{fmt::format("{}: a folder, not a file.", name)};
  }
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (file == nullptr) {
    return Error{fmt::format("{}: cannot open the file: {}.", name, std::strerror(errno))};
  }
  auto source = std::make_unique<FileSource>(file, name);
  std::array<std::byte, kXzMagic.size()> head{};
  auto got = source->read(head);
  if (!got) return got.error();
  source->put_back(std::span(head).first(*got));
  if (is_xz(std::span(head).first(*got))) {
    return std::unique_ptr<ByteSource>(std::make_unique<LzmaSource>(std::move(source), name));
  }
  return std::unique_ptr<ByteSource>(std::move(source));
}

std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes) {
  auto source = std::make_unique<MemorySource>(bytes);
  if (is_xz(bytes)) return std::make_unique<LzmaSource>(std::move(source), "memory");
  return source;
}

Result<Content> read_rest(ByteSource& source, size_t expected, size_t limit, const std::string& name) {
  constexpr size_t kDword = sizeof(uint32_t);
  size_t capacity = std::max(expected + kDword, kChunkBytes) / kDword + 1;
  Content content{std::make_unique_for_overwrite<uint32_t[]>(capacity), 0};
  for (;;) {
    auto room = std::as_writable_bytes(std::span(content.dwords.get(), capacity)).subspan(content.bytes);
    auto got = source.read(room);
    if (!got) return got.error();
    content.bytes += *got;
    if (*got < room.size()) {
      std::fill_n(room.begin() + static_cast<std::ptrdiff_t>(*got), std::min(room.size() - *got, kDword), std::byte{0});
      return content;
    }
    if (content.bytes > limit) return Error{fmt::format("{}: too long: more than {} bytes.", name, limit)};
    auto larger = std::make_unique_for_overwrite<uint32_t[]>(capacity * 2);
    std::copy_n(content.dwords.get(), capacity, larger.get());
    content.dwords = std::move(larger);
    capacity *= 2;
  }
}

}  // namespace halogen::trace
