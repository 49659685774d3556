// Memory of the program that calls: whatever address it gives, a wrong one is an error of the call and nothing else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halogen::driver {

// Whose memory it is, for calls of this thread as long as this lives; without: this process's.
class UserProcess {
 public:
  explicit UserProcess(pid_t process);
  ~UserProcess();
  UserProcess(const UserProcess&) = delete;
  UserProcess& operator=(const UserProcess&) = delete;

 private:
  pid_t before_;
};

bool read_user(uint64_t address, void* into, size_t bytes);
bool write_user(uint64_t address, const void* from, size_t bytes);

// Of this process: whether every page of a range is there; and whether it may be read (and written), too.
bool is_user_mapped(uint64_t address, uint64_t bytes);
bool can_use_user(uint64_t address, uint64_t bytes, bool write);

// Whether a program can have memory there at all.
bool is_user_range(uint64_t address, uint64_t bytes);

pid_t user_process();
bool is_own_process();  // the program is this process
// Whether the program may do what administrators may (CAP_SYS_ADMIN), as far as this process may itself.
bool may_administrate();

// Between this process's memory and a file, for much at a time.
bool read_user_to_file(uint64_t address, int descriptor, uint64_t offset, size_t bytes);
bool write_user_from_file(uint64_t address, int descriptor, uint64_t offset, size_t bytes);

template <class T>
std::optional<T> read_user(uint64_t address) {
  T value{};
  if (!read_user(address, &value, sizeof value)) return std::nullopt;
  return value;
}
template <class T>
std::optional<std::vector<T>> read_user_array(uint64_t address, size_t count) {
  std::vector<T> values(count);
  if (!read_user(address, values.data(), count * sizeof(T))) return std::nullopt;
  return values;
}

}  // namespace halogen::driver
