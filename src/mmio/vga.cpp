#include "mmio/vga.h"

#include <initializer_list>
#include <span>

namespace halogen::mmio {

namespace {

constexpr uint8_t kMsrColour = 1u << 0;  // 1: CRTC, ST01 and FCR respond at 3Dx, 0: at 3Bx
constexpr uint8_t kAttributeIndexBits = 0x1f;
constexpr uint8_t kArxBits = 0x3f;         // index and the palette source bit
constexpr uint8_t kCr11Protect = 1u << 7;  // CR00-CR07 are write-protected, except the line compare bit of CR07
constexpr uint8_t kCr07LineCompare = 1u << 4;
constexpr uint8_t kDacBits = 0x3f;

// Masks of the existing indices; others read zero and ignore writes.
constexpr uint64_t mask_of(std::initializer_list<unsigned> indices) {
  uint64_t mask = 0;
  for (const unsigned index : indices) {
    mask |= uint64_t{1} << index;
  }
  return mask;
}
constexpr uint64_t kSequencer = mask_of({0, 1, 2, 3, 4, 7});
constexpr uint64_t kGraphics = mask_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x11, 0x18});
constexpr uint64_t kAttribute = (uint64_t{1} << 0x15) - 1;  // 00-14
constexpr uint64_t kCrtc = ((uint64_t{1} << 0x19) - 1) | mask_of({0x22});
constexpr unsigned kReadLatch = 0x22;

bool exists(uint64_t indices, unsigned index) {
  return index < 64 && ((indices >> index) & 1) != 0;
}

uint8_t read_indexed(std::span<const uint8_t> bank, uint64_t indices, unsigned index) {
  return exists(indices, index) ? bank[index] : uint8_t{0};
}

void write_indexed(std::span<uint8_t> bank, uint64_t indices, unsigned index, uint8_t value) {
  if (exists(indices, index)) {
    bank[index] = value;
  }
}

void write_crtc(VgaState& s, uint8_t value) {
  if (s.crx == kReadLatch) {
    return;  // read only
  }
  if (s.crx <= 7 && (s.crtc[0x11] & kCr11Protect) != 0) {
    if (s.crx == 7) {
      s.crtc[7] = static_cast<uint8_t>((s.crtc[7] & ~kCr07LineCompare) | (value & kCr07LineCompare));
    }
    return;
  }
  write_indexed(s.crtc, kCrtc, s.crx, value);
}

void write_attribute(VgaState& s, uint8_t value) {
  if (s.attribute_data_next) {
    write_indexed(s.attribute, kAttribute, s.arx & kAttributeIndexBits, value);
  } else {
    s.arx = value & kArxBits;
  }
  s.attribute_data_next = !s.attribute_data_next;
}

void advance_dac(VgaState& s) {
  if (++s.dac_component == 3) {
    s.dac_component = 0;
    ++s.dac_index;  // wraps at 256
  }
}

// An entry changes when its third byte arrives.
void write_dac(VgaState& s, uint8_t value) {
  const uint8_t level = value & kDacBits;
  if (s.dac_component < 2) {
    s.dac_latch[s.dac_component] = level;
  } else {
    s.palette[s.dac_index] = {s.dac_latch[0], s.dac_latch[1], level};
  }
  advance_dac(s);
}

uint8_t read_dac(VgaState& s) {
  const uint8_t level = s.palette[s.dac_index][s.dac_component];
  advance_dac(s);
  return level;
}

uint8_t status_0(const VgaInputs& in) {
  return static_cast<uint8_t>((in.interrupt_pending ? 0x80 : 0) | (in.sense ? 0x10 : 0));
}

uint8_t status_1(const VgaInputs& in) {
  return static_cast<uint8_t>((in.vertical_retrace ? 0x08 : 0) | (in.display_enabled ? 0 : 0x01));
}

}  // namespace

bool Vga::alias_active(uint32_t port) const {
  const bool colour = (state_.msr & kMsrColour) != 0;
  return (port >= 0x3d0) == colour;
}

uint8_t Vga::read_port(uint32_t port, const VgaInputs& inputs) {
  VgaState& s = state_;
  switch (port) {
    case 0x3b4:
    case 0x3d4:
      return alias_active(port) ? s.crx : uint8_t{0};
    case 0x3b5:
    case 0x3d5:
      return alias_active(port) ? read_indexed(s.crtc, kCrtc, s.crx) : uint8_t{0};
    case 0x3ba:
    case 0x3da:
      if (!alias_active(port)) {
        return 0;
      }
      s.attribute_data_next = false;
      return status_1(inputs);
    case 0x3c0:
      return s.arx;
    case 0x3c1:
      return read_indexed(s.attribute, kAttribute, s.arx & kAttributeIndexBits);
    case 0x3c2:
      return status_0(inputs);
    case 0x3c4:
      return s.srx;
    case 0x3c5:
      return read_indexed(s.sequencer, kSequencer, s.srx);
    case 0x3c6:
      return s.dac_mask;
    case 0x3c7:
      return static_cast<uint8_t>(s.dac_mode);
    case 0x3c8:
      return s.dac_index;
    case 0x3c9:
      return read_dac(s);
    case 0x3ca:
      return s.fcr;
    case 0x3cc:
      return s.msr;
    case 0x3ce:
      return s.grx;
    case 0x3cf:
      return read_indexed(s.graphics, kGraphics, s.grx);
    case 0x3d6:
      return s.xrx;
    default:
      return 0;  // reserved, and the extensions (3D7), which are not described
  }
}

void Vga::write_port(uint32_t port, uint8_t value) {
  VgaState& s = state_;
  switch (port) {
    case 0x3b4:
    case 0x3d4:
      if (alias_active(port)) {
        s.crx = value;
      }
      break;
    case 0x3b5:
    case 0x3d5:
      if (alias_active(port)) {
        write_crtc(s, value);
      }
      break;
    case 0x3ba:
    case 0x3da:
      if (alias_active(port)) {
        s.fcr = value;
      }
      break;
    case 0x3c0:
      write_attribute(s, value);
      break;
    case 0x3c2:
      s.msr = value;
      break;
    case 0x3c4:
      s.srx = value;
      break;
    case 0x3c5:
      write_indexed(s.sequencer, kSequencer, s.srx, value);
      break;
    case 0x3c6:
      s.dac_mask = value;
      break;
    case 0x3c7:
      s.dac_mode = VgaState::DacMode::read;
      s.dac_index = value;
      s.dac_component = 0;
      break;
    case 0x3c8:
      s.dac_mode = VgaState::DacMode::write;
      s.dac_index = value;
      s.dac_component = 0;
      break;
    case 0x3c9:
      write_dac(s, value);
      break;
    case 0x3ce:
      s.grx = value;
      break;
    case 0x3cf:
      write_indexed(s.graphics, kGraphics, s.grx, value);
      break;
    case 0x3d6:
      s.xrx = value;
      break;
    default:
      break;  // reserved or read only
  }
}

uint32_t Vga::read(uint32_t offset, unsigned bytes, const VgaInputs& inputs) {
  uint32_t value = 0;
  for (unsigned i = 0; i < bytes && i < 4; ++i) {
    if (contains(offset + i)) {
      value |= uint32_t{read_port(offset + i, inputs)} << (8 * i);
    }
  }
  return value;
}

void Vga::write(uint32_t offset, unsigned bytes, uint32_t value) {
  for (unsigned i = 0; i < bytes && i < 4; ++i) {
    if (contains(offset + i)) {
      write_port(offset + i, static_cast<uint8_t>(value >> (8 * i)));
    }
  }
}

}  // namespace halogen::mmio
