// The context status buffer in the status page, in which an engine with execlists reports the contexts that it switches
// to and from. Not read: the reason of a switch, because contexts of this driver never wait.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/hw/global_table.h"

namespace halogen::driver {

enum class ContextReport : uint8_t {
  taken,  // the engine has switched to the last submission
  left,   // the first context of the submission is done; the engine runs the next
};

class ContextReports {
 public:
  ContextReports(Hardware& hardware, const spec::EngineModel& engine, PinnedMemory page);

  uint64_t address() const { return page_.address(); }  // of the status page
  void start();                                         // call after start-up and after a reset
  std::vector<ContextReport> read();                    // reports since the last call

 private:
  ContextReport report_at(uint32_t entry) const;
  void set_pointers(uint32_t which, uint32_t write, uint32_t read);

  Hardware& hardware_;
  const spec::EngineModel& engine_;
  PinnedMemory page_;
  uint32_t first_byte_ = 0;  // offset of the reports
  uint32_t entries_ = 1;
  uint32_t index_byte_ = 0;  // offset of the index of the last report
  bool names_both_ = false;  // reports name the new and the old context instead of flags
  uint32_t seen_ = 0;
};

}  // namespace halogen::driver
