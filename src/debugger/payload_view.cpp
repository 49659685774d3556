#include "debugger/payload_view.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/json.h"
#include "eu/ir/op_traits.h"
#include "eu/isa/message_header.h"
#include "spec/field_visitor.h"
#include "spec/register_layout.h"

namespace halogen::debugger {
namespace {

// Collects the fields of an item as members of a JSON object; those of groups are "squares[1].x".
class Members final : public spec::FieldVisitor {
 public:
  explicit Members(spec::GenId gen) : gen_(gen) {}

  void field(const spec::FieldDesc& field, unsigned /*first_bit*/, uint64_t raw) override {
    const bool number = field.type == spec::FieldType::float32 || field.type == spec::FieldType::enumeration;
    const std::string value = number ? json_quote(spec::format_value(field, gen_, raw))
                              : field.type == spec::FieldType::sint
                                  ? fmt::format("{}", static_cast<int64_t>(spec::field_value(field, raw)))
                                  : fmt::format("{}", spec::field_value(field, raw));
    json_ += fmt::format("{}\"{}{}\":{}", json_.empty() ? "" : ",", element_, field.name, value);
  }
  void begin_element(const spec::GroupDesc& group, unsigned index) override {
    element_ = fmt::format("{}[{}].", group.name, index);
  }
  void end_element() override { element_.clear(); }

  const std::string& json() const { return json_; }

 private:
  spec::GenId gen_;
  std::string element_;
  std::string json_;
};

void add(Answer& out, spec::GenId gen, const spec::ItemDesc& item, const std::string& at,
         std::span<const uint32_t> words) {
  out.text += fmt::format("{} {}\n{}", at, item.name, spec::format_fields(item, gen, words, "  "));
  Members members(gen);
  spec::visit_fields(item, gen, words, members);
  out.json += fmt::format("{}{{\"item\":\"{}\",\"at\":\"{}\",\"fields\":{{{}}}}}", out.json.empty() ? "" : ",",
                          item.name, at, members.json());
}

std::vector<uint32_t> words_at(const eu::Thread& thread, size_t dword, size_t count) {
  std::vector<uint32_t> words(count);
  if ((dword + count) * sizeof(uint32_t) <= thread.grf.size()) {
    std::memcpy(words.data(), thread.grf.data() + dword * sizeof(uint32_t), count * sizeof(uint32_t));
  }
  return words;
}

// Returns the descriptor of a SEND, which may be in the address register.
uint32_t descriptor_of(const eu::Thread& thread, const eu::SendInfo& send) {
  return send.descriptor_in_register ? thread.address[0] | static_cast<uint32_t>(thread.address[1]) << 16
                                     : send.descriptor;
}

void add_message(Answer& out, const compute::Moment& moment, const eu::Instruction& in) {
  const eu::Operand& source = in.src[0];
  const uint32_t descriptor = descriptor_of(moment.thread, in.send);
  const spec::MessageHeaderDesc* const header = eu::message_header(moment.gen, in.send.function, descriptor);
  if (header != nullptr && source.file == eu::File::grf && !source.indirect) {
    const size_t dwords = header->dwords_of_gen[static_cast<size_t>(moment.gen)];
    add(out, moment.gen, *header, spec::register_name('r', source.reg * spec::kRegisterDwords),
        words_at(moment.thread, source.reg * spec::kRegisterDwords, dwords));
  }
}

}  // namespace

Answer show_payload(const compute::Moment& moment, const std::optional<eu::Instruction>& next) {
  const auto kind = moment.job.media ? spec::ThreadKind::media : spec::ThreadKind::compute;
  Answer out;
  for (const spec::PayloadDesc* part : spec::payload_parts(moment.gen, kind)) {
    add(out, moment.gen, *part, spec::register_name('r', part->start),
        words_at(moment.thread, part->start, part->dwords_of_gen[static_cast<size_t>(moment.gen)]));
  }
  if (next && eu::is_send(next->op)) {
    add_message(out, moment, *next);
  }
  out.json = fmt::format("{{\"payload\":[{}]}}", out.json);
  return out;
}

}  // namespace halogen::debugger
