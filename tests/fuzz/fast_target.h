// Fast paths against slow paths, with surfaces and samplers that the input makes from valid states: quick textures
// against Texture, groups of pixels against single pixels, fills against single stores. The bytes and texels must be
// equal. Memory has its exact size, so the sanitizers see any access outside.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/draw_scene.h"
#include "fuzz/input.h"
#include "fuzz/reach.h"
#include "hw/sampler.h"
#include "hw/surface.h"
#include "message/quick_texture.h"
#include "message/texture.h"
#include "pipe3d/output/target_writer.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

class FastWorld final : private Input {
 public:
  explicit FastWorld(const spec::DeviceModel& model) : generation_(model), scene_(generation_) {
    fast_.set_action(memory::FaultAction::skip);
    slow_.set_action(memory::FaultAction::skip);
  }

  void run(std::span<const uint8_t> data) {
    start(data);
    for (test::MappedMemory* memory : {&fast_, &slow_}) {
      std::copy(scene_.memory().begin(), scene_.memory().end(), memory->bytes().begin());
    }
    const auto what = take<uint8_t>();
    surface_ = message::decode_surface(generation_, state<hw::RENDER_SURFACE_STATE>());
    reach().input();
    for (unsigned more = kRounds; more != 0 && !empty(); --more) {
      switch (what % 3) {
        case 0:
          texture();
          break;
        case 1:
          group();
          break;
        default:
          fill();
          break;
      }
    }
  }

 private:
  static constexpr unsigned kRounds = 8;
  static constexpr int32_t kMaxSide = 512;  // of a side that is filled pixel by pixel

  static Reach& reach() {
    static Reach all{"quick texture", "group", "fill"};
    return all;
  }

  void expect(bool right, const char* what) const {
    if (right) return;
    std::fprintf(stderr, "%s: format %u type %u %ux%u tiles %d pitch %llu\n", what,
                 static_cast<unsigned>(surface_.format_id), static_cast<unsigned>(surface_.type), surface_.width,
                 surface_.height, surface_.layout.pattern != nullptr,
                 static_cast<unsigned long long>(surface_.layout.pitch_B));
    std::abort();
  }

  template <class State>
  State state() {
    const spec::StructDesc& desc = State::kDesc;
    std::vector<uint32_t> words = scene_.maker().structure(desc);
    scene_.maker().set(desc, words, scene::values());
    const std::vector<FieldValue> own{{desc.name, "surface_base_address", scene::kTexture}};
    scene_.maker().set(desc, words, own);
    if ((take<uint8_t>() & 3) != 0) scene_.maker().change(*this, desc, words, 8);
    return State::unpack(generation_.id(), words);
  }

  float coordinate() {
    const auto how = take<uint8_t>();
    constexpr std::array<float, 8> kEdges{0.0f, 1.0f, -1.0f, 0.5f, 1e30f, -1e30f, 1e-40f, 16384.0f};
    if (how < 0x20) return kEdges[how % kEdges.size()];
    return how < 0xf8 ? static_cast<float>(take<int16_t>()) / 8192.0f : take<float>();
  }

