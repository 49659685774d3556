// Properties of every described item on every generation: unpack and pack are inverse, members equal what the generic
// walk reads, and wrong reserved bits are reported.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "every_item.h"
#include "spec/field_visitor.h"
#include "spec/member_sink.h"

namespace halogen::spec::test {
namespace {

constexpr uint32_t kSeed = 20240711;
constexpr int kRandomRounds = 4;

void expect_round_trip(const Sized& s, const std::vector<uint32_t>& in, const char* what) {
  std::vector<uint32_t> out(in.size(), 0xdeadbeef);
  ASSERT_TRUE(s.item->repack(s.gen, in, out)) << s.label() << " " << what << ": pack refused";
  ASSERT_EQ(in, out) << s.label() << " " << what;
}

TEST(EveryItem, RandomAndBoundaryValuesRoundTrip) {
  std::mt19937 random(kSeed);
  for (const Sized& s : every_item()) {
    const Masks masks = masks_of(s);
    expect_round_trip(s, make(s, masks, [] { return 0u; }), "zeros");
    expect_round_trip(s, make(s, masks, [] { return ~0u; }), "ones");
    for (int i = 0; i < kRandomRounds; ++i) expect_round_trip(s, make(s, masks, random), "random");
    if (HasFatalFailure()) return;
  }
}

TEST(EveryItem, EachFieldRoundTripsAlone) {
  for (const Sized& s : every_item()) {
    const Masks masks = masks_of(s);
    for (const FieldDesc& f : s.item->layout(s.gen)->fields) {
      if (f.structure != nullptr || f.first_bit + size_t{f.width} > s.dwords * 32) continue;
      for (const uint64_t value : {uint64_t{1}, low_mask(f.width), uint64_t{1} << (f.width - 1)}) {
        std::vector<uint32_t> in = make(s, masks, [] { return 0u; });
        put_bits(in, f.first_bit, f.width, value);
        expect_round_trip(s, in, f.name.data());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(EveryItem, PackRefusesAGenerationThatLacksTheItem) {
  std::vector<uint32_t> in(64), out(64);
  for (const auto* item : commands()) {
    for (size_t g = 0; g < kGenCount; ++g) {
      const auto gen = static_cast<GenId>(g);
      if (item->layout(gen) == nullptr) {
        EXPECT_FALSE(item->repack(gen, in, out)) << item->name << " " << name_of(gen);
      }
    }
  }
}

TEST(EveryItem, EmptyAndShortInputIsReadAsZeros) {
  for (const Sized& s : every_item()) {
    std::vector<uint32_t> out(s.dwords);
    EXPECT_TRUE(s.item->repack(s.gen, {}, out)) << s.label();
  }
}

using Values = std::map<std::string, uint64_t>;

// Paths of fields, for both sides of the comparison.
class Paths {
 protected:
  void push(std::string_view name, int index) {
    lengths_.push_back(path_.size());
    path_ += name;
    path_ += index >= 0 ? fmt::format("[{}].", index) : ".";
  }
  void pop() {
    path_.resize(lengths_.back());
    lengths_.pop_back();
  }
  std::string at(std::string_view name) const { return path_ + std::string(name); }

 private:
  std::string path_;
  std::vector<size_t> lengths_;
};

uint64_t bits_of(double value) {
  return std::isnan(value) ? 0x7ff8'0000'0000'0000 : std::bit_cast<uint64_t>(value);
}

class Members final : public MemberSink, Paths {
 public:
  Values values;
  void integer(std::string_view name, uint64_t value) override { values[at(name)] = value; }
  void number(std::string_view name, double value) override { values[at(name)] = bits_of(value); }
  void begin(std::string_view name, int index) override { push(name, index); }
  void end() override { pop(); }
};

class Fields final : public FieldVisitor, Paths {
 public:
  Values values;
  void field(const FieldDesc& f, unsigned, uint64_t raw) override {
    const bool is_number = f.type == FieldType::float32 || f.type == FieldType::ufixed || f.type == FieldType::sfixed;
    values[at(f.name)] = is_number ? bits_of(fixed_value(f, raw)) : field_value(f, raw);
  }
  void begin_struct(const FieldDesc& f, unsigned) override { push(f.name, -1); }
  void end_struct() override { pop(); }
  void begin_element(const GroupDesc& g, unsigned i) override { push(g.name, static_cast<int>(i)); }
  void end_element() override { pop(); }
};

TEST(EveryItem, MembersAreWhatTheGenericWalkReads) {
  std::mt19937 random(kSeed);
  size_t compared = 0;
  for (const Sized& s : every_item()) {
    const std::vector<uint32_t> in = make(s, masks_of(s), random);
    Members members;
    visit_members(*s.item, s.gen, in, members);
    Fields fields;
    visit_fields(*s.item, s.gen, in, fields);
    for (const auto& [path, value] : fields.values) {
      const auto it = members.values.find(path);
      ASSERT_NE(it, members.values.end()) << s.label() << " has no member " << path;
      ASSERT_EQ(it->second, value) << s.label() << " " << path << " seed " << kSeed;
      members.values.erase(it);
      ++compared;
    }
    for (const auto& [path, value] : members.values) {
      ASSERT_EQ(value, 0u) << s.label() << " " << path << " is not on this generation";
    }
  }
  EXPECT_GT(compared, 10000u);
}

class Reports final : public FieldVisitor {
 public:
  struct One {
    unsigned first, width;
    uint64_t value;
    bool must_be_one;
  };
  std::vector<One> all;
  void field(const FieldDesc&, unsigned, uint64_t) override {}
  void reserved_set(unsigned first, unsigned width, uint64_t value, bool must_be_one) override {
    all.push_back({first, width, value, must_be_one});
  }
};

TEST(EveryItem, ReservedBitsAreReportedWhenSet) {
  std::mt19937 random(kSeed);
  for (const Sized& s : every_item()) {
    const Masks masks = masks_of(s);
    const std::vector<uint32_t> good = make(s, masks, random);
    ASSERT_FALSE(has_reserved_set(*s.item, s.gen, good)) << s.label();
    for (const ReservedDesc& r : s.item->layout(s.gen)->reserved) {
      for (const unsigned bit : {unsigned{r.first_bit}, r.first_bit + r.width - 1u}) {
        if (bit / 32 >= s.dwords) continue;
        std::vector<uint32_t> bad = good;
        bad[bit / 32] ^= 1u << bit % 32;
        Reports reports;
        visit_fields(*s.item, s.gen, bad, reports);
        if (r.ignored) {
          ASSERT_TRUE(reports.all.empty()) << s.label() << " bit " << bit;
          continue;
        }
        ASSERT_EQ(reports.all.size(), 1u) << s.label() << " bit " << bit;
        const Reports::One& one = reports.all.front();
        ASSERT_LE(one.first, bit);
        ASSERT_GT(one.first + one.width, bit);
        ASSERT_EQ(one.must_be_one, r.must_be_one);
        ASSERT_EQ(((one.value >> (bit - one.first)) & 1) != 0, !r.must_be_one);
      }
    }
  }
}

// Every bit of an item is a field, a header bit or declared reserved, in the tables too.
TEST(EveryItem, EveryBitIsAccountedFor) {
  for (const Sized& s : every_item()) {
    Masks masks = masks_of(s);
    std::vector<uint32_t> seen = masks.fields;
    const Layout& layout = *s.item->layout(s.gen);
    for (const ReservedDesc& r : layout.reserved) mark(seen, r.first_bit, r.width);
    if (s.command != nullptr) {
      const auto g = static_cast<size_t>(s.gen);
      seen[0] |= s.command->match_of_gen[g].mask;
      const LengthRule& length = s.command->length_of_gen[g];
      if (length.fixed == 0) mark(seen, length.first_bit, length.width);
    }
    // Reserved bits inside groups and nested structures.
    std::vector<uint32_t> ones(s.dwords, ~0u);
    Reports reports;
    visit_fields(*s.item, s.gen, ones, reports);
    for (const Reports::One& one : reports.all) mark(seen, one.first, one.width);
    for (size_t i = 0; i < seen.size(); ++i) seen[i] |= masks.ones[i] | masks.ignored[i];
    bool is_masked = false;
    if (const RegisterDesc* r = find_register(s.item->name); r == s.item) is_masked = r->access == Access::masked;
    size_t end = s.dwords * 32;
    for (const PciRegisterDesc* r : pci_registers()) {
      if (r == s.item) end = r->bytes * 8u;
    }
    for (const GroupDesc& g : layout.groups) {
      if (g.count == 0) end -= (end - g.first_bit) % g.element_bits;
    }
    for (size_t bit = 0; bit < end; ++bit) {
      if (is_masked && bit >= 16) continue;
      ASSERT_TRUE((seen[bit / 32] >> bit % 32 & 1) != 0) << s.label() << " bit " << bit;
    }
  }
}

}  // namespace
}  // namespace halogen::spec::test
