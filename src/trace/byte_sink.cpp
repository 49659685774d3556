#include "trace/byte_sink.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace halogen::trace {
namespace {

class FileSink final : public ByteSink {
 public:
  FileSink(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    return std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size() ? Result<void>{} : failed();
  }
  Result<void> flush() override { return std::fflush(file_.get()) == 0 ? Result<void>{} : failed(); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Result<void> failed() const {
    return Error{fmt::format("{}: cannot write the file: {}.", name_, std::strerror(errno))};
  }

  std::unique_ptr<std::FILE, Close> file_;
  std::string name_;
};

Result<std::unique_ptr<ByteSink>> create(const std::filesystem::path& path, const char* mode) {
  std::FILE* const file = std::fopen(path.c_str(), mode);
  if (file == nullptr) {
    return Error{fmt::format("{}: cannot create the file: {}.", path.string(), std::strerror(errno))};
  }
  return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(file, path.string()));
}

}  // namespace

Result<std::unique_ptr<ByteSink>> create_file(const std::filesystem::path& path) {
  return create(path, "wb");
}

Result<std::unique_ptr<ByteSink>> create_new_file(const std::filesystem::path& path) {
  return create(path, "wbx");
}

}  // namespace halogen::trace
