// Commands and structures, field by field, from the descriptions: a base that is set by field names, and changes whose
// bytes all have a meaning (an enumerator, a flag, an address of the world, a float, a boundary value, random bits).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bits.h"
#include "fuzz/input.h"
#include "spec/field_visitor.h"

namespace halogen::fuzz {

// A field at its position in an item. `name`: the innermost field's name, with "@i" in element i of a group.
struct FieldPlace {
  std::string name;
  const spec::FieldDesc* field = nullptr;
  unsigned first_bit = 0;
};

class FieldList final : private spec::FieldVisitor {
 public:
  FieldList(const spec::ItemDesc& item, spec::GenId gen, size_t dwords) {
    const std::vector<uint32_t> zeros(dwords);
    spec::visit_fields(item, gen, zeros, *this);
  }
  const std::vector<FieldPlace>& places() const { return places_; }

 private:
  void field(const spec::FieldDesc& field, unsigned first_bit, uint64_t /*raw*/) override {
    places_.push_back({std::string(field.name) + element_, &field, first_bit});
  }
  void begin_element(const spec::GroupDesc& /*group*/, unsigned index) override {
    element_ = "@" + std::to_string(index);
  }
  void end_element() override { element_.clear(); }

  std::vector<FieldPlace> places_;
  std::string element_;
};

// A value for a field of an item. Fields that a generation lacks are left out, so one list serves all generations.
struct FieldValue {
  std::string_view item;
  std::string_view field;
  uint64_t value;
};

class FieldMaker {
 public:
  // `addresses`: places of the world, which address fields get.
  FieldMaker(spec::GenId gen, std::vector<uint64_t> addresses) : gen_(gen), addresses_(std::move(addresses)) {}

  spec::GenId gen() const { return gen_; }

  // Returns a command of `dwords` dwords with its header and no other field set. 0: its shortest length.
  std::vector<uint32_t> command(const spec::CommandDesc& desc, size_t dwords = 0) const {
    const spec::LengthRule& length = desc.length_of_gen[index()];
    const spec::MatchRule& match = desc.match_of_gen[index()];
    size_t count = length.fixed;
    if (count == 0) {
      const size_t most = std::max<size_t>(length.max, length.min);
      count =
          std::clamp<size_t>(std::max<size_t>(dwords, 1), std::max<size_t>(length.min, 1), std::max<size_t>(most, 1));
    }
    std::vector<uint32_t> words(std::max<size_t>(count, 1));
    words[0] = match.value;
    if (length.fixed == 0 && length.width != 0) {
      const uint32_t mask = ((1u << length.width) - 1u) << length.first_bit;
      words[0] = (words[0] & ~mask) | (static_cast<uint32_t>(count - length.bias) << length.first_bit & mask);
    }
    return words;
  }
  std::vector<uint32_t> structure(const spec::StructDesc& desc) const {
    return std::vector<uint32_t>(desc.dwords_of_gen[index()]);
  }
  bool has(const spec::ItemDesc& item) const { return item.layout(gen_) != nullptr; }

  // Sets the fields of the item that `values` names.
  void set(const spec::ItemDesc& item, std::span<uint32_t> words, std::span<const FieldValue> values) const {
    const FieldList list(item, gen_, words.size());
    for (const FieldPlace& place : list.places()) {
      for (const FieldValue& each : values) {
        if (each.item == item.name && each.field == place.name) put(place, words, each.value);
      }
    }
  }

  // Changes up to `most` fields. A header keeps its opcode and length, which are not fields.
  void change(Input& in, const spec::ItemDesc& item, std::span<uint32_t> words, unsigned most = 4) const {
    const FieldList list(item, gen_, words.size());
    if (list.places().empty()) return;
    for (unsigned more = 1 + in.take<uint8_t>() % most; more != 0; --more) {
      const size_t which = list.places().size() <= 256 ? in.take<uint8_t>() : in.take<uint16_t>();
      const FieldPlace& place = list.places()[which % list.places().size()];
      put(place, words, value(in, *place.field));
    }
  }

 private:
  size_t index() const { return static_cast<size_t>(gen_); }

  static void put(const FieldPlace& place, std::span<uint32_t> words, uint64_t value) {
    uint64_t raw = value;
    if (spec::is_in_place(place.field->type)) raw >>= place.first_bit % 32;
    for (unsigned done = 0; done < place.field->width; ++done) {
      const unsigned bit = place.first_bit + done;
      if (bit / 32 >= words.size()) return;
      const uint32_t mask = 1u << bit % 32;
      const bool set = done < 64 && (raw >> done & 1) != 0;
      words[bit / 32] = set ? words[bit / 32] | mask : words[bit / 32] & ~mask;
    }
  }

  uint64_t number(Input& in, unsigned width) const {
    const uint64_t all = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    const auto how = in.take<uint8_t>();
    if (how < 0x80) return how & all;  // a small number
    switch (how & 7) {
      case 0:
        return all;
      case 1:
        return all - 1;
      case 2:
        return all >> 1;
      case 3:
        return (all >> 1) + 1;
      case 4:
        return uint64_t{1} << in.take<uint8_t>() % 64 & all;
      default:
        return in.take<uint64_t>() & all;
    }
  }

  uint64_t value(Input& in, const spec::FieldDesc& field) const {
    constexpr std::array<float, 16> kFloats{0.0f,   1.0f,  -1.0f,  0.5f,  2.0f,   -0.25f, 16.0f,    48.0f,
                                            -48.0f, 1e-3f, 100.0f, 1e30f, -1e30f, 1e-40f, 65535.5f, -0.0f};
    if (field.enumeration != nullptr && !field.enumeration->values.empty()) {
      const auto which = in.take<uint8_t>();
      if (which != 0xff) return field.enumeration->values[which % field.enumeration->values.size()].value;
      return in.take<uint16_t>();
    }
    switch (field.type) {
      case spec::FieldType::boolean:
      case spec::FieldType::mbo:
        return in.take<uint8_t>() & 1;
      case spec::FieldType::float32: {
        const auto which = in.take<uint8_t>();
        if (which < 0xf0) return std::bit_cast<uint32_t>(kFloats[which % kFloats.size()]);
        return which < 0xf8 ? 0x7fc0'0000u : in.take<uint32_t>();
      }
      case spec::FieldType::gpu_va:
      case spec::FieldType::ggtt:
      case spec::FieldType::phys:
      case spec::FieldType::offset: {
        const auto which = in.take<uint8_t>();
        if (which >= 0xf8) return in.take<uint64_t>();
        const uint64_t address = addresses_[which % addresses_.size()];
        return which < 0x80 ? address : address + in.take<uint16_t>();
      }
      default:
        return number(in, field.width);
    }
  }

  spec::GenId gen_;
  std::vector<uint64_t> addresses_;
};

}  // namespace halogen::fuzz
