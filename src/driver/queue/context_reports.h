// What an engine with execlists reports of the contexts that it takes and leaves: its context status buffer, as it
// lies in the status page. Left out: why a context was left; this driver lets none wait.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/hw/global_table.h"

namespace halogen::driver {

enum class ContextReport : uint8_t {
  taken,  // what was submitted last is what the engine works on now
  left,   // the first context of it is done; the engine goes on with the next
};

class ContextReports {
 public:
  ContextReports(Hardware& hardware, const spec::EngineModel& engine, KernelMemory page);

  uint64_t address() const { return page_.address(); }  // of the status page
  void start();                                         // the engine is new, or was reset
  std::vector<ContextReport> read();                    // what came since the last time

 private:
  ContextReport report_at(uint32_t entry) const;
  void set_pointers(uint32_t which, uint32_t write, uint32_t read);

  Hardware& hardware_;
  const spec::EngineModel& engine_;
  KernelMemory page_;
  uint32_t first_byte_ = 0;  // of the reports
  uint32_t entries_ = 1;
  uint32_t index_byte_ = 0;  // of the last report's number
  bool names_both_ = false;  // contexts that came and went, instead of flags
  uint32_t seen_ = 0;
};

}  // namespace halogen::driver
