#include "cpio.h"

#include <fmt/format.h>

namespace halogen::vm {

void CpioArchive::pad() {
  bytes_.resize((bytes_.size() + 3) / 4 * 4, '\0');
}

void CpioArchive::add(std::string_view path, uint32_t mode, std::string_view content) {
  const uint32_t fields[] = {next_inode_++,
                             mode,
                             0,
                             0,
                             1,
                             0,
                             static_cast<uint32_t>(content.size()),
                             0,
                             0,
                             0,
                             0,
                             static_cast<uint32_t>(path.size() + 1),
                             0};  // inode, mode, owner, group, links, time, size, devices, name, sum
  bytes_ += "070701";
  for (const uint32_t field : fields) bytes_ += fmt::format("{:08X}", field);
  bytes_ += path;
  bytes_ += '\0';
  pad();
  bytes_ += content;
  pad();
}

const std::string& CpioArchive::finish() {
  next_inode_ = 0;
  add("TRAILER!!!", 0, {});
  return bytes_;
}

}  // namespace halogen::vm
