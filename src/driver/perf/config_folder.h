// Metric sets as files, so that all processes of a run know the same ones: UUID/id, as in /sys, is what programs read,
// and a file in another folder has the values. A lock on a file beside them orders the processes that change sets.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver/queue/first_state.h"
#include "driver/share/lock_patience.h"

namespace halogen::driver {

class ConfigFolder {
 public:
  // Other processes can make any number of them, and each call looks at all.
  static constexpr size_t kMaxSets = 1024;
  template <class List>
  using Lists = std::array<List, 3>;
  using Values = std::vector<RegisterValue>;

  // Empty paths: nothing is stored.
  ConfigFolder(std::string ids, std::string registers) : ids_(std::move(ids)), registers_(std::move(registers)) {}
  bool is_used() const { return !ids_.empty(); }

  // Keeps other processes out. A process that keeps its lock too long is ignored.
  class Guard {
   public:
    explicit Guard(ConfigFolder& folder);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    int lock_ = -1;
  };

  std::map<uint32_t, std::string> list() const;  // uuids by number, kMaxSets at most
  bool load(const std::string& uuid, Lists<Values*> lists) const;
  bool store(uint32_t id, const std::string& uuid, Lists<const Values*> lists) const;
  void erase(const std::string& uuid) const;

 private:
  std::string registers_of(const std::string& uuid) const { return registers_ + "/" + uuid; }

  std::string ids_;
  std::string registers_;
  LockPatience patience_;
  LockPatience::Page known_;
};

}  // namespace halogen::driver
