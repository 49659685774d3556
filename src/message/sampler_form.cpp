#include "message/sampler_form.h"

namespace halogen::message {
namespace {

using Type = eu::MessageControl::Type;
using Simd = eu::MessageControl::Simd;
using Form = SamplerForm;
using Action = Form::Action;
using Level = Form::Level;

constexpr uint8_t kNone = Form::kNone;

bool compares(Type type) {
  switch (type) {
    case Type::sample_c:
    case Type::sample_b_c:
    case Type::sample_l_c:
    case Type::sample_d_c:
    case Type::sample_c_lz:
    case Type::gather4_c:
    case Type::gather4_po_c:
      return true;
    default:
      return false;
  }
}

std::array<uint8_t, 4> from(unsigned first) {
  return {static_cast<uint8_t>(first), static_cast<uint8_t>(first + 1), static_cast<uint8_t>(first + 2),
          static_cast<uint8_t>(first + 3)};
}

// Returns the action of a message type, without the positions of its parameters.
std::optional<Form> action_of(Type type) {
  switch (type) {
    case Type::sample:
    case Type::sample_c:
      return Form{.action = Action::sample, .from = Level::of_quad};
    case Type::sample_b:
    case Type::sample_b_c:
      return Form{.action = Action::sample, .from = Level::of_quad_and_bias};
    case Type::sample_l:
    case Type::sample_l_c:
      return Form{.action = Action::sample, .from = Level::given};
    case Type::sample_lz:
    case Type::sample_c_lz:
      return Form{.action = Action::sample, .from = Level::zero};
    case Type::sample_d:
    case Type::sample_d_c:
      return Form{.action = Action::sample, .from = Level::of_gradients};
    case Type::gather4:
    case Type::gather4_c:
    case Type::gather4_po:
    case Type::gather4_po_c:
      return Form{.action = Action::gather};
    case Type::ld:
    case Type::ld_lz:
    case Type::ld2dms:
    case Type::ld2dms_w:
    case Type::ld2dss:
      return Form{.action = Action::load};
    case Type::ld_mcs:
      return Form{.action = Action::load_mcs};
    case Type::resinfo:
      return Form{.action = Action::size};
    case Type::lod:
      return Form{.action = Action::levels, .from = Level::of_quad};
    case Type::sampleinfo:
      return Form{.action = Action::samples};
    default:
      return std::nullopt;
  }
}

bool has_level(const Form& form) {
  return form.from == Level::of_quad_and_bias || form.from == Level::given;
}

// Gen4: u v r, level or bias, reference. All gradients along x precede those along y.
void place_first(Form& form, Simd simd, bool reference, size_t length) {
  constexpr uint8_t kLevel = 3;
  form.at = {0, 1, 2, kNone};
  if (form.action == Action::size) {
    form.level = simd == Simd::simd4x2 ? kLevel : 0;
    return;
  }
  if (has_level(form) || form.action == Action::load) {
    form.level = kLevel;
  }
  if (reference) {
    form.reference = has_level(form) ? kLevel + 1 : kLevel;
  }
  if (form.from == Level::of_gradients) {
    const bool pairs = simd == Simd::simd4x2;
    const unsigned count = pairs || length > 7 ? 3 : 2;
    const unsigned first = pairs ? 4 : count;
    const unsigned second = pairs ? 8 : 2 * count;
    if (count == 2) {
      form.at[2] = kNone;
    }
    for (unsigned i = 0; i < count; ++i) {
      form.dx[i] = static_cast<uint8_t>(first + i);
      form.dy[i] = static_cast<uint8_t>(second + i);
    }
  }
}

// Gen5 and Gen6: four coordinates, reference, level or bias, then gradients in pairs.
void place_second(Form& form, bool reference) {
  uint8_t next = 4;
  switch (form.action) {
    case Action::size:
      form.level = 0;
      return;
    case Action::load:
      form.at[3] = kNone;
      form.level = 3;
      form.sample = 4;
      return;
    default:
      break;
  }
  if (reference) {
    form.reference = next++;
  }
  if (has_level(form)) {
    form.level = next++;
  }
  if (form.from == Level::of_gradients) {
    for (unsigned i = 0; i < 3; ++i) {
      form.dx[i] = next++;
      form.dy[i] = next++;
    }
  }
}

void place_load(Form& form, Type type, SamplerOrder order) {
  const auto at = [&](uint8_t u, uint8_t v, uint8_t r) { form.at = {u, v, r, kNone}; };
  switch (type) {
    case Type::ld:
      if (order == SamplerOrder::reference_level_first_ld_v) {
        at(0, 1, 3);
        form.level = 2;
      } else {
        at(0, 2, 3);
        form.level = 1;
      }
      return;
    case Type::ld2dms:
      at(2, 3, 4);
      form.sample = 0;
      return;
    case Type::ld2dms_w:
      at(3, 4, 5);
      form.sample = 0;
      return;
    case Type::ld2dss:
      at(1, 2, 3);
      form.sample = 0;
      return;
    default:
      at(0, 1, 2);
      return;
  }
}

// Gen7 and later: reference, level or bias, then the coordinates, each followed by its gradients.
void place_later(Form& form, Type type, SamplerOrder order, bool reference) {
  if (form.action == Action::size) {
    form.level = 0;
    return;
  }
  if (form.action == Action::load || form.action == Action::load_mcs) {
    place_load(form, type, order);
    return;
  }
  uint8_t next = 0;
  if (reference) {
    form.reference = next++;
  }
  if (has_level(form)) {
    form.level = next++;
  }
  form.at = from(next);
  if (form.from == Level::of_gradients) {
    for (unsigned i = 0; i < 3; ++i) {
      form.at[i] = next++;
      form.dx[i] = next++;
      form.dy[i] = next++;
    }
    form.at[3] = next;
  }
  if (type == Type::gather4_po || type == Type::gather4_po_c) {
    form.offset = {static_cast<uint8_t>(next + 2), static_cast<uint8_t>(next + 3)};
    form.at[2] = static_cast<uint8_t>(next + 4);
    form.at[3] = kNone;
  }
}

}  // namespace

std::optional<SamplerForm> sampler_form(const MessageRules& rules, const eu::MessageControl& control, size_t length) {
  std::optional<Form> form = action_of(control.type);
  if (!form) {
    return std::nullopt;
  }
  const bool reference = compares(control.type);
  switch (rules.order) {
    case SamplerOrder::coordinates_and_level:
      place_first(*form, control.simd, reference, length);
      break;
    case SamplerOrder::coordinates_reference:
      place_second(*form, reference);
      break;
    case SamplerOrder::reference_level_first:
    case SamplerOrder::reference_level_first_ld_v:
      place_later(*form, control.type, rules.order, reference);
      break;
  }
  return form;
}

}  // namespace halogen::message
