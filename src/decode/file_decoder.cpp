#include "decode/file_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

#include "base/bits.h"
#include "decode/aub_decoder.h"
#include "decode/aub_printer.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/capture.h"

namespace halogen::decode {
namespace {

namespace fs = std::filesystem;
using engine::StreamLevel;
using engine::StreamSpace;

constexpr uint64_t kRawLimit = uint64_t{1} << 32;

std::unique_ptr<Output> make_output(const FileOptions& options, const RegisterNames& registers) {
  return options.make_output ? options.make_output(registers) : nullptr;
}

// Returns bytes that were already examined, then the rest.
class Rewound final : public trace::ByteSource {
 public:
  Rewound(std::span<const std::byte> head, trace::ByteSource& rest) : head_(head), rest_(rest) {}
  Result<size_t> read(std::span<std::byte> out) override {
    const size_t from_head = std::min(head_.size(), out.size());
    std::copy_n(head_.begin(), from_head, out.begin());
    head_ = head_.subspan(from_head);
    if (from_head == out.size()) return from_head;
    auto more = rest_.read(out.subspan(from_head));
    if (!more) return more;
    return from_head + *more;
  }

 private:
  std::span<const std::byte> head_;
  trace::ByteSource& rest_;
};

Result<FileResult> decode_aub(trace::ByteSource& source, const std::string& name, const FileOptions& options) {
  trace::aub::Reader reader(source, name);
  AubDecoder decoder(
      options.device, [&](const RegisterNames& registers) { return make_output(options, registers); }, options.events);
  decoder.set_command_limit(options.command_limit);
  while (decoder.wants_more()) {
    auto more = reader.next(decoder);
    if (!more) return more.error();
    if (!*more) break;
  }
  if (!decoder.failure().empty()) return Error{fmt::format("{}: {}.", name, decoder.failure())};
  return FileResult{name, decoder.counts()};
}

// Returns whether the start of the file consists of printable characters, mostly ASCII. Binary commands soon contain
// zero or control bytes. Text that is not hexadecimal then fails with a line number instead of being decoded as dwords.
bool looks_like_text(std::span<const std::byte> bytes) {
  const auto look = bytes.first(std::min<size_t>(bytes.size(), 64));
  size_t foreign = 0;
  for (const std::byte b : look) {
    const auto c = static_cast<unsigned char>(b);
    if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f) return false;
    if (c > 0x7f) ++foreign;
  }
  return !look.empty() && foreign * 4 <= look.size();
}

Result<std::vector<uint32_t>> parse_hex(std::span<const std::byte> bytes, const std::string& name) {
  std::vector<uint32_t> dwords;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, std::min(line.find('#'), line.find("//")));
    if (const size_t colon = line.find(':'); colon != std::string_view::npos) line.remove_prefix(colon + 1);
    for (;;) {
      constexpr std::string_view kBetween = " \t\r,";
      line.remove_prefix(std::min(line.find_first_not_of(kBetween), line.size()));
      if (line.empty()) break;
      std::string_view word = line.substr(0, line.find_first_of(kBetween));
      line.remove_prefix(word.size());
      if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
      uint32_t dword = 0;
      const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), dword, 16);
      if (status != std::errc{} || end != word.data() + word.size()) {
        return Error{fmt::format("{}: line {}: \"{}\" is not a hexadecimal dword.", name, number,
                                 printable(word.substr(0, 32)))};
      }
      dwords.push_back(dword);
    }
  }
  return dwords;
}

