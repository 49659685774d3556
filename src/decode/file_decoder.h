// Decodes a file or folder of any kind we know: an AUB trace, an execbuffer capture or a folder of them, raw dwords.
// Raw dwords are little-endian binary, or text with one hexadecimal dword after another: '#' and "//" start a comment,
// an "ADDRESS:" at the start of a line is skipped.
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
  const spec::DeviceModel* device = nullptr;        // null: the file must tell
  std::optional<spec::EngineClass> engine;          // of raw dwords; captures and traces know theirs
  GpuVa address;                                    // where raw dwords stand
  uint64_t command_limit = Decoder::kCommandLimit;  // of one stream
  // Makes the Output for one file once its device is known; absent or null: only count.
  std::function<std::unique_ptr<Output>(const RegisterNames&)> make_output;
  EventSink* events = nullptr;  // takes the mistakes in command streams
};

struct FileResult {
  std::string name;  // the file, or the exec folder of a capture
  Counts counts;
};

// Calls `done` after each file or capture folder at or below `path`; false from it ends the work.
Result<void> decode_path(const std::filesystem::path& path, const FileOptions& options,
                         const std::function<bool(const FileResult&)>& done);

}  // namespace halogen::decode
