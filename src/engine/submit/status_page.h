// The pages that an engine writes reports to: its global hardware status page and the page of the running context. The
// global page has a physical address on Gen4 and an address in the global table on later parts. The page of a context
// is in front of its image, except on the mobile Gen4.5 part, where it is behind the image: G45 PRM vol. 1b 2.10 (seed
// 003).
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

  explicit StatusPage(Engine& engine);

  // Write the global page.
  memory::AccessResult write(unsigned dword, uint32_t value);
  memory::AccessResult write64(unsigned dword, uint64_t value);
  // Write the page of the running context, or the global page if there is no such context.
  memory::AccessResult write_process(unsigned dword, uint32_t value);
  memory::AccessResult write_process64(unsigned dword, uint64_t value);
  // Returns whether head reports are written to the page of the context.
  bool reports_to_process() const { return process_page().has_value(); }
  std::optional<GgttOffset> process_page() const;

  void report_interrupts(uint32_t status) { static_cast<void>(write(kInterruptStatus, status)); }

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
