// The flattened C++ tables must equal the golden views: an independent path from spec/ to the same lines.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"
#include "spec/payload.h"
#include "spec/pci.h"
#include "support/paths.h"

namespace halogen::spec {
namespace {

std::string_view text(Access access) {
  constexpr std::string_view kNames[] = {"rw", "ro", "wo", "w1c", "masked", "self_clearing", "w_once"};
  return kNames[static_cast<size_t>(access)];
}

std::string type_text(const FieldDesc& f, GenId gen) {
  const unsigned whole = f.width - f.fraction_bits;
  switch (f.type) {
    case FieldType::uint:
      return "uint";
    case FieldType::sint:
      return "int";
    case FieldType::boolean:
      return "bool";
    case FieldType::float32:
      return "float";
    case FieldType::ufixed:
      return fmt::format("ufixed:{}.{}", whole, f.fraction_bits);
    case FieldType::sfixed:
      return fmt::format("sfixed:{}.{}", whole - 1, f.fraction_bits);
    case FieldType::gpu_va:
      return "gpu_va";
    case FieldType::ggtt:
      return "ggtt";
    case FieldType::phys:
      return "phys";
    case FieldType::offset:
      return "offset";
    case FieldType::reg:
      return "reg";
    case FieldType::structure:
      return fmt::format("struct:{}", f.structure->name);
    case FieldType::mbo:
      return "mbo";
    case FieldType::enumeration:
      break;
  }
  // Values that a single field defines are named ITEM.field.
  if (f.enumeration->name.find('.') == std::string_view::npos) return fmt::format("enum:{}", f.enumeration->name);
  std::vector<std::string> values;
  for (const EnumValue& v : f.enumeration->values) {
    EXPECT_TRUE((v.gens & mask_of(gen)) != 0) << f.enumeration->name;
    values.push_back(fmt::format("{}={}", v.name, v.value));
  }
  return fmt::format("values{{{}}}", fmt::join(values, ","));
}

class View {
 public:
  explicit View(GenId gen) : gen_(gen), g_(static_cast<size_t>(gen)) {}

  std::vector<std::string> lines() {
    for (const EnumDesc* e : enums()) {
      for (const EnumValue& v : e->values) {
        if ((v.gens & mask_of(gen_)) != 0) lines_.push_back(fmt::format("ENUM {} {:#x} {}", e->name, v.value, v.name));
      }
    }
    for (const CommandDesc* c : commands()) {
      item(*c, "COMMAND", [&] { return command(*c); });
      privilege(*c);
    }
    for (const StructDesc* s : structs()) {
      item(*s, "STRUCT", [&] { return fmt::format("dwords={}", s->dwords_of_gen[g_]); });
    }
    for (const PayloadDesc* p : payloads()) item(*p, "PAYLOAD", [&] { return payload(*p); });
    for (const MessageHeaderDesc* h : message_headers()) item(*h, "MESSAGE_HEADER", [&] { return header(*h); });
    for (const RegisterDesc* r : registers()) item(*r, "REGISTER", [&] { return reg(*r); });
    for (const PciRegisterDesc* r : pci_registers()) item(*r, "PCI_REGISTER", [&] { return pci(*r); });
    capabilities();
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

 private:
  std::vector<const DeviceModel*> devices(const ItemDesc& d) const {
    std::vector<const DeviceModel*> out;
    for (const DeviceModel& m : device_models()) {
      if (m.gen == gen_ && (d.devices & mask_of(m.id)) != 0) out.push_back(&m);
    }
    return out;
  }

  static std::string engines(EngineMask mask) {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < kEngineClassCount; ++i) {
      if ((mask >> i & 1) != 0) names.push_back(name_of(static_cast<EngineClass>(i)));
    }
    return fmt::format("{}", fmt::join(names, ","));
  }

  template <class Head>
  void item(const ItemDesc& d, std::string_view kind, Head&& own) {
    const Layout* layout = d.layout(gen_);
    if (layout == nullptr) return;
    const std::string head = fmt::format("{} {}", kind, d.name);
    std::vector<std::string_view> names;
    for (const DeviceModel* m : devices(d)) names.push_back(m->name);
    lines_.push_back(fmt::format("{} {} devices={}", head, own(), fmt::join(names, ",")));
    if (d.manual_name != d.name) lines_.push_back(fmt::format("{} manual_name={}", head, d.manual_name));
    const bool is_register = kind == "REGISTER" || kind == "PCI_REGISTER";
    rows(head, layout->fields, layout->reserved, is_register);
    unread(head, layout->unread);
    for (const GroupDesc& g : layout->groups) {
      lines_.push_back(fmt::format("{} group {} at={} bits={} count={}", head, g.name, format_position(g.first_bit, 1),
                                   g.element_bits, g.count == 0 ? "rest" : std::to_string(g.count)));
      rows(fmt::format("{} {}", head, g.name), g.fields, g.reserved, is_register);
      unread(fmt::format("{} {}", head, g.name), g.unread);
    }
  }

  void privilege(const CommandDesc& c) {
    constexpr std::string_view kEffects[] = {
        "noop", "drop_write", "drop_post_sync", "per_process_table", "per_process_page", "parent_privilege"};
    for (const PrivilegeRule& p : c.privilege) {
      if ((p.gens & mask_of(gen_)) == 0) continue;
      lines_.push_back(fmt::format("COMMAND {} privilege {} when={} register={}", c.name,
                                   kEffects[static_cast<size_t>(p.effect)], p.when.empty() ? "always" : p.when,
                                   p.register_field.empty() ? "any" : p.register_field));
    }
  }

