// The pages that an engine reports to: its global hardware status page and the page in front of a context's image.
// Gen4 has the page at a physical address, later parts in the global table.
#pragma once

#include <cstdint>

namespace halogen::engine {

class Engine;

class StatusPage {
 public:
  static constexpr unsigned kDwords = 1024;

  explicit StatusPage(Engine& engine) : engine_(engine) {}

  // The global page. False: stopped by a fault.
  bool write(unsigned dword, uint32_t value);
  bool write64(unsigned dword, uint64_t value);
  // The page of the running context.
  bool write_process(unsigned dword, uint32_t value);

  void report_interrupts(uint32_t status) { write(0, status); }

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
