// Records what a guest does with its device as an AUB trace. A second device, as a replay will have it, lives through
// the same (trace/machine.h): what the trace must hold is what that one would miss. Pages of the guest are written into
// the trace when the device is about to touch them and they differ from what the second device has; registers when the
// guest writes them, after the work that they start is done. While recording, that is before the guest goes on, so that
// no work sees memory change under it.
//
// Left out: tiled views of the aperture are recorded as the pages they end in; work that never ends is run for a tenth
// of a second of virtual time at every access, so traces of hangs take long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/device_model.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/machine.h"

namespace halogen::vm {

struct RecordedRun {
  uint64_t memory_hash = 0;  // of all memory, as a replay gives it
  uint64_t commands = 0;     // that a replay executes
};

// Executed by all engines.
uint64_t commands_of(Device& device);

class Recorder {
 public:
  // `table_enabled`, `local_tables`: as the device's options say.
  static Result<std::unique_ptr<Recorder>> create(const spec::DeviceModel& model, std::unique_ptr<trace::ByteSink> sink,
                                                  bool table_enabled, bool local_tables,
                                                  std::string_view text = "halogen vm");

  // The device looks at a page of the guest's for the first time; the bytes stay where they are.
  void on_page(uint64_t address, std::span<const std::byte> bytes);
  void before_write(unsigned bar, uint64_t offset);
  void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);
  void after_config_write(uint32_t offset, unsigned bytes, uint32_t value);
  void after_reset();  // of the whole function; a trace has no word for it: engines are reset as a driver would
  void pass(uint64_t nanoseconds);

  // The trace is whole up to here.
  Result<RecordedRun> finish();

 private:
  Recorder() = default;

  void catch_up();  // with what the guest wrote
  void catch_up(uint64_t address, std::span<const std::byte> bytes);
  void enable_local_tables();

  std::unique_ptr<trace::ByteSink> sink_;
  std::unique_ptr<trace::aub::Writer> writer_;
  std::unique_ptr<trace::Machine> machine_;
  std::map<uint64_t, std::span<const std::byte>> pages_;
  std::optional<unsigned> local_bar_;
  bool table_enabled_ = false;
  bool local_tables_ = false;
};

}  // namespace halogen::vm
