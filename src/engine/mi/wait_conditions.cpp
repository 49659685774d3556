#include "engine/mi/wait_conditions.h"

#include <charconv>

namespace halogen::engine {
namespace {

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) {
    return false;
  }
  text.remove_prefix(start.size());
  return true;
}

// Parses "a_..." as 0, "b_..." as 1.
std::optional<unsigned> take_letter(std::string_view& text) {
  if (text.size() < 2 || text[0] < 'a' || text[0] > 'd' || text[1] != '_') {
    return std::nullopt;
  }
  const auto number = static_cast<unsigned>(text[0] - 'a');
  text.remove_prefix(2);
  return number;
}

std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number == 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

std::optional<WaitConditionKind> pipe_condition(std::string_view rest) {
  if (rest == "vertical_blank_wait_enable" || rest == "start_of_v_blank_wait_enable") {
    return WaitConditionKind::vertical_blank;
  }
  if (rest == "horizontal_blank_wait_enable") {
    return WaitConditionKind::horizontal_blank;
  }
  if (rest == "scan_line_wait_enable") {
    return WaitConditionKind::scan_line;
  }
  return std::nullopt;
}

// Plane selects of MI_DISPLAY_FLIP: planes A, B, sprites A, B; plane and sprite C of the three-pipe parts are 4 and 5.
// Planes are numbered from 0 and skip 3.
constexpr unsigned kSprite = 2;
constexpr unsigned kThirdPlane = 4;

unsigned lettered_plane(unsigned letter) {
  return letter < 2 ? letter : kThirdPlane;
}
unsigned lettered_sprite(unsigned letter) {
  return letter < 2 ? kSprite + letter : kThirdPlane + 1;
}
unsigned numbered_plane(unsigned number) {
  return number <= 3 ? number - 1 : number;
}

}  // namespace

std::optional<WaitCondition> wait_condition_of(std::string_view field_name) {
  constexpr std::string_view kFlip = "flip_pending_wait_enable";
  if (field_name == "condition_code_wait_select") {
    return WaitCondition{WaitConditionKind::condition_code};
  }
  if (field_name == "frame_buffer_compression_idle_wait_enable") {
    return WaitCondition{WaitConditionKind::compression};
  }
  if (field_name == "overlay_flip_pending_wait_enable") {
    return WaitCondition{WaitConditionKind::overlay_flip};
  }
  std::string_view rest = field_name;
  if (take(rest, "display_pipe_")) {
    const std::optional<unsigned> pipe = take_letter(rest);
    const std::optional<WaitConditionKind> kind = pipe_condition(rest);
    return kind ? std::optional(WaitCondition{*kind, pipe.value_or(0)}) : std::nullopt;
  }
  std::optional<unsigned> plane;
  if (take(rest, "display_plane_")) {
    if (const std::optional<unsigned> number = take_number(rest)) {
      plane = numbered_plane(*number);
    } else {
      const std::optional<unsigned> letter = take_letter(rest);
      plane = letter ? lettered_plane(*letter) : 0;
    }
  } else if (take(rest, "display_sprite_")) {
    if (const std::optional<unsigned> letter = take_letter(rest)) {
      plane = lettered_sprite(*letter);
    }
  }
  if (plane && rest == kFlip) {
    return WaitCondition{WaitConditionKind::flip_pending, *plane};
  }
  return std::nullopt;
}

}  // namespace halogen::engine
