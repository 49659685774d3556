// Decodes a file or folder of any supported kind: an AUB trace, an execbuffer capture, a folder of captures, raw
// dwords. Raw dwords are little-endian binary, or text with hexadecimal dwords: '#' and "//" start a comment, and
// "ADDRESS:" at the start of a line is skipped.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "decode/decoder.h"
#include "decode/output.h"
#include "spec/device_model.h"

namespace halogen::decode {

struct FileOptions {
  const spec::DeviceModel* device = nullptr;        // null: the file must name it
  std::optional<spec::EngineClass> engine;          // for raw dwords; captures and traces name theirs
  GpuVa address;                                    // address of raw dwords
  uint64_t command_limit = Decoder::kCommandLimit;  // of one stream
  // Creates the Output of one file when its device is known. If it is absent or returns null, the decoder only counts.
  std::function<std::unique_ptr<Output>(const RegisterNames&)> make_output;
  EventSink* events = nullptr;  // receives mistakes in command streams
};

struct FileResult {
  std::string name;  // the file, or the exec folder of a capture
  Counts counts;
};

// Calls `done` after each file or capture folder at or below `path`. If it returns false, decoding stops.
Result<void> decode_path(const std::filesystem::path& path, const FileOptions& options,
                         const std::function<bool(const FileResult&)>& done);

}  // namespace halogen::decode
