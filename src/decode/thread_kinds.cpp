#include "decode/thread_kinds.h"

#include <algorithm>

#include "decode/field_list.h"
#include "spec/field_visitor.h"

namespace halogen::decode {
namespace {

using enum spec::ThreadKind;

constexpr std::string_view kEnable = "enable";
constexpr std::string_view kPixels = "dispatch_8_pixel_enable|dispatch_16_pixel_enable|dispatch_32_pixel_enable";

// Threads of an interface descriptor are those of the command that dispatches it.
constexpr ThreadRow kRows[] = {
    {"3DSTATE_DS", domain, kEnable},
    {"3DSTATE_GS", geometry_simd8, kEnable, "dispatch_mode", "simd8"},
    {"3DSTATE_GS", geometry_single, kEnable, "dispatch_mode", {}},
    {"3DSTATE_HS", hull_eight, kEnable, "dispatch_mode", "eight_patch"},
    {"3DSTATE_HS", hull_single, kEnable, "dispatch_mode", "single_patch"},
    {"3DSTATE_HS", hull_single, kEnable, "dispatch_mode", {}},
    {"3DSTATE_PS", pixel, kPixels},
    {"3DSTATE_VS", vertex_simd8, kEnable, "simd8_dispatch_enable", "true"},
    {"3DSTATE_VS", vertex_pair, kEnable, "simd8_dispatch_enable", {}},
    {"3DSTATE_WM", pixel, kPixels},
    {"CLIP_STATE", clip},
    {"GPGPU_WALKER", compute},
    {"GS_STATE", geometry_single},
    {"MEDIA_OBJECT", media},
    {"MEDIA_OBJECT_GRPID", media},
    {"MEDIA_OBJECT_PRT", media},
    {"MEDIA_OBJECT_WALKER", media},
    {"SF_STATE", setup},
    {"VS_STATE", vertex_pair},
    {"WM_STATE", pixel},
};

bool any_set(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords, std::string_view names) {
  while (!names.empty()) {
    const size_t bar = std::min(names.find('|'), names.size());
    if (value_of(item, gen, dwords, names.substr(0, bar)) != 0) return true;
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return false;
}

std::string_view word_of(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords,
                         std::string_view name) {
  const spec::FieldDesc* const field = spec::find_field(item, gen, name);
  if (field == nullptr) return {};
  const uint64_t raw = spec::read_field(*field, dwords);
  if (field->enumeration != nullptr) return field->enumeration->name_of(raw, gen);
  return raw != 0 ? "true" : "";
}

}  // namespace

std::span<const ThreadRow> thread_rows() {
  return kRows;
}

std::optional<spec::ThreadKind> thread_kind(const spec::ItemDesc& item, spec::GenId gen,
                                            std::span<const uint32_t> dwords) {
  for (const ThreadRow& row : kRows) {
    if (row.owner != item.name) continue;
    if (!row.only_if.empty() && !any_set(item, gen, dwords, row.only_if)) continue;
    if (!row.mode.empty() && word_of(item, gen, dwords, row.mode) != row.word) continue;
    return row.kind;
  }
  return std::nullopt;
}

}  // namespace halogen::decode
