// Plays a hostile trace on a small simulator with short work, and then plays its recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/aub_reader.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::fuzz {

// The first byte selects the device; the rest is the trace. Returns the number of records that were played the first
// time.
inline uint64_t aub_play(std::span<const uint8_t> data) {
  if (data.empty()) return 0;
  const auto models = spec::device_models();
  const auto play = [&](std::span<const std::byte> bytes, trace::aub::Writer* writer) {
    const auto source = trace::open_memory(bytes);
    trace::aub::Reader reader(*source, "fuzz");
    trace::PageBudget budget(4096);
    trace::Player player(&models[data[0] % models.size()]);
    player.set_settle_limit(20'000);
    player.set_budget(&budget);
    if (writer != nullptr) player.record_to(writer);
    static_cast<void>(reader.read_all(player));
    player.finish();
    if (player.simulator() != nullptr) static_cast<void>(player.simulator()->memory_hash());
    return player.counts().records;
  };
  trace::MemorySink sink;
  trace::aub::Writer writer(sink);
  const uint64_t records = play(std::as_bytes(data.subspan(1)), &writer);
  static_cast<void>(writer.finish());
  play(sink.bytes(), nullptr);
  return records;
}

}  // namespace halogen::fuzz
