// Decoders of compressed blocks, one texel at a time: BC1 (DXT1) colours, BC4 (RGTC) values, BC6H and BC7 colours, ETC2
// colours, EAC values, ASTC colours of low dynamic range, FXT1 colours. Values are exact fractions where the
// specifications define them so.
#pragma once

#include <cstdint>

namespace halogen::surface {

struct BlockColor {
  double red = 0.0;
  double green = 0.0;
  double blue = 0.0;
  double alpha = 1.0;
};

enum class Bc1Alpha : uint8_t { punchthrough, opaque, four_colors };

BlockColor bc1_color(uint64_t block, unsigned x, unsigned y, Bc1Alpha alpha);
double bc4_value(uint64_t block, unsigned x, unsigned y, bool is_signed);
BlockColor bc7_color(uint64_t low, uint64_t high, unsigned x, unsigned y);
BlockColor bc6h_color(uint64_t low, uint64_t high, unsigned x, unsigned y, bool is_signed);
struct AstcShape {
  unsigned width;
  unsigned height;
  bool srgb;  // colours are eight bits, not yet linear
};
BlockColor astc_color(uint64_t low, uint64_t high, unsigned x, unsigned y, const AstcShape& shape);
BlockColor fxt1_color(uint64_t low, uint64_t high, unsigned x, unsigned y);
BlockColor etc2_color(uint64_t block, unsigned x, unsigned y, bool punchthrough);
double eac_byte(uint64_t block, unsigned x, unsigned y);  // alpha of ETC2 blocks
double eac_eleven(uint64_t block, unsigned x, unsigned y, bool is_signed);

}  // namespace halogen::surface
