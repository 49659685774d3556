// What the ways of resolving share.
#pragma once

#include <array>
#include <span>

#include "hw/3d_constants.h"
#include "hw/blend.h"
#include "hw/constants.h"
#include "pipe3d/resolve.h"

namespace halogen::pipe3d {

class Resolver {
 public:
  explicit Resolver(const ResolveInput& input) : input_(input) {}

  spec::GenId gen() const { return input_.generation->id(); }
  bool has(spec::Feature feature) const { return input_.generation->has(feature); }
  const message::StateBases& bases() const { return input_.bases; }
  const Settings& settings() const { return *input_.settings; }
  bool wide_tables() const { return input_.wide_tables; }
  template <class T>
  T get(uint32_t index = 0) const {
    return input_.settings->get<T>(gen(), index);
  }
  // A structure in memory. All zero, and ok() is false, when memory refuses.
  template <class T>
  T read(uint64_t address) {
    std::array<uint32_t, 64> words{};
    const size_t dwords = T::kDesc.dwords_of_gen[static_cast<size_t>(gen())];
    const std::span<uint32_t> used = std::span(words).first(std::min(dwords, words.size()));
    ok_ = input_.space->read(message::place(address), std::as_writable_bytes(used)) && ok_;
    return T::unpack(gen(), used);
  }
  bool ok() const { return ok_; }

 private:
  ResolveInput input_;
  bool ok_ = true;
};

// cr0.0 at the start of a thread.
uint32_t control_of(hw::FloatingPointMode mode, bool single_flow, hw::RoundingMode rounding = hw::RoundingMode::RTNE,
                    bool denormals = false);

void resolve_vertices(Resolver& from, VertexState& vertices);
void set_push(Shader& shader, const hw::_3DSTATE_CONSTANT_BODY& body, uint64_t base);
BlendTarget blend_target(const hw::BLEND_STATE_ENTRY& entry);
void resolve_color_calc(const hw::COLOR_CALC_STATE& state, Output& output);

// Which kernel is for which width: enables of 8, 16 and 32 pixels, then the three kernels of a command.
void set_pixel_kernels(PixelShader& pixel, const std::array<bool, 3>& widths, const std::array<uint64_t, 3>& kernels,
                       const std::array<uint8_t, 3>& first_grfs);
void resolve_drawing_rectangle(Resolver& from, Raster& raster);

void resolve_split(Resolver& from, PipelineState& state);     // Gen8 and later
void resolve_combined(Resolver& from, PipelineState& state);  // Gen6
void resolve_units(Resolver& from, PipelineState& state);     // Gen4

}  // namespace halogen::pipe3d
