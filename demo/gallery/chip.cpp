#include <fmt/format.h>

#include <cstdlib>

#include "gallery.h"

namespace halogen::gallery {

namespace {

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "gallery: {}\n", why);
  std::exit(1);
}

}  // namespace

Chip::Chip(std::string_view name) {
  const spec::DeviceModel* model = spec::find_device(name);
  if (model == nullptr) give_up(fmt::format("no device {}", name));
  const bool wide =
      model->gen != spec::GenId::gen4 && model->gen != spec::GenId::gen4_5 && model->gen != spec::GenId::gen6;
  device::DeviceOptions options;
  options.table_enabled = true;
  options.stolen_base = wide ? 0 : kStolen;
  auto created = device::Device::create(*model, host_, options);
  if (!created) give_up(std::string(created.message()));
  device_ = std::move(*created);
  device_->config_write(4, 2, 7);
  const unsigned entry_B = wide ? 8 : 4;
  for (uint64_t page = 0; page < kGraphics_B / 4096; ++page) {
    device_->bar_write(0, model->gtt_offset + page * entry_B, entry_B, (kBacking + page * 4096) | 1);
  }
}

void Chip::set(std::string_view name, uint32_t value, unsigned index) {
  const mmio::RegisterSlot* slot = device_->mmio().bank().map().find(name, {}, index);
  if (slot == nullptr) give_up(fmt::format("no register {} {}", name, index));
  device_->mmio().bank().write(*slot, value);
}

void Chip::start(uint32_t width, uint32_t height) {
  const auto pair = [](uint32_t high, uint32_t low) { return (high - 1) << 16 | (low - 1); };
  set("HTOTAL", pair(width + 160, width));
  set("HBLANK", pair(width + 160, width));
  set("HSYNC", pair(width + 100, width + 20));
  set("VTOTAL", pair(height + 45, height));
  set("VBLANK", pair(height + 45, height));
  set("VSYNC", pair(height + 12, height + 10));
  set("PIPESRC", pair(width, height));
  set("PIPECONF", 0x8000'0000);
}

void Chip::next_vblank() {
  const auto next = device_->display().next_vblank(0);
  if (!next) give_up("the pipe does not run");
  device_->advance(*next - device_->clock().nanoseconds);
}

Image Chip::shown() {
  auto image = device_->take_frame(0);
  if (!image) give_up("the pipe shows nothing");
  for (const std::string& event : host_.texts) fmt::print(stderr, "gallery: {}\n", event);
  return std::move(*image);
}

uint32_t card(uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  constexpr uint32_t kBars[] = {0xffffff, 0xffff00, 0x00ffff, 0x00ff00, 0xff00ff, 0xff0000, 0x0000ff, 0x000000};
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return 0xffffff;
  // A ring in the middle, and a diagonal.
  const int64_t dx = 2 * int64_t{x} - width;
  const int64_t dy = 2 * int64_t{y} - height;
  const int64_t far = dx * dx + dy * dy;
  const int64_t outer = int64_t{height} * 9 / 10;
  const int64_t inner = outer - 8;
  if (far < outer * outer && far >= inner * inner) return 0xffffff;
  if (uint64_t{x} * height / width == y) return 0xffffff;
  const uint32_t band = y * 8 / height;
  const uint32_t ramp = x * 256 / width;
  switch (band) {
    case 0:
    case 1:
    case 2:
      return kBars[x * 8 / width];
    case 3:
      return ramp * 0x010101;
    case 4:
      return ramp << 16;
    case 5:
      return ramp << 8 | (255 - ramp);
    case 6:
      return (x >> (x * 4 / width)) % 2 == 0 ? 0xe0e0e0 : 0x202020;  // lines of one, two, four and eight pixels
    default:
      return (x / 8 + y / 8) % 2 == 0 ? 0x305070 : 0x102030;
  }
}

}  // namespace halogen::gallery
