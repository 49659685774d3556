#include "gen/message_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {

namespace {

using spec::GenId;

// Gen4 is the base; each later row says what changed.
constexpr MessageRules gen4() {
  return MessageRules{.gens = from_to(GenId::gen4, GenId::gen4),
                      .block_offset_bytes = true,
                      .bindless_index = 0,
                      .noncoherent_index = 0,
                      .local_index = 0,
                      .order = SamplerOrder::coordinates_and_level,
                      .layers = LayerDistance::eleven_rows,
                      .cube_as_volume = true,
                      .alignment_in_elements = false,
                      .y_offset_unit = 2,
                      .buffer_depth_shift = 20,
                      .array_bit = false,
                      .channel_selects = false,
                      .typed_borders = false,
                      .target_control = true,
                      .sample_position_interleaved = true,
                      .gateway = true,
                      .spawner_rows = 512};
}

constexpr MessageRules gen4_5() {
  MessageRules rules = gen4();
  rules.gens = from_to(GenId::gen4_5, GenId::gen4_5);
  rules.spawner_rows = 768;
  return rules;
}

constexpr MessageRules gen5() {
  MessageRules rules = gen4_5();
  rules.gens = from_to(GenId::gen5, GenId::gen5);
  rules.cube_as_volume = false;
  rules.order = SamplerOrder::coordinates_reference;
  rules.typed_borders = true;
  return rules;
}

constexpr MessageRules gen6() {
  MessageRules rules = gen5();
  rules.gens = from_to(GenId::gen6, GenId::gen6);
  rules.target_control = false;
  rules.block_offset_bytes = false;
  rules.spawner_rows = 0;
  return rules;
}

constexpr MessageRules gen7() {
  MessageRules rules = gen6();
  rules.gens = from_to(GenId::gen7, GenId::gen7_5);
  rules.local_index = 254;
  rules.gateway = false;
  rules.array_bit = true;
  rules.buffer_depth_shift = 21;
  rules.order = SamplerOrder::reference_level_first;
  rules.typed_borders = false;
  rules.sample_position_interleaved = false;
  return rules;
}

constexpr MessageRules gen8() {
  MessageRules rules = gen7();
  rules.gens = from_to(GenId::gen8, GenId::gen8);
  rules.noncoherent_index = 253;
  rules.channel_selects = true;
  rules.layers = LayerDistance::stated;
  rules.y_offset_unit = 4;
  return rules;
}

constexpr MessageRules gen9() {
  MessageRules rules = gen8();
  rules.gens = from_to(GenId::gen9, GenId::gen9);
  rules.bindless_index = 252;
  rules.order = SamplerOrder::reference_level_first_ld_v;
  rules.alignment_in_elements = true;
  return rules;
}

constexpr MessageRules gen11() {
  MessageRules rules = gen9();
  rules.gens = from_to(GenId::gen11, GenId::gen12);
  return rules;
}

constexpr std::array kRules{gen4(), gen4_5(), gen5(), gen6(), gen7(), gen8(), gen9(), gen11()};

static_assert(one_row_each<kRules>);

}  // namespace

const MessageRules& message_rules(GenId gen) {
  return row_of(kRules, gen, "message_rules");
}

}  // namespace halogen
