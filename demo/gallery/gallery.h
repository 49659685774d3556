// Makes the pictures of docs/gallery.md on devices that are driven as a driver drives them. There is one file per part
// of the model; each adds its list to main.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/flat_host.h"
#include "picture/image.h"

namespace halogen::gallery {

using picture::Image;
using picture::Rgba;

struct Picture {
  std::string name;  // file name without .png
  std::function<Image()> make;
};

std::vector<Picture> blit_pictures();
std::vector<Picture> display_pictures();

// Keeps Events, which a picture must not raise.
class GalleryHost final : public device::FlatHost {
 public:
  GalleryHost() : FlatHost(uint64_t{1} << 27) {}
  void on_event(const Event& event) override { texts.push_back(event.to_string()); }

  std::vector<std::string> texts;
};

// A device with 32 MB of graphics memory in the global table, from address 0 on, and a screen.
class Chip {
 public:
  static constexpr uint64_t kBacking = 0x10'0000;  // physical address of graphics address 0
  static constexpr uint64_t kGraphics_B = 0x200'0000;
  static constexpr uint64_t kStolen = 0x500'0000;

  explicit Chip(std::string_view name);

  device::Device& device() { return *device_; }
  void write(uint32_t offset, uint32_t value) { device_->bar_write(0, offset, 4, value); }
  uint32_t read(uint32_t offset) { return static_cast<uint32_t>(device_->bar_read(0, offset, 4)); }
  // Writes a register by its name.
  void set(std::string_view name, uint32_t value, unsigned index = 0);
  template <class T>
  void put(uint64_t address, T value) {
    host_.write_memory(PhysAddr{kBacking + address}, std::as_bytes(std::span(&value, 1)));
  }

  // All of these are about pipe A.
  void start(uint32_t width, uint32_t height);
  void next_vblank();
  Image shown();
  const std::vector<std::string>& events() const { return host_.texts; }

 private:
  GalleryHost host_;
  std::unique_ptr<device::Device> device_;
};

// Returns a pixel of the test card (bars, ramps, fine lines, a circle) as 8:8:8.
uint32_t card(uint32_t x, uint32_t y, uint32_t width, uint32_t height);

}  // namespace halogen::gallery
