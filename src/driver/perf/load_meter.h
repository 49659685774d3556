// Publishes what a device does for the monitors of the run (load_page.h). Called with the driver's lock held.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "driver/hw/gpu.h"
#include "driver/perf/client_load.h"

namespace halogen::driver {

class LoadMeter {
 public:
  // `path`: of the file; empty: there are no monitors. `host_clock`: empty: CLOCK_MONOTONIC.
  LoadMeter(Gpu& gpu, const std::string& path, std::function<uint64_t()> host_clock);

  // Returns the account of a new node. Null: there are no monitors.
  std::shared_ptr<ClientLoad> add_client(const FileKey& file, uint32_t minor);
  // Publishes what happened since the last call.
  void update();

 private:
  void update_engine(const OfferedEngine& engine);

  Gpu& gpu_;
  std::shared_ptr<LoadBoard> board_;
  std::array<std::array<engine::TimeSpent, kUserInstances>, kUserClasses> told_{};
  uint64_t interrupts_told_ = 0;
  uint64_t awake_told_ = 0;
  LoadClock::Point told_at_;
};

}  // namespace halogen::driver