  void texture() {
    message::Sampler sampler = message::decode_sampler(state<hw::SAMPLER_STATE>());
    message::QuickTexture quick;
    if (!quick.begin(surface_, sampler)) return;
    message::Texture general(slow_.space(), surface_, &sampler);
    for (unsigned more = 8; more != 0 && !empty(); --more) {
      std::array<float, 4> u{}, v{};
      const float step = static_cast<float>(take<int8_t>()) / 1024.0f;
      u[0] = coordinate();
      v[0] = coordinate();
      for (size_t i = 1; i < 4; ++i) {
        u[i] = u[0] + step * static_cast<float>(i & 1);
        v[i] = v[0] + step * static_cast<float>(i >> 1);
      }
      message::PixelSize size;
      size.lod = size.narrow_lod = static_cast<double>(take<int8_t>()) / 8;
      const auto packed = take<uint8_t>();
      const message::TexelOffset offset{(packed & 15) - 8, (packed >> 4) - 8, 0};
      std::array<surface::Texel, 4> expected{};
      for (size_t i = 0; i < 4; ++i) expected[i] = general.sample({u[i], v[i], 0, 0}, size, offset, std::nullopt);
      if (const auto texel = quick.sample(fast_.space(), u[0], v[0], size.lod, offset)) {
        reach().place(0, true);
        expect(*texel == expected[0], "a quick texture differs");
      }
      message::QuickTexture::SquareTexels square{};
      const uint32_t live = 1u + take<uint8_t>() % 15;
      if (!quick.sample_square(fast_.space(), u.data(), v.data(), size.lod, offset, live, square)) continue;
      for (size_t i = 0; i < 4; ++i) {
        for (size_t c = 0; c < 4 && (live >> i & 1) != 0; ++c) {
          expect(std::bit_cast<uint32_t>(square[c][i]) == expected[i][c], "a quick square differs");
        }
      }
    }
  }

  pipe3d::BlendTarget blend() {
    pipe3d::BlendTarget target;
    const auto flags = take<uint8_t>();
    target.blend = (flags & 1) != 0;
    target.clamp_before = (flags & 2) != 0;
    target.clamp_after = (flags & 4) != 0;
    target.logic = (flags & 0x38) == 0x38;
    target.logic_op = static_cast<hw::LogicOp>(flags >> 4);
    target.range = static_cast<hw::ColorClampRange>(take<uint8_t>() % 3);
    target.source_color = factor();
    target.dest_color = factor();
    target.source_alpha = factor();
    target.dest_alpha = factor();
    target.color = static_cast<hw::BlendFunction>(take<uint8_t>() % 5);
    target.alpha = static_cast<hw::BlendFunction>(take<uint8_t>() % 5);
    const auto mask = take<uint8_t>();
    target.write_mask = mask < 0x80 ? 0xf : mask & 0xf;
    return target;
  }
  hw::BlendFactor factor() {
    using F = hw::BlendFactor;
    constexpr std::array<F, 15> kAll{F::ONE,           F::SRC_COLOR,       F::SRC_ALPHA,          F::DST_ALPHA,
                                     F::DST_COLOR,     F::CONST_COLOR,     F::CONST_ALPHA,        F::ZERO,
                                     F::INV_SRC_COLOR, F::INV_SRC_ALPHA,   F::SRC_ALPHA_SATURATE, F::INV_DST_ALPHA,
                                     F::INV_DST_COLOR, F::INV_CONST_COLOR, F::INV_CONST_ALPHA};
    return kAll[take<uint8_t>() % kAll.size()];
  }
  float colour() {
    const auto how = take<uint8_t>();
    if (how < 0xc0) return static_cast<float>(how) / 128.0f - 0.25f;
    if (how < 0xe0) return (static_cast<float>(take<uint8_t>()) + 0.5f) / 255.0f;
    constexpr std::array<float, 4> kEdges{1e30f, -0.0f, 1e-40f, -1e30f};
    return how < 0xf0 ? kEdges[how & 3] : take<float>();
  }

