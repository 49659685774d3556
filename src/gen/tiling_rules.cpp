#include "gen/tiling_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {

namespace {

using enum Tiling;
using enum MemoryClient;
using spec::GenId;

constexpr spec::GenMask kGen4 = from_to(GenId::gen4, GenId::gen4_5);
constexpr spec::GenMask kGen6 = gens_of(GenId::gen6);
constexpr spec::GenMask kGen8 = gens_of(GenId::gen8);
constexpr spec::GenMask kGen9to11 = from_to(GenId::gen9, GenId::gen11);
constexpr spec::GenMask kGen12 = gens_of(GenId::gen12);
constexpr spec::GenMask kGen9on = from_to(GenId::gen9, GenId::gen12);

constexpr uint32_t kKB = 1024;
// The pitch of an XY command is a signed 16-bit number of bytes, or of dwords when the surface is tiled.
constexpr uint32_t kBlitLinear = 0x7fff;
constexpr uint32_t kBlitTiled = 0x7fff * 4;

// Sources. Gen4: G45 PRM vol. 1b 4.5.4.3 and 4.5.5 (seed 003). Its table lets the depth buffer be X tiled; the
// description of 3DSTATE_DEPTH_BUFFER elsewhere asks for Y; the table is used here. Gen6 on: Mesa isl (tiling filters
// of each generation) for the 3D clients; Linux i915 for display (plane strides, framebuffer modifiers, asynchronous
// flips) and fences; igt-gpu-tools for Y tiles in the blitter (BCS_SWCTRL, and XY_FAST_COPY_BLT from Gen9 on).
constexpr std::array kClients{
    ClientRule{host, kGen4 | kGen6, {linear, x, y}, ~0u, 128 * kKB, {}, 0, {}},
    ClientRule{host, kGen8 | kGen9on, {linear, x, y}, ~0u, 256 * kKB, {}, 0, {}},

    ClientRule{display, kGen4, {linear, x}, 32 * kKB, 16 * kKB, {x}, 0, {}},
    ClientRule{display, kGen6 | kGen8, {linear, x}, 32 * kKB, 32 * kKB, {x}, 0, {}},
    ClientRule{display, kGen9to11, {linear, x, y, yf}, 32 * kKB, 32 * kKB, {x, y, yf}, 0, {}},
    ClientRule{display, kGen12, {linear, x, y}, 32 * kKB, 32 * kKB, {linear, x, y}, 0, {}},
    ClientRule{overlay, kGen4, {linear, x}, 32 * kKB, 16 * kKB, {}, 0, {}},

    ClientRule{blit, kGen4, {linear, x}, kBlitLinear, kBlitTiled, {}, 0, {}},
    ClientRule{blit, kGen6 | kGen8, {linear, x, y}, kBlitLinear, kBlitTiled, {}, 0, {}},
    ClientRule{blit, kGen9on, {linear, x, y, yf, ys}, kBlitLinear, kBlitTiled, {}, 0, {}},

    ClientRule{sampler, kGen4, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 0, {}, true},
    ClientRule{sampler, kGen6, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{sampler, kGen8, {linear, x, y, w}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{sampler, kGen9to11, {linear, x, y, w, yf, ys}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{sampler, kGen12, {linear, x, y, yf, ys}, 256 * kKB, 256 * kKB, {}, 0, {}},

    ClientRule{color, kGen4, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 128, {linear, x}, true},
    ClientRule{color, kGen6, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 128, {linear, x}},
    ClientRule{color, kGen8, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{color, kGen9on, {linear, x, y, yf, ys}, 256 * kKB, 256 * kKB, {}, 0, {}},

    ClientRule{depth, kGen4, {linear, x, y}, 256 * kKB, 256 * kKB, {}, 0, {}, true},
    ClientRule{depth, kGen6 | kGen8, {y}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{depth, kGen9on, {y, yf, ys}, 256 * kKB, 256 * kKB, {}, 0, {}},

    ClientRule{stencil, kGen6 | kGen8 | kGen9to11, {w}, 256 * kKB, 256 * kKB, {}, 0, {}},
    ClientRule{stencil, kGen12, {y, yf, ys}, 256 * kKB, 256 * kKB, {}, 0, {}},
};

// Clients that a generation does not have.
struct NoClient {
  MemoryClient client;
  spec::GenMask gens;
};
constexpr std::array kNoClients{
    NoClient{overlay, kGen6 | kGen8 | kGen9on},
    NoClient{stencil, kGen4},
};

// Returns the generations with a device that have no row for some client, or two, and those without a device that have
// a row.
constexpr spec::GenMask gens_at_fault() {
  spec::GenMask faults = 0;
  for (unsigned gen = 0; gen < spec::kGenCount; ++gen) {
    for (unsigned client = 0; client < kMemoryClients; ++client) {
      unsigned count = 0;
      const auto add = [&](const auto& row) {
        count += static_cast<unsigned>(row.client) == client && ((row.gens >> gen) & 1) != 0 ? 1u : 0u;
      };
      for (const ClientRule& rule : kClients) {
        add(rule);
      }
      for (const NoClient& absent : kNoClients) {
        add(absent);
      }
      const unsigned expected = (spec::kGensWithDevice >> gen) & 1u;
      faults = static_cast<spec::GenMask>(faults | (count != expected ? 1u << gen : 0u));
    }
  }
  return faults;
}
static_assert(gens_at_fault() == 0, "bit n: generation n has too few or too many rows for a client");

// Linux i915: I965_FENCE_MAX_PITCH_VAL, GEN7_FENCE_MAX_PITCH_VAL, in units of 128 bytes.
constexpr std::array kFences{
    FenceRule{kGen4 | kGen6, 0x400 * 128},
    FenceRule{kGen8 | kGen9on, 0x800 * 128},
};
static_assert(one_row_each<kFences, spec::kGensWithDevice>);

}  // namespace

std::string_view name_of(Tiling tiling) {
  switch (tiling) {
    case linear:
      return "linear";
    case x:
      return "X";
    case y:
      return "Y";
    case w:
      return "W";
    case yf:
      return "Yf";
    case ys:
      return "Ys";
  }
  return {};
}

std::string_view name_of(MemoryClient client) {
  switch (client) {
    case host:
      return "host";
    case display:
      return "display";
    case overlay:
      return "overlay";
    case blit:
      return "blitter";
    case sampler:
      return "sampler";
    case color:
      return "colour buffer";
    case depth:
      return "depth buffer";
    case stencil:
      return "stencil buffer";
  }
  return {};
}

const ClientRule* client_rule(GenId gen, MemoryClient client) {
  for (const ClientRule& rule : kClients) {
    if (rule.client == client && (rule.gens & spec::mask_of(gen)) != 0) {
      return &rule;
    }
  }
  return nullptr;
}

const FenceRule& fence_rule(GenId gen) {
  return row_of(kFences, gen, "fence_rule");
}

}  // namespace halogen