Result<FileResult> decode_raw(trace::ByteSource& source, size_t expected_bytes, const std::string& name,
                              const FileOptions& options) {
  if (options.device == nullptr) {
    return Error{fmt::format("{}: not an AUB trace; raw dwords need a device: give one with --device.", name)};
  }
  const auto content = trace::read_rest(source, expected_bytes, kRawLimit, name);
  if (!content) return content.error();
  std::span<const uint32_t> dwords(content->dwords.get(), content->bytes / sizeof(uint32_t));
  std::vector<uint32_t> parsed;
  if (looks_like_text(content->as_bytes())) {
    auto text = parse_hex(content->as_bytes(), name);
    if (!text) return text.error();
    parsed = std::move(*text);
    dwords = parsed;
  } else if (content->bytes % sizeof(uint32_t) != 0) {
    return Error{fmt::format("{}: holds {} bytes, which is not a whole number of dwords.", name, content->bytes)};
  }
  FlatImage memory;
  memory.add(options.address, dwords.size() * sizeof(uint32_t), dwords);
  const RegisterNames registers(*options.device);
  const auto output = make_output(options, registers);
  const spec::EngineClass engine = options.engine.value_or(spec::EngineClass::render);
  Decoder decoder(*options.device, engine, memory, output.get());
  decoder.set_events(options.events, fmt::format("{}.{}", name, spec::name_of(engine)));
  decoder.set_command_limit(options.command_limit);
  if (!dwords.empty()) {
    decoder.walk({.space = StreamSpace::ppgtt,
                  .address = options.address,
                  .end = options.address + dwords.size() * sizeof(uint32_t)},
                 false);
  }
  return FileResult{name, decoder.counts()};
}

Result<FileResult> decode_file(const fs::path& path, const FileOptions& options) {
  auto source = trace::open_file(path);
  if (!source) return source.error();
  uint32_t first = 0;
  auto head = std::as_writable_bytes(std::span(&first, 1));
  auto got = (*source)->read(head);
  if (!got) return got.error();
  if (*got == 0) return Error{fmt::format("{}: empty file.", path.string())};
  Rewound all(head.first(*got), **source);
  const bool is_aub = *got == head.size() && trace::aub::looks_like_aub(first);
  if (is_aub) return decode_aub(all, path.string(), options);
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(path, unknown);
  return decode_raw(all, unknown ? 0 : std::min<uintmax_t>(bytes, kRawLimit), path.string(), options);
}

// State that a context of a captured program keeps between batches.
using ContextKey = std::tuple<fs::path, uint32_t, std::string>;  // program's folder, context, engine
using ContextStates = std::map<ContextKey, Follower::State>;

Result<FileResult> decode_capture(const fs::path& folder, const FileOptions& options, ContextStates& contexts) {
  auto capture = trace::read_capture(folder);
  if (!capture) return capture.error();
  const spec::DeviceModel* device = options.device != nullptr ? options.device : capture->model();
  if (device == nullptr) {
    return Error{fmt::format(
        "{}: was captured on \"{}\", PCI id {:#06x}, which is not a modelled device; give one with --device.",
        folder.string(), capture->device, capture->pci_id)};
  }
  FlatImage memory;
  for (const trace::CaptureObject& object : capture->objects) memory.add(object.gpu, object.bytes, object.content);
  const RegisterNames registers(*device);
  const auto output = make_output(options, registers);
  const GpuVa start = capture->batch_gpu + capture->batch_start;
  if (output != nullptr) {
    output->heading(fmt::format("{}: {}, {} on {}, batch at {:#x}", folder.string(), capture->program,
                                spec::name_of(capture->engine_class), device->name, start.value));
  }
  const spec::EngineClass engine = options.engine.value_or(capture->engine_class);
  Decoder decoder(*device, engine, memory, output.get());
  decoder.set_events(options.events, fmt::format("{}.{}", folder.string(), spec::name_of(engine)));
  decoder.set_command_limit(options.command_limit);
  StreamLevel level{.space = StreamSpace::ppgtt, .address = start};
  if (capture->batch_bytes != 0) level.end = start + align_down(capture->batch_bytes, sizeof(uint32_t));
  const ContextKey key{folder.parent_path(), capture->context, capture->engine};
  if (const auto kept = contexts.find(key); kept != contexts.end()) decoder.set_state(kept->second);
  decoder.walk(level, false);
  contexts[key] = decoder.state();
  return FileResult{folder.string(), decoder.counts()};
}

}  // namespace

Result<void> decode_path(const fs::path& path, const FileOptions& options,
                         const std::function<bool(const FileResult&)>& done) {
  std::error_code status;
  if (!fs::is_directory(path, status)) {
    auto result = decode_file(path, options);
    if (!result) return result.error();
    done(*result);
    return {};
  }
  auto folders = trace::find_captures(path);
  if (!folders) return folders.error();
  ContextStates contexts;
  for (const fs::path& folder : *folders) {
    auto result = decode_capture(folder, options, contexts);
    if (!result) return result.error();
    if (!done(*result)) break;
  }
  return {};
}

}  // namespace halogen::decode
