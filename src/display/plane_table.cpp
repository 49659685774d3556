#include "display/plane_table.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "hw/display_plane.h"
#include "hw/display_plane_gen9.h"
#include "hw/display_sprite.h"
#include "spec/field_visitor.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

using spec::unpack_register;

struct Names {
  std::string_view control;
  std::string_view linear_offset;
  std::string_view stride;
  std::string_view position;
  std::string_view size;
  std::string_view tile_offset;
  std::string_view surface;
  std::string_view live;
  std::string_view color_control = {};
};

constexpr Names kDisplay = {"DSPCNTR", "DSPLINOFF",  "DSPSTRIDE", "DSPPOS",
                            "DSPSIZE", "DSPTILEOFF", "DSPSURF",   "DSPSURFLIVE"};
constexpr Names kVideoSprite = {"DVSCNTR", "DVSLINOFF",  "DVSSTRIDE", "DVSPOS",
                                "DVSSIZE", "DVSTILEOFF", "DVSSURF",   "DVSSURFLIVE"};
constexpr Names kSprite = {"SPRCTL", "", "SPRSTRIDE", "SPRPOS", "SPRSIZE", "SPROFFSET", "SPRSURF", "SPRSURFLIVE"};
constexpr Names kPairedSprite = {"SPCNTR", "SPLINOFF",  "SPSTRIDE", "SPPOS",
                                 "SPSIZE", "SPTILEOFF", "SPSURF",   "SPSURFLIVE"};
constexpr Names kUniversal = {"PLANE_CTL",    "",           "PLANE_STRIDE",   "PLANE_POS",      "PLANE_SIZE",
                              "PLANE_OFFSET", "PLANE_SURF", "PLANE_SURFLIVE", "PLANE_COLOR_CTL"};

constexpr unsigned kPlaneC = 2;        // number in a flip command if there is no pipe C
constexpr unsigned kPlaneOfPipeC = 4;  // number in a flip command if there is a pipe C
constexpr unsigned kSpriteNumbers[] = {2, 3, 5, 6, 7, 8};
constexpr unsigned kUniversalPlanes = 7;
constexpr unsigned kPipesInSequence = 3;

class Finder {
 public:
  explicit Finder(mmio::RegisterBank& bank) : bank_(bank) {}

  // Adds the plane if the device has its surface register.
  void add(PlaneModel plane, const Names& names, std::string_view suffix, unsigned index) {
    const auto find = [&](std::string_view name) -> const mmio::RegisterSlot* {
      return name.empty() ? nullptr : bank_.use(std::string(name).append(suffix), {}, index);
    };
    if (find(names.surface) == nullptr) {
      return;
    }
    plane.slots = {.control = find(names.control),
                   .linear_offset = find(names.linear_offset),
                   .stride = find(names.stride),
                   .position = find(names.position),
                   .size = find(names.size),
                   .tile_offset = find(names.tile_offset),
                   .surface = find(names.surface),
                   .color_control = find(names.color_control),
                   .live = find(names.live)};
    plane.selects_pipe = plane.kind == PlaneKind::display &&
                         spec::find_field(hw::DSPCNTR::kDesc, bank_.map().model().gen, "pipe_select") != nullptr;
    plane.windowed = plane.slots.size != nullptr && !(plane.kind == PlaneKind::display && plane.number < kPlaneC);
    planes.push_back(plane);
  }

  std::vector<PlaneModel> planes;

 private:
  mmio::RegisterBank& bank_;
};

// Returns the number of a universal plane, with the gap that flip commands have between the third and the fourth.
unsigned universal_number(unsigned pipe, unsigned place) {
  const unsigned count =
      pipe < kPipesInSequence ? place * kPipesInSequence + pipe : kUniversalPlanes * kPipesInSequence + place;
  return count < kPipesInSequence ? count : count + 1;
}

// A mirror bit is ignored if the plane is rotated (Linux i915, chv_plane_check_rotation).
template <class R>
PlaneControl sprite_control(const R& reg, const PlaneModel& plane, bool mirror = false) {
  return {.enabled = reg.plane_enable,
          .rotated_180 = reg.rotate_180,
          .mirrored = mirror && !reg.rotate_180,
          .tiling = static_cast<uint8_t>(reg.tiled ? 1 : 0),
          .pipe = plane.pipe};
}

}  // namespace

