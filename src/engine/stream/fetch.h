// Where a streamer's commands come from: the spaces of its rings and batch buffers, or physical memory on Gen4.
// Commands are read where they lie, so a stream always sees what was written last; hardware may have older dwords in
// its prefetch buffer (option `prefetch_lines`).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bits.h"
#include "engine/services.h"
#include "engine/stream/command_stream.h"

namespace halogen::engine {

// Addresses in commands and in the registers of a stream have 48 bits. Above them stand copies of bit 47, or zeros:
// clients write both forms of one address. Other bits there stay, and the walk refuses them.
constexpr GpuVa canonical(GpuVa address) {
  constexpr unsigned kBits = 48;
  return address.value >> kBits == 0 ? GpuVa{static_cast<uint64_t>(sign_extend(address.value, kBits))} : address;
}

class PreParser;

class Fetch final : public CommandMemory {
 public:
  explicit Fetch(Services& services) : services_(services) {}

  // Returns zeros where a fault was skipped: the streamer parses MI_NOOP there. Empty: a fault stops the engine, or a
  // hole where that stops it; result() says which.
  std::span<const uint32_t> dwords_at(StreamSpace space, GpuVa address) override;

  // Returns the result of the last dwords_at().
  memory::AccessResult result() const { return result_; }

  // Hardware has read as far as this ahead of a command of a batch: a page that is missing there faults all the same.
  void read_ahead(StreamSpace space, GpuVa address);

  // The first chips have no fault model: without a page there is nothing to parse.
  void set_stops_at_holes(bool stops) { stops_at_holes_ = stops; }
  // Hardware may read this many cache lines ahead of the parser and miss later changes of them. 0: never.
  void set_prefetch_lines(unsigned lines) { prefetch_lines_ = lines; }
  // ... and goes over the starts and ends of batch buffers while it does.
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