  void unread(const std::string& head, std::span<const UnreadDesc> marks) {
    for (const UnreadDesc& m : marks) {
      const std::string when = m.when_width == 0 ? ""
                                                 : fmt::format(" {}={}={}", m.when_equal ? "when" : "unless",
                                                               format_position(m.when_bit, m.when_width), m.when_value);
      lines_.push_back(fmt::format("{} unread {} {} rest={}{}", head, m.name, format_position(m.first_bit, m.width),
                                   fmt::join(m.rest, ","), when));
    }
  }

  void rows(const std::string& head, std::span<const FieldDesc> fields, std::span<const ReservedDesc> reserved,
            bool access) {
    for (const FieldDesc& f : fields) {
      lines_.push_back(fmt::format("{} {} {} {}{}{}", head, format_position(f.first_bit, f.width), f.name,
                                   type_text(f, gen_), access ? " " : "", access ? text(f.access) : ""));
    }
    for (const ReservedDesc& r : reserved) {
      const std::string_view kind = r.must_be_one ? "mbo" : r.ignored ? "ignored" : "reserved";
      lines_.push_back(fmt::format("{} {} {}", head, format_position(r.first_bit, r.width), kind));
    }
  }

  std::string command(const CommandDesc& c) const {
    const LengthRule& l = c.length_of_gen[g_];
    const MatchRule& m = c.match_of_gen[g_];
    const std::string length = l.fixed != 0 ? fmt::format("length={}", l.fixed)
                                            : fmt::format("length={}+{} min={} max={}",
                                                          format_position(l.first_bit, l.width), l.bias, l.min, l.max);
    return fmt::format("match={:#010x}/{:#010x} {} engines={}", m.mask, m.value, length, engines(c.engines_of_gen[g_]));
  }

  std::string payload(const PayloadDesc& p) const {
    std::vector<std::string_view> threads;
    for (size_t i = 0; i < std::size(kThreadNames); ++i) {
      if (p.belongs_to(static_cast<ThreadKind>(i))) threads.push_back(kThreadNames[i]);
    }
    return fmt::format("dwords={} at=r{}.{} threads={}", p.dwords_of_gen[g_], p.start / 8, p.start % 8,
                       fmt::join(threads, ","));
  }

  std::string header(const MessageHeaderDesc& h) const {
    return fmt::format("dwords={} functions={} types={}", h.dwords_of_gen[g_], fmt::join(h.functions, ","),
                       h.types.empty() ? "all" : fmt::format("{}", fmt::join(h.types, ",")));
  }

  std::string reg(const RegisterDesc& r) const {
    std::vector<std::string> offsets, resets;
    for (const DeviceModel* m : devices(r)) {
      offsets.push_back(fmt::format("{:#x}", r.offset(m->id)));
      resets.push_back(fmt::format("{:#x}", r.reset_value(m->id)));
    }
    const std::string base =
        r.base == RegisterBase::engine ? fmt::format("engine({})", engines(r.engines)) : "absolute";
    return fmt::format("base={} offset={} width={} count={} stride={} access={} reset={}", base,
                       fmt::join(offsets, ","), r.width_bits, r.count, r.stride, text(r.access),
                       fmt::join(resets, ","));
  }

  std::string pci(const PciRegisterDesc& r) const {
    std::vector<std::string> offsets, writable, resets;
    for (const DeviceModel* m : devices(r)) {
      offsets.push_back(fmt::format("{:#x}", r.offset(m->id)));
      writable.push_back(fmt::format("{:#x}", r.writable(m->id)));
      resets.push_back(fmt::format("{:#x}", r.reset_value(m->id)));
    }
    return fmt::format("bytes={} count={} offset={} writable={} reset={}", r.bytes, r.count, fmt::join(offsets, ","),
                       fmt::join(writable, ","), fmt::join(resets, ","));
  }

  void capabilities() {
    for (const DeviceModel& m : device_models()) {
      if (m.gen != gen_) continue;
      size_t index = 0;
      for (const PciCapability& c : pci_capabilities(m.id)) {
        lines_.push_back(fmt::format("PCI_LIST {} {} {} id={:#x} at={:#x}", m.name, index++, c.name, c.id, c.offset));
      }
    }
  }

  GenId gen_;
  size_t g_;
  std::vector<std::string> lines_;
};

std::vector<std::string> golden(GenId gen) {
  std::ifstream in(test::source_folder() / "spec" / "golden" / (std::string(name_of(gen)) + ".txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Golden, TablesMatchTheGoldenViews) {
  for (size_t g = 0; g < kGenCount; ++g) {
    const auto gen = static_cast<GenId>(g);
    const bool has_device =
        std::any_of(device_models().begin(), device_models().end(), [&](const DeviceModel& m) { return m.gen == gen; });
    if (!has_device) continue;
    const std::vector<std::string> ours = View(gen).lines();
    const std::vector<std::string> theirs = golden(gen);
    std::vector<std::string> only_ours, only_theirs;
    std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(only_ours));
    std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(), std::back_inserter(only_theirs));
    EXPECT_EQ(only_ours.size() + only_theirs.size(), 0u)
        << name_of(gen) << ": not in the golden view: " << (only_ours.empty() ? "-" : only_ours.front())
        << "; not in the tables: " << (only_theirs.empty() ? "-" : only_theirs.front())
        << "; if spec/ changed, run specgen golden --write";
  }
}

}  // namespace
}  // namespace halogen::spec