std::vector<PlaneModel> find_planes(mmio::RegisterBank& bank, unsigned pipes) {
  Finder finder(bank);
  const auto plane = [](unsigned number, PlaneKind kind, unsigned pipe, unsigned place) {
    return PlaneModel{number, kind, pipe, place, false, false, {}};
  };
  for (unsigned pipe = 0; pipe < 2; ++pipe) {
    finder.add(plane(pipe, PlaneKind::display, pipe, 0), kDisplay, "", pipe);
    finder.add(plane(kSpriteNumbers[pipe], PlaneKind::video_sprite, pipe, 1), kVideoSprite, "", pipe);
  }
  if (pipes > 2) {
    finder.add(plane(kPlaneOfPipeC, PlaneKind::display, 2, 0), kDisplay, "_C", 0);
  } else {
    finder.add(plane(kPlaneC, PlaneKind::display, 0, 1), kDisplay, "_C", 0);
  }
  for (unsigned index = 0; index < std::size(kSpriteNumbers); ++index) {
    finder.add(plane(kSpriteNumbers[index], PlaneKind::sprite, index, 1), kSprite, "", index);
    finder.add(plane(kSpriteNumbers[index], PlaneKind::paired_sprite, index / 2, 1 + index % 2), kPairedSprite, "",
               index);
  }
  for (unsigned place = 0; place < kUniversalPlanes; ++place) {
    for (unsigned pipe = 0; pipe < kPipesInSequence; ++pipe) {
      finder.add(plane(universal_number(pipe, place), PlaneKind::universal, pipe, place), kUniversal,
                 fmt::format("_{}", place + 1), pipe);
    }
    finder.add(plane(universal_number(kPipesInSequence, place), PlaneKind::universal, kPipesInSequence, place),
               kUniversal, "_D", place);
  }
  return std::move(finder.planes);
}

// Planes of one kind share their layout, whatever the name of the item is.
PlaneControl unpack_control(const PlaneModel& plane, spec::GenId gen, uint32_t value) {
  switch (plane.kind) {
    case PlaneKind::display: {
      const auto control = unpack_register<hw::DSPCNTR>(gen, value);
      PlaneControl common = sprite_control(control, plane, control.mirror && plane.slots.linear_offset != nullptr);
      common.async_flip = control.async_flip;
      common.pipe = plane.selects_pipe ? control.pipe_select : plane.pipe;
      return common;
    }
    case PlaneKind::video_sprite:
      return sprite_control(unpack_register<hw::DVSCNTR>(gen, value), plane);
    case PlaneKind::sprite:
      return sprite_control(unpack_register<hw::SPRCTL>(gen, value), plane);
    case PlaneKind::paired_sprite: {
      const auto control = unpack_register<hw::SPCNTR>(gen, value);
      return sprite_control(control, plane, control.mirror);
    }
    case PlaneKind::universal: {
      const auto control = unpack_register<hw::PLANE_CTL_1>(gen, value);
      using Rotation = hw::PLANE_CTL_1::Rotation;
      return {.enabled = control.plane_enable,
              .async_flip = control.async_flip,
              .rotated_180 = control.rotation == Rotation::by_180,
              .mirrored = control.flip_horizontal,
              .turned = control.rotation == Rotation::by_90 || control.rotation == Rotation::by_270,
              .tiling = static_cast<uint8_t>(control.tiled),
              .pipe = plane.pipe};
    }
  }
  return {};
}

uint32_t with_tiling(const PlaneModel& plane, spec::GenId gen, uint32_t control, uint8_t tiling) {
  const auto put = [&]<class R>(R reg, auto set) {
    set(reg);
    uint64_t value = 0;
    return spec::pack_register(reg, gen, value).ok() ? static_cast<uint32_t>(value) : control;
  };
  switch (plane.kind) {
    case PlaneKind::display:
      return put(unpack_register<hw::DSPCNTR>(gen, control), [&](hw::DSPCNTR& reg) { reg.tiled = tiling != 0; });
    case PlaneKind::video_sprite:
      return put(unpack_register<hw::DVSCNTR>(gen, control), [&](hw::DVSCNTR& reg) { reg.tiled = tiling != 0; });
    case PlaneKind::sprite:
      return put(unpack_register<hw::SPRCTL>(gen, control), [&](hw::SPRCTL& reg) { reg.tiled = tiling != 0; });
    case PlaneKind::paired_sprite:
      return put(unpack_register<hw::SPCNTR>(gen, control), [&](hw::SPCNTR& reg) { reg.tiled = tiling != 0; });
    case PlaneKind::universal:
      return put(unpack_register<hw::PLANE_CTL_1>(gen, control),
                 [&](hw::PLANE_CTL_1& reg) { reg.tiled = static_cast<hw::PLANE_CTL_1::Tiled>(tiling & 7); });
  }
  return control;
}

uint32_t stride_unit_B(const PlaneModel& plane) {
  return plane.kind == PlaneKind::universal ? 64 : 1;
}

PlaneImage read_image(const mmio::RegisterBank& bank, const PlaneSlots& slots) {
  const auto value = [&bank](const mmio::RegisterSlot* slot) { return slot == nullptr ? 0 : bank.peek(*slot); };
  return {.control = value(slots.control),
          .linear_offset = value(slots.linear_offset),
          .stride = value(slots.stride),
          .position = value(slots.position),
          .size = value(slots.size),
          .tile_offset = value(slots.tile_offset),
          .surface = value(slots.surface),
          .color_control = value(slots.color_control)};
}

}  // namespace halogen::display
