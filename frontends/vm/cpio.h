// Archives in the format of the Linux initramfs ("newc").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halogen::vm {

class CpioArchive {
 public:
  void add_folder(std::string_view path) { add(path, kFolder | 0755, {}); }
  void add_file(std::string_view path, std::string_view content, bool executable) {
    add(path, kFile | (executable ? 0755u : 0644u), content);
  }
  // Returns the complete archive; nothing can be added afterwards.
  const std::string& finish();

 private:
  static constexpr uint32_t kFolder = 0040000;
  static constexpr uint32_t kFile = 0100000;

  void add(std::string_view path, uint32_t mode, std::string_view content);
  void pad();

  std::string bytes_;
  uint32_t next_inode_ = 1;
};

}  // namespace halogen::vm
