// The work of a run's devices, as monitors see it: totals of all devices, and the times of each open node. All
// processes of the run map one file of its private folder. Only the user of the run can write it, and that user could
// end or debug the processes anyway. No value in it is used as an address, a length or an unchecked index.
//
// Times are nanoseconds of the devices' load clocks (load_clock.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "driver/gem/file_key.h"

namespace halogen::driver {

inline constexpr size_t kUserClasses = 5;    // of engines, as the user interface numbers them
inline constexpr size_t kUserInstances = 4;  // of a class, at most

struct EngineLoad {
  std::atomic<uint64_t> busy{0};
  std::atomic<uint64_t> waits_for_event{0};
  std::atomic<uint64_t> waits_for_signal{0};
};

// An open node. The process that sets `process` from 0 owns the slot.
struct ClientSlot {
  std::atomic<int32_t> process{0};  // that has the device; 0: the slot is free
  std::atomic<uint32_t> minor{0};
  std::atomic<uint64_t> device{0};  // the file behind the program's descriptors
  std::atomic<uint64_t> inode{0};
  std::atomic<uint64_t> id{0};  // written last; 0: not complete
  std::array<std::atomic<uint64_t>, kUserClasses> busy{};
};

struct LoadPage {
  static constexpr size_t kClients = 1024;

  std::atomic<uint64_t> last_id{0};
  std::atomic<uint64_t> interrupts{0};
  std::atomic<uint64_t> awake_ns{0};  // a device had work
  std::array<std::array<EngineLoad, kUserInstances>, kUserClasses> engines{};
  std::array<ClientSlot, kClients> clients{};
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The times of an open node, as a monitor sees them.
struct ClientTimes {
  uint64_t id = 0;
  uint32_t minor = 0;
  std::array<uint64_t, kUserClasses> busy{};
};

// The file, mapped.
class LoadBoard {
 public:
  // Creates the file at its first use. Null: the host refused, or the file belongs to another user.
  static std::shared_ptr<LoadBoard> open(const std::string& path);
  ~LoadBoard();
  LoadBoard(const LoadBoard&) = delete;
  LoadBoard& operator=(const LoadBoard&) = delete;

  LoadPage& page() { return *page_; }
  // Returns the times of an open node by the file behind its descriptors, of whichever process. No value: not a node,
  // or the process that had the device has ended.
  std::optional<ClientTimes> find(const FileKey& file) const;
  // Returns the host's time, CLOCK_MONOTONIC, by which monitors measure.
  static uint64_t now_ns();
  // Null: all slots are in use.
  ClientSlot* take_slot(const FileKey& file, uint32_t minor);

 private:
  explicit LoadBoard(LoadPage* page) : page_(page) {}
  LoadPage* page_;
};

}  // namespace halogen::driver
