// Tilings that each client may use, and the limits of pitch, by generation. Sources: G45 PRM vol. 1b 4.5.4 and 4.5.5
// (seed 003); public drivers for later parts. These are rules for software: src/surface/surface_rules.h checks surfaces
// against them and names the broken one. Not modelled: rules that concern mip levels, sample counts and compression.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen {

enum class Tiling : uint8_t { linear, x, y, w, yf, ys };
std::string_view name_of(Tiling tiling);

class TilingSet {
 public:
  constexpr TilingSet() = default;
  constexpr TilingSet(std::initializer_list<Tiling> tilings) {
    for (const Tiling tiling : tilings) {
      bits_ = static_cast<uint8_t>(bits_ | bit_of(tiling));
    }
  }
  constexpr bool has(Tiling tiling) const { return (bits_ & bit_of(tiling)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const TilingSet&) const = default;

 private:
  static constexpr uint8_t bit_of(Tiling tiling) { return static_cast<uint8_t>(1u << static_cast<unsigned>(tiling)); }
  uint8_t bits_ = 0;
};

// The memory streams of the manual. `host` is the CPU's access through the aperture, which is tiled by fences.
enum class MemoryClient : uint8_t { host, display, overlay, blit, sampler, color, depth, stencil };
constexpr unsigned kMemoryClients = 8;
std::string_view name_of(MemoryClient client);

struct ClientRule {
  MemoryClient client;
  spec::GenMask gens;
  TilingSet tilings;
  uint32_t max_linear_pitch_B;
  uint32_t max_tiled_pitch_B;
  TilingSet async_flip;        // empty: the client does not flip
  uint32_t wide_element_bits;  // minimum width of restricted elements; 0: no restriction
  TilingSet wide_element_tilings;
  // A state of a surface that breaks the rule raises an Event: rows of the manual. Rows of drivers need not be
  // complete.
  bool reports_states = false;
};

// Returns the rule of a client. Null: the generation has no such client.
const ClientRule* client_rule(spec::GenId gen, MemoryClient client);

// The limits of a fence region. The register description gives their number and offsets.
struct FenceRule {
  spec::GenMask gens;
  uint32_t max_pitch_B;
};
const FenceRule& fence_rule(spec::GenId gen);

}  // namespace halogen
