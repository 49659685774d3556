// Fetches the commands of a streamer: from the address spaces of its rings and batch buffers, or from physical memory
// on Gen4. The result is memory in place, so a stream sees the latest write; CommandStream copies each command from it.
// Hardware may have older dwords in its prefetch buffer (option `prefetch_lines`).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/graphics_address.h"
#include "engine/services.h"
#include "engine/stream/command_stream.h"

namespace halogen::engine {

class PreParser;

class Fetch final : public CommandMemory {
 public:
  explicit Fetch(Services& services) : services_(services) {}

  // Returns zeros where a fault was skipped, so the streamer parses MI_NOOP there. Empty: a fault stopped the engine,
  // or an unmapped page did on a chip without a fault model; result() says which.
  std::span<const uint32_t> dwords_at(StreamSpace space, GpuVa address) override;

  // Returns the result of the last dwords_at().
  memory::AccessResult result() const { return result_; }

  // Models a read ahead of a command of a batch by touching the last prefetched line: a missing page faults there too.
  void read_ahead(StreamSpace space, GpuVa address);

  // Sets whether an unmapped page stops the stream. It does on the first chips, which have no fault model.
  void set_stops_at_holes(bool stops) { stops_at_holes_ = stops; }
  // Sets how many cache lines hardware reads ahead of the parser. Later changes of those lines are missed. 0: no
  // read-ahead.
  void set_prefetch_lines(unsigned lines) { prefetch_lines_ = lines; }
  // Sets the pre-parser, which extends the read-ahead over starts and ends of batch buffers.
  void set_preparser(PreParser& preparser) { preparser_ = &preparser; }

 private:
  static constexpr size_t kPageDwords = 1024;
  static constexpr size_t kLineDwords = 16;
  static constexpr unsigned kMaxPrefetchLines = 8;

  struct Page {
    std::span<const std::byte> bytes;  // from the address on
    memory::AccessResult result = memory::AccessResult::ok;
  };
  Page page_at(StreamSpace space, GpuVa address);

  Services& services_;
  memory::AccessResult result_ = memory::AccessResult::ok;
  bool stops_at_holes_ = false;
  unsigned prefetch_lines_ = 0;
  PreParser* preparser_ = nullptr;
  std::array<uint32_t, kLineDwords * kMaxPrefetchLines> prefetched_{};
};

}  // namespace halogen::engine
