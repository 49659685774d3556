#include "decode/trace_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "base/graphics_address.h"
#include "base/json.h"
#include "decode/aub_decoder.h"
#include "spec/field_visitor.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"

namespace halogen::decode {
namespace {

using engine::StreamSpace;

constexpr size_t kShownDwords = 4;

std::string_view name_of(memory::MemorySpace space) {
  return space == memory::MemorySpace::local ? "local" : "system";
}

std::string page_size(unsigned page_bits) {
  constexpr std::string_view kUnits[] = {"", " KB", " MB", " GB"};
  return fmt::format("{}{}", 1u << page_bits % 10, kUnits[page_bits / 10]);
}

class StepKeeper final : public memory::WalkRecorder {
 public:
  StepKeeper(WalkReport& report, spec::GenId gen) : report_(report), gen_(gen) {}
  void on_step(const memory::WalkStep& step) override {
    const uint32_t dwords[2] = {static_cast<uint32_t>(step.entry), static_cast<uint32_t>(step.entry >> 32)};
    report_.steps.push_back({step.level->name, step.format->desc, step.space, step.entry_address, step.entry,
                             list_fields(*step.format->desc, gen_, std::span(dwords).first(step.format->bytes / 4u))});
  }

 private:
  WalkReport& report_;
  spec::GenId gen_;
};

std::string value_text(const FieldValue& field, bool json) {
  const uint64_t value = spec::field_value(*field.desc, field.raw);
  if (field.desc->type == spec::FieldType::boolean && json) return value != 0 ? "true" : "false";
  if (spec::is_in_place(field.desc->type)) return json ? fmt::format("\"{:#x}\"", value) : fmt::format("{:#x}", value);
  return fmt::format("{}", value);
}

std::string where_text(const WalkReport& report, const WalkReport::Step& step) {
  // A trace does not place the global table, so its entries have offsets only.
  return report.global ? fmt::format("offset {:#x} of the global table", step.entry_address)
                       : fmt::format("{:#x} in {} memory", step.entry_address, name_of(step.space));
}

}  // namespace

std::string WalkReport::to_text() const {
  std::string text = fmt::format("{}: {}, {}, address {:#x}", file, device->name, mode, address.value);
  if (!global) text += fmt::format(", {} context {} of {} at {:#x}", engine, context, contexts, context_image);
  text += '\n';
  for (const Step& step : steps) {
    const unsigned digits = step.entry_format->dwords_of_gen[static_cast<size_t>(device->gen)] * 8u;
    text += fmt::format("  {:<4} {} = 0x{:0{}x} {}", step.level, where_text(*this, step), step.entry, digits,
                        step.entry_format->name);
    for (const FieldValue& field : step.fields.fields) {
      text += fmt::format(" {}={}", field.path, value_text(field, false));
    }
    for (const ReservedValue& bits : step.fields.reserved) {
      text += fmt::format(" reserved[{}:{}]={:#x}", bits.first_bit + bits.width - 1, bits.first_bit, bits.value);
    }
    text += '\n';
  }
  if (!mapped()) return text + fmt::format("  fault: {}\n", memory::name_of(result.fault.reason));
  const memory::Mapping& page = result.mapping;
  text +=
      fmt::format("  page of {}{} at {:#x} in {} memory, read{}{}{}, memory type index {}\n", page_size(page.page_bits),
                  page.null ? ", null," : "", page.address, name_of(page.space), page.writable ? " write" : "",
                  page.executable ? " execute" : "", page.user ? "" : ", supervisor", page.type_index);
  text += fmt::format("  physical address {:#x}:", physical);
  for (const uint32_t dword : data) text += fmt::format(" {:08x}", dword);
  return text + (data.empty() ? " not written by the trace\n" : "\n");
}

std::string WalkReport::to_json() const {
  std::string text = fmt::format(R"({{"file":{},"device":{},"address":"{:#x}","mode":{})", json_quote(file),
                                 json_quote(device->name), address.value, json_quote(mode));
  if (!global) {
    text += fmt::format(R"(,"context":{},"contexts":{},"engine":{},"context_image":"{:#x}")", context, contexts,
                        json_quote(engine), context_image);
  }
  std::vector<std::string> rows;
  for (const Step& step : steps) {
    std::vector<std::string> fields;
    for (const FieldValue& field : step.fields.fields) {
      fields.push_back(fmt::format("{}:{}", json_quote(field.path), value_text(field, true)));
    }
    rows.push_back(fmt::format(
        R"({{"level":{},"space":"{}","entry_address":"{:#x}","entry":"{:#x}","format":{},"fields":{{{}}}}})",
        json_quote(step.level), global ? "global_table" : name_of(step.space), step.entry_address, step.entry,
        json_quote(step.entry_format->name), fmt::join(fields, ",")));
  }
  text += fmt::format(R"(,"steps":[{}],"mapped":{})", fmt::join(rows, ","), mapped());
  if (!mapped()) return text + fmt::format(R"(,"fault":{}}})", json_quote(memory::name_of(result.fault.reason))) + "\n";
  const memory::Mapping& page = result.mapping;
  return text +
         fmt::format(
             R"(,"physical":"{:#x}","space":"{}","page":"{:#x}","page_bytes":{},"writable":{},"executable":{},"user":{},"null":{},"memory_type_index":{},"data":[{}]}})"
             "\n",
             physical, name_of(page.space), page.address, uint64_t{1} << page.page_bits, page.writable, page.executable,
             page.user, page.null, page.type_index, fmt::join(data, ","));
}

Result<WalkReport> walk_trace(const std::filesystem::path& file, const WalkQuery& query) {
  const std::string name = file.string();
  auto source = trace::open_file(file);
  if (!source) return source.error();
  trace::aub::Reader reader(**source, name);
  AubDecoder decoder(query.device, [](const RegisterNames&) { return nullptr; });
  while (decoder.wants_more()) {
    auto more = reader.next(decoder);
    if (!more) return more.error();
    if (!*more) break;
  }
  if (!decoder.failure().empty()) return Error{fmt::format("{}: {}.", name, decoder.failure())};
  if (decoder.device() == nullptr) return Error{fmt::format("{}: empty file.", name)};

  WalkReport report;
  report.file = name;
  report.device = decoder.device();
  report.address = GpuVa{plain_address(query.address.value)};
  report.global = query.global;
  PagedImage& memory = *decoder.memory();
  if (!query.global) {
    const auto& submitted = decoder.submissions();
    if (submitted.empty()) {
      return Error{fmt::format("{}: submits no context; --ggtt walks the global table.", name)};
    }
    report.contexts = submitted.size();
    report.context = query.context.value_or(submitted.size() - 1);
    if (report.context >= submitted.size()) {
      return Error{fmt::format("{}: context {} does not exist; {} {} submitted, counted from 0.", name, report.context,
                               submitted.size(), submitted.size() == 1 ? "was" : "were")};
    }
    const AubDecoder::Submission& chosen = submitted[report.context];
    report.engine = chosen.engine;
    report.context_image = chosen.image;
    report.mode = memory::name_of(chosen.root.mode);
    memory.set_root(chosen.root);
  } else {
    report.mode = memory::name_of(memory::WalkMode::ggtt);
  }
  const StreamSpace space = query.global ? StreamSpace::ggtt : StreamSpace::ppgtt;
  StepKeeper keeper(report, report.device->gen);
  report.result = memory.walk(space, report.address, &keeper);
  if (report.mapped()) {
    const memory::Mapping& mapping = report.result.mapping;
    report.physical = mapping.address + (report.address.value & low_mask(mapping.page_bits));
    const auto found = memory.dwords_of(space, mapping, report.address);
    report.data.assign(found.begin(), found.begin() + static_cast<ptrdiff_t>(std::min(found.size(), kShownDwords)));
  }
  return report;
}

}  // namespace halogen::decode
