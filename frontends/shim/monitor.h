// This process's view of the devices of the run: events of the PMU (perf_event_open(2) and its descriptors), and
// fdinfo of open nodes, in this process and others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "driver/perf/load_page.h"
#include "paths.h"
#include "pmu_group.h"

namespace halogen::shim {

// Arguments of perf_event_open(2).
struct EventArguments {
  uint64_t attributes = 0;
  pid_t process = 0;
  int cpu = 0;
  int leader = 0;
  unsigned long flags = 0;
};

class Monitor {
 public:
  // Returns the monitor of this process. Null: no device is configured, or its private folder cannot be used.
  static Monitor* get();

  // Returns a descriptor or a negative errno. No value: the event does not belong to the PMU.
  std::optional<int> open_event(const EventArguments& arguments);
  // Both return as the system call does, or a negative errno.
  ssize_t read_event(int descriptor, uint64_t address, size_t bytes);
  int control_event(int descriptor, unsigned long request, uint64_t argument);

  // Returns a descriptor of the text behind a path of fdinfo. No value: it is not that of a node.
  std::optional<int> open_info(const std::string& path, int flags);
  // Returns the kind of node behind a file of any process.
  std::optional<NodeKind> node(const driver::FileKey& file) const;

 private:
  Monitor(const spec::DeviceModel& model, std::shared_ptr<driver::LoadBoard> board)
      : model_(model), board_(std::move(board)), groups_(model, *board_) {}
  int check_attributes(const perf_event_attr& attributes) const;
  int check_target(const perf_event_attr& attributes, const EventArguments& arguments) const;

  const spec::DeviceModel& model_;
  std::shared_ptr<driver::LoadBoard> board_;
  PmuGroup groups_;
};

// Performs read(2) on an event, including errno.
ssize_t read_event(int descriptor, void* into, size_t bytes);

}  // namespace halogen::shim
