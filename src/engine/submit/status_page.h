// The pages that an engine reports to: its global hardware status page and the page of the running context. Gen4 has
// the first at a physical address, later parts in the global table. The second lies in front of a context's image, on
// the mobile Gen4.5 part behind it (seed 003 2.10).
#pragma once

#include <cstdint>
#include <optional>

#include "base/strong.h"
#include "memory/access.h"

namespace halogen::engine {

class Engine;

class StatusPage {
 public:
  static constexpr unsigned kDwords = 1024;
  static constexpr unsigned kInterruptStatus = 0;
  static constexpr unsigned kRingHead = 4;

  explicit StatusPage(Engine& engine) : engine_(engine) {}

  // The global page.
  memory::AccessResult write(unsigned dword, uint32_t value);
  memory::AccessResult write64(unsigned dword, uint64_t value);
  // The page of the running context; the global one where there is none.
  memory::AccessResult write_process(unsigned dword, uint32_t value);
  memory::AccessResult write_process64(unsigned dword, uint64_t value);
  // Head reports go to the page of the context.
  bool reports_to_process() const { return process_page().has_value(); }
  std::optional<GgttOffset> process_page() const;

  void report_interrupts(uint32_t status) { static_cast<void>(write(kInterruptStatus, status)); }

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
