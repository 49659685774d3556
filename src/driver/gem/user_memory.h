// Access to memory of the calling program. A bad address is an error of the call and has no other effect. The calling
// program is this process, or another one whose call (foreign_call.h) brings copies of its memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halogen::driver {

bool read_user(uint64_t address, void* into, size_t bytes);
bool can_read_user(uint64_t address, uint64_t bytes);  // false: a read would fail; true: it may still fail
bool write_user(uint64_t address, const void* from, size_t bytes);
// Writes to this process's memory, which other threads may unmap meanwhile. False: it was not writable.
bool write_unsure(uint64_t address, const void* from, size_t bytes);

// Return whether every page of a range of this process exists, and whether it is also readable (and writable).
bool is_user_mapped(uint64_t address, uint64_t bytes);
bool can_use_user(uint64_t address, uint64_t bytes, bool write);

// Returns whether a program can have memory there.
bool is_user_range(uint64_t address, uint64_t bytes);

pid_t user_process();
bool is_own_process();  // the calling program is this process
// Returns whether the program has CAP_SYS_ADMIN, as far as this process has it.
bool may_administrate();
bool may_monitor();  // true: the program has CAP_PERFMON or CAP_SYS_ADMIN

// Copy between this process's memory and a file, for large amounts.
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
  if (!can_read_user(address, uint64_t{count} * sizeof(T))) return std::nullopt;
  std::vector<T> values(count);
  if (!read_user(address, values.data(), count * sizeof(T))) return std::nullopt;
  return values;
}

}  // namespace halogen::driver
