// VGA ports: map, indices, flip-flop, palette state, aliases.
#include "mmio/vga.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "covers.h"

namespace halogen::mmio {
namespace {

constexpr uint8_t kColour = 0x01;

Vga colour() {
  Vga vga;
  vga.write_port(0x3c2, kColour);
  return vga;
}

TEST(Vga, PortsAndMmioOffsetsAreTheSameRegisters) {
  COVERS("DG1-VGA-01");
  Vga vga = colour();
  EXPECT_TRUE(Vga::contains(0x3b0));
  EXPECT_TRUE(Vga::contains(0x3df));
  EXPECT_FALSE(Vga::contains(0x3af));
  EXPECT_FALSE(Vga::contains(0x3e0));
  // A word to an index register is index and data; a dword read returns four ports.
  vga.write(0x3c4, 2, 0x0f02);
  EXPECT_EQ(vga.read(0x3c4, 1), 0x02u);
  EXPECT_EQ(vga.read(0x3c5, 1), 0x0fu);
  vga.write(0x3c6, 1, 0x7f);
  EXPECT_EQ(vga.read(0x3c4, 4), 0x007f'0f02u);
  EXPECT_EQ(vga.read(0x3de, 4), 0u) << "past the end";
  vga.write(0x3de, 4, 0xffff'ffff);
}

TEST(Vga, PortsReadAndWriteTheirRegisters) {
  COVERS("DG1-VGA-02");
  Vga vga = colour();
  // Index and data pairs.
  const struct {
    uint32_t index;
    uint32_t data;
    uint8_t which;
  } pairs[] = {{0x3c4, 0x3c5, 2}, {0x3ce, 0x3cf, 8}, {0x3d4, 0x3d5, 0x0c}};
  for (const auto& pair : pairs) {
    vga.write_port(pair.index, pair.which);
    vga.write_port(pair.data, 0x5a);
    EXPECT_EQ(vga.read_port(pair.index), pair.which);
    EXPECT_EQ(vga.read_port(pair.data), 0x5a);
  }
  // Ports whose read and write registers differ.
  vga.write_port(0x3c2, 0x67);
  EXPECT_EQ(vga.read_port(0x3cc), 0x67) << "MSR is written at 3C2 and read at 3CC";
  EXPECT_EQ(vga.read_port(0x3c2, {.interrupt_pending = true, .sense = true}), 0x90) << "ST00";
  EXPECT_EQ(vga.read_port(0x3c2), 0x00);
  vga.write_port(0x3da, 0x08);
  EXPECT_EQ(vga.read_port(0x3ca), 0x08) << "FCR is written at 3DA and read at 3CA";
  EXPECT_EQ(vga.read_port(0x3da, {.vertical_retrace = true, .display_enabled = false}), 0x09) << "ST01";
  EXPECT_EQ(vga.read_port(0x3da, {.display_enabled = true}), 0x00);
  vga.write_port(0x3c6, 0x3f);
  EXPECT_EQ(vga.read_port(0x3c6), 0x3f);
  vga.write_port(0x3d6, 0x44);
  EXPECT_EQ(vga.read_port(0x3d6), 0x44) << "extension index";
  // 3CA, 3CC and 3C1 cannot be written.
  const VgaState before = vga.state();
  for (const uint32_t port : {0x3c1u, 0x3cau, 0x3ccu}) {
    vga.write_port(port, 0xff);
  }
  EXPECT_EQ(vga.state(), before);
}

// The manual has the pair 3D6/3D7 but describes no extension register, so the index is stored and data is dropped.
TEST(Vga, ExtensionIndexIsStoredAndDataReadsZero) {
  COVERS("DG1-VGA-02");
  Vga vga = colour();
  for (unsigned index = 0; index < 256; ++index) {
    vga.write_port(0x3d6, static_cast<uint8_t>(index));
    EXPECT_EQ(vga.read_port(0x3d6), index);
    const VgaState before = vga.state();
    vga.write_port(0x3d7, 0xa5);
    EXPECT_EQ(vga.state(), before) << index;
    EXPECT_EQ(vga.read_port(0x3d7), 0x00) << index;
    EXPECT_EQ(vga.read_port(0x3d6), index) << "data does not change the index";
  }
  Vga mono;  // unlike the CRTC pair it also responds in monochrome
  mono.write_port(0x3d6, 0x21);
  EXPECT_EQ(mono.read_port(0x3d6), 0x21);
}

TEST(Vga, ReservedPortsDoNothing) {
  COVERS("DG1-VGA-02");
  const std::set<uint32_t> used = {0x3b4, 0x3b5, 0x3ba, 0x3c0, 0x3c1, 0x3c2, 0x3c4, 0x3c5, 0x3c6, 0x3c7, 0x3c8,
                                   0x3c9, 0x3ca, 0x3cc, 0x3ce, 0x3cf, 0x3d4, 0x3d5, 0x3d6, 0x3d7, 0x3da};
  for (const uint8_t msr : {uint8_t{0}, kColour}) {
    Vga vga;
    vga.write_port(0x3c2, msr);
    const VgaState before = vga.state();
    for (uint32_t port = 0x3b0; port <= 0x3df; ++port) {
      if (!used.contains(port)) {
        vga.write_port(port, 0xff);
        EXPECT_EQ(vga.read_port(port), 0u) << std::hex << port;
      }
    }
    EXPECT_EQ(vga.state(), before);
  }
}

TEST(Vga, ColourBitSelectsTheAlias) {
  COVERS("DG1-VGA-02");
  Vga vga;  // monochrome after reset
  vga.write_port(0x3b4, 0x0e);
  vga.write_port(0x3b5, 0x12);
  EXPECT_EQ(vga.read_port(0x3b5), 0x12);
  vga.write_port(0x3d4, 0x0f);
  EXPECT_EQ(vga.read_port(0x3b4), 0x0e) << "3D4 does not respond in monochrome";
  EXPECT_EQ(vga.read_port(0x3d5), 0x00);
  vga.write_port(0x3c2, kColour);
  EXPECT_EQ(vga.read_port(0x3d4), 0x0e) << "the same register at the other port";
  EXPECT_EQ(vga.read_port(0x3d5), 0x12);
  EXPECT_EQ(vga.read_port(0x3b5), 0x00);
  vga.write_port(0x3ba, 0xff);
  EXPECT_EQ(vga.read_port(0x3ca), 0x00) << "FCR moves too";
}

TEST(Vga, AttributeFlipFlopSelectsIndexOrData) {
  COVERS("DG1-VGA-02");
  Vga vga = colour();
  vga.read_port(0x3da);
  vga.write_port(0x3c0, 0x11);
  vga.write_port(0x3c0, 0x3c);
  EXPECT_EQ(vga.read_port(0x3c0), 0x11) << "reading 3C0 gives the index";
  EXPECT_EQ(vga.read_port(0x3c1), 0x3c);
  vga.write_port(0x3c0, 0x12);  // index
  EXPECT_EQ(vga.read_port(0x3c0), 0x12);
  EXPECT_EQ(vga.read_port(0x3c1), 0x00) << "reading 3C1 does not toggle the flip-flop";
  vga.write_port(0x3c0, 0x0f);  // data
  EXPECT_EQ(vga.read_port(0x3c1), 0x0f);
  vga.write_port(0x3c0, 0x13);  // index
  vga.read_port(0x3da);         // back to index
  vga.write_port(0x3c0, 0x14);
  EXPECT_EQ(vga.read_port(0x3c0), 0x14);
  vga.write_port(0x3c0, 0x05);
  EXPECT_EQ(vga.read_port(0x3c1), 0x05);
  // In colour mode a read of 3BA does not read ST01.
  vga.write_port(0x3c0, 0x10);
  vga.read_port(0x3ba);
  vga.write_port(0x3c0, 0x41);
  EXPECT_EQ(vga.read_port(0x3c1), 0x41);
}

TEST(Vga, PaletteHasReadAndWriteModes) {
  COVERS("DG1-VGA-02");
  constexpr uint8_t kLevels[] = {0x01, 0x02, 0x03, 0x11, 0x12, 0x13};
  Vga vga = colour();
  vga.write_port(0x3c8, 0xff);
  EXPECT_EQ(vga.read_port(0x3c7), 0x00) << "write mode";
  for (const uint8_t level : kLevels) {
    vga.write_port(0x3c9, level);
  }
  EXPECT_EQ(vga.read_port(0x3c8), 0x01) << "two entries later, wrapped";
  vga.write_port(0x3c7, 0xff);
  EXPECT_EQ(vga.read_port(0x3c7), 0x03) << "read mode";
  for (const uint8_t level : kLevels) {
    EXPECT_EQ(vga.read_port(0x3c9), level);
  }
  // An entry is written with all three levels; a new index drops an incomplete entry.
  vga.write_port(0x3c8, 0x20);
  vga.write_port(0x3c9, 0x3f);
  vga.write_port(0x3c9, 0x3f);
  vga.write_port(0x3c8, 0x20);
  vga.write_port(0x3c7, 0x20);
  EXPECT_EQ(vga.read_port(0x3c9), 0x00);
  EXPECT_EQ(vga.read_port(0x3c9), 0x00);
}

// Writes each index and returns those that store a value.
std::vector<unsigned> indices_of(uint32_t index_port, uint32_t data_port) {
  std::vector<unsigned> found;
  for (unsigned index = 0; index < 256; ++index) {
    Vga vga = colour();
    vga.write_port(index_port, static_cast<uint8_t>(index));
    vga.write_port(data_port, 0x2a);
    if (vga.read_port(data_port) == 0x2a) {
      found.push_back(index);
    }
  }
  return found;
}

TEST(Vga, SequencerHasTheIndicesOfTheManual) {
  COVERS("DG1-VGA-03");
  EXPECT_EQ(indices_of(0x3c4, 0x3c5), (std::vector<unsigned>{0, 1, 2, 3, 4, 7}));
}

TEST(Vga, GraphicsControllerHasTheIndicesOfTheManual) {
  COVERS("DG1-VGA-04");
  EXPECT_EQ(indices_of(0x3ce, 0x3cf), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x11, 0x18}));
}

TEST(Vga, AttributeControllerHasTheIndicesOfTheManual) {
  COVERS("DG1-VGA-05");
  std::vector<unsigned> found;
  for (uint8_t index = 0; index < 0x20; ++index) {
    Vga vga = colour();
    vga.read_port(0x3da);
    vga.write_port(0x3c0, index);
    vga.write_port(0x3c0, 0x2a);
    if (vga.read_port(0x3c1) == 0x2a) {
      found.push_back(index);
    }
  }
  EXPECT_EQ(found, (std::vector<unsigned>{0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
                                          0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14}));
}

TEST(Vga, CrtcHasTheIndicesOfTheManual) {
  COVERS("DG1-VGA-06");
  std::vector<unsigned> expected;
  for (unsigned index = 0x00; index <= 0x18; ++index) {
    expected.push_back(index);
  }
  EXPECT_EQ(indices_of(0x3d4, 0x3d5), expected) << "CR22 exists but cannot be written";
  Vga vga = colour();
  vga.state().crtc[0x22] = 0x77;
  vga.write_port(0x3d4, 0x22);
  EXPECT_EQ(vga.read_port(0x3d5), 0x77) << "memory read latch data";
}

TEST(Vga, ProtectionBitGuardsTheFirstCrtcRegisters) {
  Vga vga = colour();
  vga.write_port(0x3d4, 0x11);
  vga.write_port(0x3d5, 0x80);
  for (uint8_t index = 0; index <= 7; ++index) {
    vga.write_port(0x3d4, index);
    vga.write_port(0x3d5, 0xff);
    EXPECT_EQ(vga.read_port(0x3d5), index == 7 ? 0x10 : 0x00);
  }
}

TEST(Vga, AnyAccessIsHarmless) {
  Vga vga;
  uint32_t seed = 1;
  for (int i = 0; i < 100000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t offset = 0x3a8 + (seed >> 8) % 0x40;
    if ((seed >> 31) != 0) {
      vga.write(offset, 1u << ((seed >> 16) % 3), seed);
    } else {
      vga.read(offset, 1u << ((seed >> 16) % 3));
    }
  }
}

}  // namespace
}  // namespace halogen::mmio
