#include "gen/depth_rules.h"

namespace halogen {
namespace {

constexpr DepthRules kGen4to5{.depth = {4, 2}, .depth16 = {4, 2}, .depth16_odd = {4, 2}, .stencil = {4, 2}};
constexpr DepthRules kGen6{.depth = {4, 4}, .depth16 = {4, 4}, .depth16_odd = {4, 4}, .stencil = {4, 2}};
constexpr DepthRules kGen8to11{.depth = {4, 4}, .depth16 = {8, 4}, .depth16_odd = {8, 4}, .stencil = {8, 8}};
constexpr DepthRules kGen12{.depth = {8, 4}, .depth16 = {8, 8}, .depth16_odd = {16, 4}, .stencil = {16, 8}};

}  // namespace

const DepthRules& depth_rules(spec::GenId gen) {
  if (gen >= spec::GenId::gen12) {
    return kGen12;
  }
  if (gen >= spec::GenId::gen8) {
    return kGen8to11;
  }
  return gen >= spec::GenId::gen6 ? kGen6 : kGen4to5;
}

}  // namespace halogen
