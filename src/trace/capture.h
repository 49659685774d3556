// Execbuffer captures: one folder per DRM execbuffer, with manifest.json and the content of every buffer object before
// execution. Relocations are already applied.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "spec/device_model.h"

namespace halogen::trace {

struct CaptureObject {
  uint32_t handle = 0;
  GpuVa gpu;                       // not in canonical form
  uint64_t bytes = 0;              // size of the object; bytes beyond `content` are zero
  std::optional<uint64_t> stored;  // required size of its file
  std::string file;
  std::string tiling;
  uint32_t stride = 0;
  bool userptr = false;
  std::string region;
  uint64_t exec_flags = 0;
  std::vector<uint32_t> content;  // padded with zeros to whole dwords
};

struct CaptureReloc {
  uint32_t object = 0;  // handle of the patched object
  uint64_t offset = 0;
  uint32_t target = 0;
  uint64_t delta = 0;
};

struct Capture {
  std::filesystem::path folder;
  std::string device;
  uint32_t pci_id = 0;
  uint32_t generation = 0;  // integer part of the generation; 0: not given
  std::string program;
  uint32_t exec = 0;
  std::string engine;  // as written: "RENDER", "BLT", "ctxengine[0]=class1:inst0", or empty for the default
  spec::EngineClass engine_class{};
  uint64_t flags = 0;
  uint32_t context = 0;
  uint32_t batch_handle = 0;
  GpuVa batch_gpu;
  uint64_t batch_start = 0;  // offset of the first command
  uint64_t batch_bytes = 0;  // length from there; 0: to the end of the object
  std::vector<CaptureObject> objects;
  std::vector<CaptureReloc> relocs;

  // Returns our model by name, otherwise by PCI id. Null: the device is not modelled.
  const spec::DeviceModel* model() const;
  const CaptureObject* find(uint32_t handle) const;
};

// Returns the capture folders at or below `root`, sorted by path.
Result<std::vector<std::filesystem::path>> find_captures(const std::filesystem::path& root);

// Reads manifest.json and all objects of one folder.
Result<Capture> read_capture(const std::filesystem::path& folder);

// Parses the manifest alone: objects have no content. `name` starts every error message.
Result<Capture> parse_manifest(std::string_view text, const std::string& name);

}  // namespace halogen::trace