  void group() {
    const pipe3d::BlendTarget target = blend();
    pipe3d::Blend all;
    for (float& each : all.constant) each = colour();
    pipe3d::TargetWriter groups;
    pipe3d::TargetWriter singles;
    groups.begin(surface_, target, all, fast_.space());
    singles.begin(surface_, target, all, slow_.space());
    if (!groups.takes_groups()) return;
    reach().place(1, true);
    pipe3d::GroupColours colours{};
    for (auto& row : colours.component) {
      for (float& value : row) value = colour();
    }
    pipe3d::PixelGroupPlace place;
    place.lanes = (take<uint8_t>() & 1) != 0 ? 16 : 8;
    place.live = take<uint16_t>() & ((1u << place.lanes) - 1);
    const int32_t left = take<int8_t>() * 2;
    const int32_t top = take<int8_t>() * 2;
    for (int32_t i = 0; i < 4; ++i) place.squares[static_cast<size_t>(i)] = {left + i % 2 * 2, top + i / 2 * 2};
    groups.write_group(place, colours);
    for (uint32_t i = 0; i < place.lanes; ++i) {
      if ((place.live >> i & 1) == 0) continue;
      pipe3d::Colour one{};
      for (size_t c = 0; c < 4; ++c) one[c] = std::bit_cast<uint32_t>(colours.component[c][i]);
      const pipe3d::Square& square = place.squares[i / 4];
      singles.write({square.x + static_cast<int32_t>(i & 1), square.y + static_cast<int32_t>(i >> 1 & 1), 0}, 1, one,
                    {});
    }
    compare("a group of pixels differs from single pixels");
  }

  void fill() {
    const uint32_t bytes = surface_.format != nullptr && surface_.format->known() ? surface_.format->bytes() : 0;
    if (bytes == 0 || bytes > 16 || surface_.kind != message::Surface::Kind::image) return;
    const pipe3d::Rectangle rectangle{
        .x_min = take<int8_t>(), .y_min = take<int8_t>(), .x_max = take<uint8_t>() * 2, .y_max = take<uint8_t>() * 2};
    std::array<std::byte, 16> element{};
    std::array<std::byte, 16> mask{};
    take_to(element);
    mask.fill(std::byte{0xff});
    if (take<uint8_t>() % 4 == 0) take_to(mask);
    pipe3d::PixelPlane plane;
    plane.begin(surface_, 0, 1, bytes, fast_.space());
    pipe3d::PixelPlane single;
    single.begin(surface_, 0, 1, bytes, slow_.space());
    if (plane.samples() != 1 || !plane.reaches(rectangle, 0)) return;
    reach().place(2, true);
    plane.fill(rectangle, 0, std::span(element).first(bytes), std::span(mask).first(bytes));
    for (int32_t y = std::max(rectangle.y_min, 0); y <= std::min(rectangle.y_max, kMaxSide); ++y) {
      for (int32_t x = std::max(rectangle.x_min, 0); x <= std::min(rectangle.x_max, kMaxSide); ++x) {
        if (!single.contains(x, y, 0)) continue;
        const uint64_t at = single.address(static_cast<uint32_t>(x), static_cast<uint32_t>(y), 0, 0);
        std::array<std::byte, 16> pixel{};
        single.load(at, std::span(pixel).first(bytes));
        for (size_t i = 0; i < bytes; ++i) pixel[i] = (pixel[i] & ~mask[i]) | (element[i] & mask[i]);
        single.store(at, std::span<const std::byte>(pixel).first(bytes));
      }
    }
    compare("a fill differs from single stores");
  }

  void compare(const char* what) {
    const auto difference = std::ranges::mismatch(fast_.bytes(), slow_.bytes()).in1 - fast_.bytes().begin();
    if (difference == static_cast<ptrdiff_t>(scene::kBytes)) return;
    std::fprintf(stderr, "offset %#zx, base %#llx\n", static_cast<size_t>(difference),
                 static_cast<unsigned long long>(surface_.base));
    expect(false, what);
  }

  Generation generation_;
  scene::Scene scene_;
  test::MappedMemory fast_{scene::kBytes};
  test::MappedMemory slow_{scene::kBytes};
  message::Surface surface_;
};

// Input: chip, path, then states and values.
inline void fast(std::span<const uint8_t> data) {
  if (data.size() < 2) return;
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<FastWorld>> worlds(models.size());
  std::unique_ptr<FastWorld>& world = worlds[data[0] % models.size()];
  if (!world) world = std::make_unique<FastWorld>(models[data[0] % models.size()]);
  world->run(data.subspan(1));
}

}  // namespace halogen::fuzz
