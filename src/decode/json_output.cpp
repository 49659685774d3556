// JSON lines: one object per record, heading or command; a command contains its fields and their targets.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/json.h"
#include "decode/output.h"
#include "decode/thread_kinds.h"
#include "spec/field_visitor.h"
#include "spec/register_layout.h"

namespace halogen::decode {
namespace {

constexpr size_t kFlushBytes = 64 * 1024;

std::string_view name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::command:
      return "command";
    case NodeKind::unknown_command:
      return "unknown_command";
    case NodeKind::structure:
      return "structure";
    case NodeKind::kernel:
      return "kernel";
    case NodeKind::data:
      return "data";
    case NodeKind::missing:
      return "missing";
  }
  return {};
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : json_quote(fmt::format("{}", value));
}

// Formats numbers as numbers, addresses as "0x...", and named values by name.
std::string json_value(const spec::FieldDesc& field, spec::GenId gen, uint64_t raw) {
  const uint64_t value = spec::field_value(field, raw);
  if (field.enumeration != nullptr) {
    if (const auto name = field.enumeration->name_of(value, gen); !name.empty()) return json_quote(name);
  }
  switch (field.type) {
    case spec::FieldType::boolean:
      return raw != 0 ? "true" : "false";
    case spec::FieldType::sint:
      return fmt::format("{}", static_cast<int64_t>(value));
    case spec::FieldType::float32:
    case spec::FieldType::ufixed:
    case spec::FieldType::sfixed:
      return json_number(spec::fixed_value(field, raw));
    case spec::FieldType::gpu_va:
    case spec::FieldType::ggtt:
    case spec::FieldType::phys:
    case spec::FieldType::offset:
    case spec::FieldType::reg:
      return fmt::format("\"{:#x}\"", value);
    case spec::FieldType::uint:
    case spec::FieldType::enumeration:
    case spec::FieldType::structure:
    case spec::FieldType::mbo:
      break;
  }
  return fmt::format("{}", value);
}

class JsonOutput final : public Output {
 public:
  JsonOutput(TextSink sink, OutputStyle style, const RegisterNames* registers)
      : sink_(std::move(sink)), style_(style), registers_(registers) {}
  ~JsonOutput() override { flush(); }

  void record(const RecordLine& line) override {
    put(R"({{"kind":"record","index":{},"offset":{},"record":{},"text":{}}})", line.index, line.offset,
        json_quote(line.kind), json_quote(line.text));
    end_line();
  }

  void heading(std::string_view text) override {
    put(R"({{"kind":"heading","text":{}}})", json_quote(text));
    end_line();
  }

  void node(const Node& node, spec::GenId gen) override {
    gen_ = gen;
    object(node);
    end_line();
  }

  bool open() const override { return open_; }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  template <class List, class Each>
  void list(std::string_view key, const List& items, char open, char close, const Each& each) {
    if (items.empty()) return;
    put(",\"{}\":{}", key, open);
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      each(item);
    }
    text_ += close;
  }

  void object(const Node& node) {
    put(R"({{"kind":"{}","address":"{:#x}")", name_of(node.kind), node.address.value);
    if (node.item != nullptr) put(",\"name\":{}", json_quote(node.item->manual_name));
    if (!node.label.empty()) put(",\"label\":{}", json_quote(node.label));
    if (node.kind == NodeKind::command || node.kind == NodeKind::unknown_command) {
      put(R"(,"space":"{}","level":{})", node.space == engine::StreamSpace::ggtt ? "ggtt" : "ppgtt", node.level);
    }
    if (node.kind == NodeKind::data || node.kind == NodeKind::kernel) {
      if (node.bytes != 0) {
        put(",\"bytes\":{}", node.bytes);
      } else {
        put(",\"bytes\":null");
      }
    }
    if (node.guessed) put(",\"guessed\":true");
    list("dwords", node.dwords, '[', ']', [&](uint32_t dword) { put("{}", dword); });
    list("fields", node.fields.fields, '{', '}', [&](const FieldValue& field) {
      put("{}:{}", json_quote(field.path), json_value(*field.desc, gen_, field.raw));
    });
    registers(node);
    if (style_.payloads && node.item != nullptr) payload(node);
    list("reserved", node.fields.reserved, '[', ']', [&](const ReservedValue& reserved) {
      put(R"({{"at":"{}","value":"{:#x}","must_be_one":{}}})",
          spec::format_position(reserved.first_bit, reserved.width), reserved.value, reserved.must_be_one);
    });
    list("faults", node.faults, '[', ']', [&](const std::string& fault) { text_ += json_quote(fault); });
    list("state", node.children, '[', ']', [&](const Node& child) { object(child); });
    text_ += '}';
  }

  void payload(const Node& node) {
    const auto kind = thread_kind(*node.item, gen_, node.dwords);
    if (!kind) return;
    put(R"(,"threads":"{}")", spec::kThreadNames[static_cast<size_t>(*kind)]);
    list("payload", spec::payload_parts(gen_, *kind), '[', ']', [&](const spec::PayloadDesc* part) {
      const unsigned dwords = part->dwords_of_gen[static_cast<size_t>(gen_)];
      put(R"({{"item":"{}","at":"{}")", part->name, spec::register_name('r', part->start));
      list("fields", spec::register_fields(*part, gen_, dwords, 'r', part->start), '{', '}',
           [&](const spec::RegisterField& field) { put("{}:\"{}\"", json_quote(field.name), field.at); });
      text_ += '}';
    });
  }

  void registers(const Node& node) {
    if (registers_ == nullptr) return;
    std::vector<std::pair<std::string, std::string>> names;
    for (const FieldValue& field : node.fields.fields) {
      if (field.desc->type != spec::FieldType::reg) continue;
      const auto offset = static_cast<uint32_t>(spec::field_value(*field.desc, field.raw));
      if (std::string name = registers_->name_at(offset); !name.empty()) {
        names.emplace_back(field.path, std::move(name));
      }
    }
    list("registers", names, '{', '}',
         [&](const auto& row) { put("{}:{}", json_quote(row.first), json_quote(row.second)); });
  }

  void end_line() {
    text_ += '\n';
    if (text_.size() >= kFlushBytes) flush();
  }
  void flush() {
    if (!text_.empty() && open_) open_ = sink_(text_);
    text_.clear();
  }

  TextSink sink_;
  OutputStyle style_;
  const RegisterNames* registers_;
  spec::GenId gen_{};
  std::string text_;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<Output> make_json_output(TextSink sink, OutputStyle style, const RegisterNames* registers) {
  return std::make_unique<JsonOutput>(std::move(sink), style, registers);
}

}  // namespace halogen::decode
