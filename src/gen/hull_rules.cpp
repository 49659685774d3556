#include "gen/hull_rules.h"

namespace halogen {
namespace {

constexpr HullRules kFirst{.instance_shift = 17};
constexpr HullRules kGen11{.instance_shift = 16};

}  // namespace

const HullRules& hull_rules(spec::GenId gen) {
  return gen >= spec::GenId::gen11 ? kGen11 : kFirst;
}

}  // namespace halogen
