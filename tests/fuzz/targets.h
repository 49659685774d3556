// The bodies of the fuzz targets. A unit test calls them with the inputs of former findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "decode/aub_decoder.h"
#include "decode/decoder.h"
#include "trace/aub_reader.h"
#include "trace/capture.h"

namespace halogen::fuzz {

constexpr uint64_t kCommands = 4096;  // per stream, because variety matters more than length

// A whole trace: reader, memory, submissions, and every command printed.
inline void aub(std::span<const uint8_t> data) {
  const auto source = trace::open_memory(std::as_bytes(data));
  trace::aub::Reader reader(*source, "fuzz");
  decode::AubDecoder decoder(nullptr, [](const decode::RegisterNames& names) {
    return decode::make_text_output([](std::string_view) { return true; }, {}, &names);
  });
  decoder.set_command_limit(kCommands);
  while (decoder.wants_more()) {
    const auto more = reader.next(decoder);
    if (!more || !*more) return;
  }
}

// The first two bytes select device and engine. The rest is a batch that may jump into itself.
inline void walker(std::span<const uint8_t> data) {
  if (data.size() < 2) return;
  const auto devices = spec::device_models();
  const spec::DeviceModel& device = devices[data[0] % devices.size()];
  const auto engine = static_cast<spec::EngineClass>(data[1] % spec::kEngineClassCount);
  data = data.subspan(2);
  std::vector<uint32_t> dwords(data.size() / sizeof(uint32_t));
  if (dwords.empty()) return;
  std::memcpy(dwords.data(), data.data(), dwords.size() * sizeof(uint32_t));
  decode::FlatImage memory;
  memory.add(GpuVa{0}, dwords.size() * sizeof(uint32_t), dwords);
  const decode::RegisterNames names(device);
  const auto text = decode::make_text_output([](std::string_view) { return true; }, {.payloads = true}, &names);
  const auto json = decode::make_json_output([](std::string_view) { return true; }, {.payloads = true}, &names);
  for (decode::Output* output : {static_cast<decode::Output*>(nullptr), text.get(), json.get()}) {
    decode::Decoder decoder(device, engine, memory, output);
    decoder.set_command_limit(output == nullptr ? kCommands : kCommands / 16);
    decoder.walk(
        {.space = engine::StreamSpace::ppgtt, .address = GpuVa{0}, .end = GpuVa{dwords.size() * sizeof(uint32_t)}},
        false);
  }
}

inline void manifest(std::span<const uint8_t> data) {
  const auto capture =
      trace::parse_manifest({reinterpret_cast<const char*>(data.data()), data.size()}, "manifest.json");
  if (capture.ok()) static_cast<void>(capture->model());
}

}  // namespace halogen::fuzz
