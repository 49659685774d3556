// Publishes what a device does for the monitors of the run (load_page.h). Called with the driver's lock held.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "driver/hw/gpu.h"
#include "driver/perf/client_load.h"

namespace halogen::driver {

class LoadMeter {
 public:
  // `path`: of the file; empty: there are no monitors. `start_ns`: CLOCK_MONOTONIC when the device's clock was 0.
  LoadMeter(Gpu& gpu, const std::string& path, uint64_t start_ns)
      : gpu_(gpu), board_(LoadBoard::open(path)), start_ns_(start_ns) {}

  // Returns the account of a new node. Null: there are no monitors.
  std::shared_ptr<ClientLoad> add_client(const FileKey& file, uint32_t minor);
  // Publishes what happened since the last call.
  void update();

 private:
  void update_engine(const OfferedEngine& engine);
  void update_ahead();

  Gpu& gpu_;
  std::shared_ptr<LoadBoard> board_;
  uint64_t start_ns_;
  std::array<std::array<engine::TimeSpent, kUserInstances>, kUserClasses> told_{};
  uint64_t interrupts_told_ = 0;
  uint64_t awake_told_ = 0;
  uint64_t host_seen_ = 0;  // CLOCK_MONOTONIC as read last
};

}  // namespace halogen::driver
