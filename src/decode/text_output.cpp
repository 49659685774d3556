// Text output: address, command and fields by the manual's names; targets of pointers are indented below.
#include <fmt/format.h>

#include <iterator>

#include "decode/output.h"
#include "decode/thread_kinds.h"
#include "spec/field_visitor.h"
#include "spec/register_layout.h"

namespace halogen::decode {
namespace {

constexpr size_t kFlushBytes = 64 * 1024;
constexpr size_t kDwordsPerLine = 8;

enum class Paint : uint8_t { heading, command, structure, fault, faint };

class TextOutput final : public Output {
 public:
  TextOutput(TextSink sink, OutputStyle style, const RegisterNames* registers)
      : sink_(std::move(sink)), style_(style), registers_(registers) {}
  ~TextOutput() override { flush(); }

  void record(const RecordLine& line) override {
    paint(Paint::faint, fmt::format("[{} at {:#x}]", line.index, line.offset));
    put(" {}: {}\n", line.kind, line.text);
    flush_if_large();
  }

  void heading(std::string_view text) override {
    paint(Paint::heading, text);
    put("\n");
    flush_if_large();
  }

  void node(const Node& node, spec::GenId gen) override {
    gen_ = gen;
    command(node);
    flush_if_large();
  }

  bool open() const override { return open_; }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void paint(Paint paint, std::string_view text) {
    constexpr std::string_view kCodes[] = {"\x1b[1;36m", "\x1b[1;32m", "\x1b[1;34m", "\x1b[1;31m", "\x1b[2m"};
    if (style_.color) text_ += kCodes[static_cast<size_t>(paint)];
    text_ += text;
    if (style_.color) text_ += "\x1b[0m";
  }

  void command(const Node& node) {
    const std::string indent(size_t{node.level} * 2, ' ');
    if (node.kind == NodeKind::missing) {
      put("{}{:#018x}  ", indent, node.address.value);
      paint(Paint::fault, fmt::format("{} points to unmapped memory", node.label));
      put("\n");
      return;
    }
    put("{}{:#018x}  ", indent, node.address.value);
    if (node.item != nullptr) {
      paint(Paint::command, node.item->manual_name);
    } else {
      paint(Paint::fault, "UNKNOWN COMMAND");
    }
    put("  ");
    paint(Paint::faint, fmt::format("{} dword{}, {:#010x}", node.dwords.size(), node.dwords.size() == 1 ? "" : "s",
                                    node.dwords.empty() ? 0 : node.dwords.front()));
    put("\n");
    if (node.kind == NodeKind::unknown_command) dwords(node, indent + "    ");
    body(node, indent + "    ");
  }

  void body(const Node& node, const std::string& indent) {
    for (const std::string& fault : node.faults) {
      put("{}", indent);
      paint(Paint::fault, fault);
      put("\n");
    }
    for (const FieldValue& field : node.fields.fields) {
      put("{}{} = {}", indent, field.path, spec::format_value(*field.desc, gen_, field.raw));
      if (field.desc->type == spec::FieldType::reg && registers_ != nullptr) {
        const auto offset = static_cast<uint32_t>(spec::field_value(*field.desc, field.raw));
        if (const std::string name = registers_->name_at(offset); !name.empty()) put(" {}", name);
      }
      put("\n");
    }
    for (const ReservedValue& reserved : node.fields.reserved) {
      put("{}", indent);
      paint(Paint::fault,
            fmt::format("reserved {} = {:#x}, must be {}", spec::format_position(reserved.first_bit, reserved.width),
                        reserved.value, reserved.must_be_one ? "one" : "zero"));
      put("\n");
    }
    if (style_.payloads && node.item != nullptr) payload(node, indent);
    for (const Node& child : node.children) state(child, indent);
  }

  void payload(const Node& node, const std::string& indent) {
    const auto kind = thread_kind(*node.item, gen_, node.dwords);
    if (!kind) return;
    put("{}payload of {} threads\n", indent, spec::kThreadNames[static_cast<size_t>(*kind)]);
    for (const spec::PayloadDesc* part : spec::payload_parts(gen_, *kind)) {
      const unsigned dwords = part->dwords_of_gen[static_cast<size_t>(gen_)];
      put("{}    {} ", indent, spec::register_name('r', part->start));
      paint(Paint::structure, part->name);
      put("\n");
      for (const spec::RegisterField& field : spec::register_fields(*part, gen_, dwords, 'r', part->start)) {
        put("{}        {} {}\n", indent, field.at, field.name);
      }
    }
  }

  void state(const Node& node, const std::string& indent) {
    put("{}{} -> ", indent, node.label);
    const std::string place = fmt::format("at {:#018x}", node.address.value);
    switch (node.kind) {
      case NodeKind::structure:
        paint(Paint::structure, node.item->name);
        put(" {}\n", place);
        return body(node, indent + "    ");
      case NodeKind::kernel:
        paint(Paint::structure, "kernel");
        put(" {}, size unknown\n", place);
        return;
      case NodeKind::data:
        paint(Paint::structure, "data");
        put(" {}, {}\n", place, node.bytes == 0 ? "size unknown" : fmt::format("{} bytes", node.bytes));
        return dwords(node, indent + "    ");
      case NodeKind::missing:
        paint(Paint::fault, "nothing mapped");
        put(" {}\n", place);
        return;
      case NodeKind::command:
      case NodeKind::unknown_command:
        put("\n");
        return;
    }
  }

  void dwords(const Node& node, const std::string& indent) {
    for (size_t i = 0; i < node.dwords.size(); i += kDwordsPerLine) {
      put("{}", indent);
      for (size_t j = i; j < std::min(i + kDwordsPerLine, node.dwords.size()); ++j) {
        put("{}{:08x}", j == i ? "" : " ", node.dwords[j]);
      }
      put("\n");
    }
  }

  void flush_if_large() {
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

std::unique_ptr<Output> make_text_output(TextSink sink, OutputStyle style, const RegisterNames* registers) {
  return std::make_unique<TextOutput>(std::move(sink), style, registers);
}

}  // namespace halogen::decode
