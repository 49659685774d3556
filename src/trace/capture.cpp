#include "trace/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bits.h"
#include "base/graphics_address.h"
#include "trace/device_ids.h"

namespace halogen::trace {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr uintmax_t kManifestLimit = 64u << 20;
constexpr uint64_t kObjectLimit = uint64_t{1} << 32;  // stored bytes of one object

// Looks up keys and keeps the first error, so that the code that reads a manifest needs no checks.
class Keys {
 public:
  Keys(const Json& json, std::string where, std::optional<Error>& error)
      : json_(json), where_(std::move(where)), error_(error) {
    if (!json_.is_object()) fail(fmt::format("{} is not a JSON object", where_));
  }

  // Returns a number, or a string that holds one in decimal or, with 0x, in hexadecimal.
  uint64_t number(const char* key, std::optional<uint64_t> otherwise = {}) {
    const Json* value = find(key, otherwise.has_value());
    if (value == nullptr) return otherwise.value_or(0);
    if (value->is_number_unsigned()) return value->get<uint64_t>();
    if (value->is_string()) {
      if (const auto parsed = parse(value->get_ref<const std::string&>())) return *parsed;
    }
    fail(fmt::format("\"{}\" of {} is not a number", key, where_));
    return 0;
  }

  uint32_t number32(const char* key, std::optional<uint64_t> otherwise = {}) {
    const uint64_t value = number(key, otherwise);
    if (value > 0xffff'ffffu) fail(fmt::format("\"{}\" of {} does not fit 32 bits", key, where_));
    return static_cast<uint32_t>(value);
  }

  std::string text(const char* key, bool optional = false) {
    const Json* value = find(key, optional);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    fail(fmt::format("\"{}\" of {} is not a string", key, where_));
    return {};
  }

  bool has(const char* key) { return find(key, true) != nullptr; }

  bool boolean(const char* key) {
    const Json* value = find(key, true);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }

  const Json* list(const char* key, bool optional) {
    const Json* value = find(key, optional);
    if (value == nullptr || value->is_array()) return value;
    fail(fmt::format("\"{}\" of {} is not an array", key, where_));
    return nullptr;
  }

 private:
  static std::optional<uint64_t> parse(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

  const Json* find(const char* key, bool optional) {
    if (!json_.is_object()) return nullptr;
    const auto it = json_.find(key);
    if (it != json_.end() && !it->is_null()) return &*it;
    if (!optional) fail(fmt::format("{} has no \"{}\"", where_, key));
    return nullptr;
  }

  void fail(std::string what) {
    if (!error_) error_ = Error{std::move(what)};
  }

  const Json& json_;
  std::string where_;
  std::optional<Error>& error_;
};

// Returns the engine class of a class number of the user interface: 0 render, 1 copy, 2 video, 3 video enhance, 4
// compute.
std::optional<spec::EngineClass> engine_of_class(unsigned number) {
  switch (number) {
    case 0:
      return spec::EngineClass::render;
    case 1:
      return spec::EngineClass::blit;
    case 2:
      return spec::EngineClass::video;
    case 3:
      return spec::EngineClass::vebox;
    case 4:
      return spec::EngineClass::compute;
    default:
      return std::nullopt;
  }
}

std::optional<spec::EngineClass> engine_of_text(std::string_view text) {
  if (text.empty() || text == "RENDER" || text == "DEFAULT") return spec::EngineClass::render;
  if (text == "BLT") return spec::EngineClass::blit;
  if (text == "BSD" || text == "BSD1" || text == "BSD2") return spec::EngineClass::video;
  if (text == "VEBOX") return spec::EngineClass::vebox;
  constexpr std::string_view kClass = "=class";
  const size_t at = text.find(kClass);
  if (at == std::string_view::npos) return std::nullopt;
  unsigned number = 0;
  const char* first = text.data() + at + kClass.size();
  const auto [end, status] = std::from_chars(first, text.data() + text.size(), number);
  return status == std::errc{} ? engine_of_class(number) : std::nullopt;
}

Result<std::string> read_text(const fs::path& path) {
  std::error_code status;
  const uintmax_t size = fs::file_size(path, status);
  if (status) return Error{fmt::format("{}: cannot read the file: {}.", path.string(), status.message())};
  if (size > kManifestLimit) return Error{fmt::format("{}: too large for a manifest.", path.string())};
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in) return Error{fmt::format("{}: cannot read the file.", path.string())};
  return text;
}

Result<void> read_content(const fs::path& folder, CaptureObject& object) {
  const fs::path path = folder / object.file;
  std::error_code status;
  const uintmax_t size = fs::file_size(path, status);
  if (status) {
    return Error{fmt::format("{}: object {} has no content: {}.", path.string(), object.handle, status.message())};
  }
  if (object.stored && size != *object.stored) {
    return Error{fmt::format("{}: holds {} bytes, the manifest says {}.", path.string(), size, *object.stored)};
  }
  if (size > object.bytes || size > kObjectLimit) {
    return Error{
        fmt::format("{}: holds {} bytes, but object {} has {}.", path.string(), size, object.handle, object.bytes)};
  }
  object.content.resize(align_up(size, sizeof(uint32_t)) / sizeof(uint32_t));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(object.content.data()), static_cast<std::streamsize>(size));
  if (!in && size != 0) return Error{fmt::format("{}: cannot read the file.", path.string())};
  return {};
}

// Returns the generation as a whole number, as in manifests: "gen4.5" counts as 4.
unsigned whole_number_of(spec::GenId gen) {
  std::string_view text = spec::name_of(gen);
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Finds contradictions between parts of a manifest that are valid by themselves.
std::optional<Error> contradiction_in(const Capture& capture) {
  const spec::DeviceModel* model = capture.model();
  if (model != nullptr && capture.generation != 0 && capture.generation != whole_number_of(model->gen)) {
    return Error{
        fmt::format("says generation {}, but {} is {}", capture.generation, model->name, spec::name_of(model->gen))};
  }
  const CaptureObject* batch = capture.find(capture.batch_handle);
  if (batch == nullptr) {
    return Error{fmt::format("the batch, object {}, is not in \"objects\"", capture.batch_handle)};
  }
  if (batch->gpu != capture.batch_gpu) {
    return Error{fmt::format("the batch is at {:#x}, but object {} is at {:#x}", capture.batch_gpu.value, batch->handle,
                             batch->gpu.value)};
  }
  if (capture.batch_start > batch->bytes || capture.batch_bytes > batch->bytes - capture.batch_start) {
    return Error{fmt::format("the batch has {} bytes from byte {} on, but object {} has {}", capture.batch_bytes,
                             capture.batch_start, batch->handle, batch->bytes)};
  }
  std::vector<const CaptureObject*> sorted;
  for (const CaptureObject& object : capture.objects) {
    if (object.bytes != 0) sorted.push_back(&object);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->gpu < b->gpu; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const CaptureObject& before = *sorted[i - 1];
    if (sorted[i]->gpu.value - before.gpu.value < before.bytes) {
      return Error{
          fmt::format("objects {} and {} overlap at {:#x}", before.handle, sorted[i]->handle, sorted[i]->gpu.value)};
    }
  }
  return std::nullopt;
}

}  // namespace

const spec::DeviceModel* Capture::model() const {
  const spec::DeviceModel* named = spec::find_device(device);
  return named != nullptr ? named : device_of_pci_id(pci_id);
}

const CaptureObject* Capture::find(uint32_t handle) const {
  const auto it =
      std::find_if(objects.begin(), objects.end(), [&](const auto& object) { return object.handle == handle; });
  return it == objects.end() ? nullptr : &*it;
}

Result<std::vector<fs::path>> find_captures(const fs::path& root) {
  std::error_code status;
  if (fs::is_regular_file(root / kManifest, status)) return std::vector{root};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, status);
  if (status) return Error{fmt::format("{}: cannot list the folder: {}.", root.string(), status.message())};
  for (const fs::recursive_directory_iterator end; it != end; it.increment(status)) {
    if (status) return Error{fmt::format("{}: cannot list the folder: {}.", root.string(), status.message())};
    if (it->path().filename() == kManifest && it->is_regular_file(status)) found.push_back(it->path().parent_path());
  }
  if (found.empty()) {
    return Error{fmt::format("{}: not a capture: no {} in it or below.", root.string(), kManifest)};
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<Capture> parse_manifest(std::string_view text, const std::string& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& bad) {
    return Error{fmt::format("{}: not valid JSON at byte {}.", name, bad.byte)};
  } catch (const Json::exception&) {  // valid by the grammar, but a number does not fit any type
    return Error{fmt::format("{}: holds a number that is out of range.", name)};
  }
  std::optional<Error> error;
  Keys keys(json, "the manifest", error);
  Capture capture;
  capture.device = keys.text("device", true);
  capture.pci_id = keys.number32("pci", 0);
  capture.generation = keys.number32("gen", 0);
  capture.program = keys.text("program", true);
  capture.exec = keys.number32("exec", 0);
  capture.engine = keys.text("engine", true);
  capture.flags = keys.number("flags", 0);
  capture.context = keys.number32("ctx", 0);
  capture.batch_handle = keys.number32("batch_handle");
  capture.batch_gpu = GpuVa{plain_address(keys.number("batch_gpu"))};
  capture.batch_start = keys.number("batch_start_offset", 0);
  capture.batch_bytes = keys.number("batch_len", 0);
  if (const Json* objects = keys.list("objects", false)) {
    for (size_t i = 0; i < objects->size() && !error; ++i) {
      Keys row((*objects)[i], fmt::format("objects[{}]", i), error);
      CaptureObject object;
      object.handle = row.number32("handle");
      object.gpu = GpuVa{plain_address(row.number("gpu"))};
      object.bytes = row.number("size");
      if (row.has("stored")) object.stored = row.number("stored");
      object.file = row.text("file");
      object.tiling = row.text("tiling", true);
      object.stride = row.number32("stride", 0);
      object.userptr = row.boolean("userptr");
      object.region = row.text("region", true);
      object.exec_flags = row.number("exec_flags", 0);
      if (object.file.find('/') != std::string::npos || object.file == ".." || object.file.empty()) {
        error = Error{fmt::format("\"file\" of objects[{}] is not a plain file name", i)};
      }
      if (object.bytes > (uint64_t{1} << kGraphicsAddressBits) - object.gpu.value) {
        error = Error{fmt::format("objects[{}] runs past the end of the address space", i)};
      }
      capture.objects.push_back(std::move(object));
    }
  }
  if (const Json* relocs = keys.list("relocs", true)) {
    for (size_t i = 0; i < relocs->size() && !error; ++i) {
      Keys row((*relocs)[i], fmt::format("relocs[{}]", i), error);
      capture.relocs.push_back(
          {row.number32("bo"), row.number("offset"), row.number32("target"), row.number("delta", 0)});
    }
  }
  const auto engine = engine_of_text(capture.engine);
  if (!error && !engine) error = Error{fmt::format("the engine \"{}\" is not known", capture.engine)};
  if (!error) error = contradiction_in(capture);
  if (error) return Error{fmt::format("{}: {}.", name, error->message)};
  capture.engine_class = *engine;
  return capture;
}

Result<Capture> read_capture(const fs::path& folder) {
  const fs::path manifest = folder / kManifest;
  auto text = read_text(manifest);
  if (!text) return text.error();
  auto capture = parse_manifest(*text, manifest.string());
  if (!capture) return capture;
  capture->folder = folder;
  for (CaptureObject& object : capture->objects) {
    if (auto ok = read_content(folder, object); !ok) return ok.error();
  }
  return capture;
}

}  // namespace halogen::trace
