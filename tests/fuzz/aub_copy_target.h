// Any trace that the reader accepts is written and read again. The copy must hold the same records, and a copy of the
// copy must have the same bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "trace/aub_reader.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/byte_source.h"

namespace halogen::fuzz {

inline void aub_copy(std::span<const uint8_t> data) {
  using namespace trace;
  const auto copy = [](std::span<const std::byte> bytes, MemorySink& sink) {
    const auto source = open_memory(bytes);
    aub::Reader reader(*source, "fuzz");
    aub::Writer writer(sink);
    const auto read = reader.read_all(writer);
    if (!writer.finish().ok()) std::abort();
    return read.ok();
  };
  MemorySink first;
  if (!copy(std::as_bytes(data), first)) return;
  MemorySink second;
  if (!copy(first.bytes(), second)) std::abort();
  if (!std::ranges::equal(first.bytes(), second.bytes())) std::abort();
}

}  // namespace halogen::fuzz
