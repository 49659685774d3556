// Words of the assembly language, shared by printer and assembler. The language is that of Intel's IGA with additions
// for older generations: docs/eu-assembly.md.
#pragma once

#include <array>
#include <string_view>

#include "eu/isa/instruction.h"

namespace halogen::eu::text {

struct Word {
  std::string_view name;
  uint8_t value;
};

template <class E>
constexpr uint8_t number(E value) {
  return static_cast<uint8_t>(value);
}

inline constexpr Word kTypes[] = {{"ub", number(Type::ub)}, {"b", number(Type::b)},   {"uw", number(Type::uw)},
                                  {"w", number(Type::w)},   {"ud", number(Type::ud)}, {"d", number(Type::d)},
                                  {"uq", number(Type::uq)}, {"q", number(Type::q)},   {"hf", number(Type::hf)},
                                  {"f", number(Type::f)},   {"df", number(Type::df)}, {"nf", number(Type::nf)},
                                  {"v", number(Type::v)},   {"uv", number(Type::uv)}, {"vf", number(Type::vf)}};

inline constexpr Word kConditions[] = {{"eq", number(Condition::zero)},     {"ne", number(Condition::not_zero)},
                                       {"gt", number(Condition::greater)},  {"ge", number(Condition::greater_equal)},
                                       {"lt", number(Condition::less)},     {"le", number(Condition::less_equal)},
                                       {"rd", number(Condition::round)},    {"ov", number(Condition::overflow)},
                                       {"un", number(Condition::unordered)}};

inline constexpr Word kPredicates[] = {
    {"anyv", number(Predicate::any_v)},    {"allv", number(Predicate::all_v)},    {"any2h", number(Predicate::any2h)},
    {"all2h", number(Predicate::all2h)},   {"any4h", number(Predicate::any4h)},   {"all4h", number(Predicate::all4h)},
    {"any8h", number(Predicate::any8h)},   {"all8h", number(Predicate::all8h)},   {"any16h", number(Predicate::any16h)},
    {"all16h", number(Predicate::all16h)}, {"any32h", number(Predicate::any32h)}, {"all32h", number(Predicate::all32h)},
    {"x", number(Predicate::replicate_x)}, {"y", number(Predicate::replicate_y)}, {"z", number(Predicate::replicate_z)},
    {"w", number(Predicate::replicate_w)}};

inline constexpr Word kMath[] = {{"inv", 1},   {"log", 2},   {"exp", 3},    {"sqt", 4},   {"rsqt", 5},
                                 {"sin", 6},   {"cos", 7},   {"sincos", 8}, {"fdiv", 9},  {"pow", 10},
                                 {"idiv", 11}, {"iqot", 12}, {"irem", 13},  {"invm", 14}, {"rsqtm", 15}};

inline constexpr Word kSync[] = {{"nop", 0}, {"allrd", 2}, {"allwr", 3}, {"bar", 14}, {"host", 15}};

// Architecture registers by the upper four bits of their number. kOldArf: names on Gen4 and Gen5.
inline constexpr Word kArf[] = {{"null", 0}, {"a", 1},   {"acc", 2},   {"f", 3},   {"ce", 4},  {"msg", 5},
                                {"sp", 6},   {"sr", 7},  {"cr", 8},    {"n", 9},   {"ip", 10}, {"tdr", 11},
                                {"tm", 12},  {"fc", 13}, {"arfe", 14}, {"dbg", 15}};
inline constexpr Word kOldArf[] = {{"mask", 4}, {"ms", 5}, {"msd", 6}};

// Returns the name of a value. Empty: there is no such value.
template <size_t N>
constexpr std::string_view name_in(const Word (&words)[N], uint8_t value) {
  for (const Word& word : words) {
    if (word.value == value) {
      return word.name;
    }
  }
  return {};
}

// Returns the value of a name. -1: there is no such name.
template <size_t N>
constexpr int value_in(const Word (&words)[N], std::string_view name) {
  for (const Word& word : words) {
    if (word.name == name) {
      return word.value;
    }
  }
  return -1;
}

}  // namespace halogen::eu::text
