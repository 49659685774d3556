#include "engine/backend/render_state.h"

#include <array>

#include "base/graphics_address.h"
#include "hw/common.h"
#include "spec/append_command.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

void set_bases(const hw::STATE_BASE_ADDRESS& command, RenderState& state) {
  message::StateBases& bases = state.bases;
  const auto set = [&](bool enable, uint64_t& base, GpuVa address) {
    if (enable) {
      base = plain_address(address.value);
      state.has_bases = true;
    }
  };
  set(command.general_state_base_address_modify_enable, bases.general, command.general_state_base_address);
  set(command.surface_state_base_address_modify_enable, bases.surface, command.surface_state_base_address);
  set(command.dynamic_state_base_address_modify_enable, bases.dynamic, command.dynamic_state_base_address);
  set(command.indirect_object_base_address_modify_enable, bases.indirect_object, command.indirect_object_base_address);
  set(command.instruction_base_address_modify_enable, bases.instruction, command.instruction_base_address);
  set(command.bindless_surface_state_base_address_modify_enable, bases.bindless_surface,
      command.bindless_surface_state_base_address);
  set(command.bindless_sampler_state_base_address_modify_enable, bases.bindless_sampler,
      command.bindless_sampler_state_base_address);
}

// Returns whether PIPELINE_SELECT has mask bits (Gen9 and later).
bool has_pipeline_mask(spec::GenId gen) {
  hw::PIPELINE_SELECT select{};
  std::array<uint32_t, 1> without{};
  std::array<uint32_t, 1> with{};
  const bool first = static_cast<bool>(select.pack(gen, without));
  select.mask_bits = 1;
  return first && select.pack(gen, with) && with != without;
}

}  // namespace

bool RenderState::change(spec::GenId gen, CommandId command, std::span<const uint32_t> dwords) {
  if (command == CommandId::STATE_BASE_ADDRESS) {
    set_bases(hw::STATE_BASE_ADDRESS::unpack(gen, dwords), *this);
    return true;
  }
  if (command != CommandId::PIPELINE_SELECT) {
    return false;
  }
  constexpr unsigned kBits = 3;  // mask of the selection field
  const auto select = hw::PIPELINE_SELECT::unpack(gen, dwords);
  const unsigned taken = has_pipeline_mask(gen) ? select.mask_bits & kBits : kBits;
  pipeline = static_cast<uint8_t>((pipeline & ~taken) | (static_cast<unsigned>(select.pipeline_selection) & taken));
  pipeline_masked |= select.mask_bits != 0;
  return true;
}

void RenderState::append_commands(spec::GenId gen, std::vector<uint32_t>& out) const {
  hw::PIPELINE_SELECT select{};
  select.pipeline_selection = static_cast<hw::PipelineSelection>(pipeline);
  select.mask_bits = pipeline_masked ? 3 : 0;
  spec::append_command(gen, out, select);
  // Some generations lack some of the bases. A base that was never set is zero, so it need not be written.
  hw::STATE_BASE_ADDRESS command{};
  const auto put = [](bool& enable, GpuVa& address, uint64_t value, bool always = true) {
    enable = always || value != 0;
    address = wrapped_address(value);
  };
  put(command.general_state_base_address_modify_enable, command.general_state_base_address, bases.general);
  put(command.surface_state_base_address_modify_enable, command.surface_state_base_address, bases.surface);
  put(command.dynamic_state_base_address_modify_enable, command.dynamic_state_base_address, bases.dynamic, false);
  put(command.indirect_object_base_address_modify_enable, command.indirect_object_base_address, bases.indirect_object);
  put(command.instruction_base_address_modify_enable, command.instruction_base_address, bases.instruction, false);
  put(command.bindless_surface_state_base_address_modify_enable, command.bindless_surface_state_base_address,
      bases.bindless_surface, false);
  put(command.bindless_sampler_state_base_address_modify_enable, command.bindless_sampler_state_base_address,
      bases.bindless_sampler, false);
  spec::append_command(gen, out, command);
}

}  // namespace halogen::engine
