#include "pipe3d/state/settings.h"

#include <array>
#include <optional>

#include "hw/3d_constants.h"
#include "hw/3d_depth.h"
#include "hw/3d_pointers.h"
#include "hw/3d_vertex.h"
#include "hw/header_bits.h"
#include "hw/so_decl.h"

namespace halogen::pipe3d {
namespace {

using spec::CommandId;

// Returns whether a command sets state of the 3D pipeline.
constexpr bool sets_state(uint32_t header) {
  const uint32_t opcode = hw::RenderHeader::kOpcode.of(header);
  return hw::RenderHeader::kClient.of(header) == hw::ClientHeader::render &&
         hw::RenderHeader::kPipeline.of(header) == hw::RenderHeader::draw &&
         (opcode == hw::RenderHeader::pipelined || opcode == hw::RenderHeader::not_pipelined);
}

constexpr uint32_t key_of(CommandId id, uint32_t index) {
  return static_cast<uint32_t>(id) << 8 | (index & 0xff);
}

constexpr size_t kStreamBufferDwords = 8;

template <class Command>
void take_body(spec::GenId gen, std::span<const uint32_t> dwords, uint8_t index, hw::_3DSTATE_SO_BUFFER& bound) {
  const hw::_3DSTATE_SO_BUFFER_INDEX_BODY body = Command::unpack(gen, dwords).body;
  bound = {};
  bound.so_buffer_index = index;
  bound.so_buffer_enable = body.so_buffer_enable;
  bound.mocs = body.mocs;
  bound.surface_base_address = body.surface_base_address;
  bound.surface_size = body.surface_size;
  bound.stream_offset_write_enable = body.stream_offset_write_enable;
  bound.stream_output_buffer_offset_address_enable = body.stream_output_buffer_offset_address_enable;
  bound.stream_output_buffer_offset_address = body.stream_output_buffer_offset_address;
  bound.stream_offset = body.stream_offset;
}

// Returns the command with the fields of `T`. Other dwords are copied from `like`.
template <class T>
std::vector<uint32_t> packed(spec::GenId gen, std::span<const uint32_t> like, const T& fields) {
  std::vector<uint32_t> words(like.begin(), like.end());
  if (!fields.pack(gen, words)) {
    words.assign(like.begin(), like.end());
  }
  return words;
}

// Returns the command, with fields that its update bits exclude taken from the previous command.
template <class T>
std::vector<uint32_t> merge(const Settings& settings, spec::GenId gen, std::span<const uint32_t> dwords) {
  return packed(gen, dwords, T::unpack(gen, dwords).merged(gen, settings.get<T>(gen)));
}

// The command of one stage's own constants, and the bit of CONSTANT_ALL for the stage.
struct StageConstants {
  CommandId command;
  bool hw::_3DSTATE_CONSTANT_ALL::*named;
};
constexpr std::array<StageConstants, 5> kStageConstants{{
    {CommandId::_3DSTATE_CONSTANT_VS, &hw::_3DSTATE_CONSTANT_ALL::vertex_shader_update_enable},
    {CommandId::_3DSTATE_CONSTANT_HS, &hw::_3DSTATE_CONSTANT_ALL::hull_shader_update_enable},
    {CommandId::_3DSTATE_CONSTANT_DS, &hw::_3DSTATE_CONSTANT_ALL::domain_shader_update_enable},
    {CommandId::_3DSTATE_CONSTANT_GS, &hw::_3DSTATE_CONSTANT_ALL::geometry_shader_update_enable},
    {CommandId::_3DSTATE_CONSTANT_PS, &hw::_3DSTATE_CONSTANT_ALL::pixel_shader_update_enable},
}};

// Two commands that divide the URB for one stage. Each replaces the other.
struct UrbForms {
  CommandId whole;
  CommandId by_slice;
};
constexpr std::array<UrbForms, 4> kUrbForms{{
    {CommandId::_3DSTATE_URB_VS, CommandId::_3DSTATE_URB_ALLOC_VS},
    {CommandId::_3DSTATE_URB_HS, CommandId::_3DSTATE_URB_ALLOC_HS},
    {CommandId::_3DSTATE_URB_DS, CommandId::_3DSTATE_URB_ALLOC_DS},
    {CommandId::_3DSTATE_URB_GS, CommandId::_3DSTATE_URB_ALLOC_GS},
}};

// Returns the command that this one replaces, besides an earlier one of its own kind. No value: there is no other form.
std::optional<CommandId> other_urb_form(CommandId id) {
  for (const UrbForms& forms : kUrbForms) {
    if (id == forms.whole) return forms.by_slice;
    if (id == forms.by_slice) return forms.whole;
  }
  return std::nullopt;
}

}  // namespace

void Settings::put(CommandId id, uint32_t index, std::span<const uint32_t> dwords) {
  packets_[key_of(id, index)].assign(dwords.begin(), dwords.end());
}

std::span<const uint32_t> Settings::words(CommandId id, uint32_t index) const {
  const auto found = packets_.find(key_of(id, index));
  return found == packets_.end() ? std::span<const uint32_t>{} : std::span<const uint32_t>(found->second);
}

void Settings::change_buffers(spec::GenId gen, std::span<const uint32_t> dwords) {
  using Command = hw::_3DSTATE_VERTEX_BUFFERS;
  const size_t count = Command::count_vertex_buffers(gen, dwords);
  const size_t size = count == 0 ? 0 : (dwords.size() - 1) / count;
  for (size_t i = 0; i < count; ++i) {
    const hw::VERTEX_BUFFER_STATE state = Command::unpack_vertex_buffers(gen, dwords, i).state;
    constexpr spec::HeaderField kLength = hw::RenderHeader::kLength;
    std::vector<uint32_t> one{(dwords[0] & ~kLength.mask()) | kLength.put(static_cast<uint32_t>(size - 1))};
    const auto body = dwords.subspan(1 + i * size, size);
    one.insert(one.end(), body.begin(), body.end());
    put(CommandId::_3DSTATE_VERTEX_BUFFERS, state.vertex_buffer_index, one);
  }
}

void Settings::change_all_constants(spec::GenId gen, std::span<const uint32_t> dwords) {
  constexpr size_t kAllConstantsHead = 2;  // dwords before the buffers
  const auto command = hw::_3DSTATE_CONSTANT_ALL::unpack(gen, dwords);
  for (size_t stage = 0; stage < kStageConstants.size(); ++stage) {
    if (!(command.*kStageConstants[stage].named)) {
      continue;
    }
    hw::_3DSTATE_CONSTANT_ALL alone = command;
    for (const StageConstants& other : kStageConstants) {
      alone.*other.named = &other == &kStageConstants[stage];
    }
    std::vector<uint32_t> words = packed(gen, dwords, alone);
    for (size_t i = kAllConstantsHead; i < dwords.size(); ++i) {
      words[i] = dwords[i];  // the stage's buffers
    }
    put(CommandId::_3DSTATE_CONSTANT_ALL, static_cast<uint32_t>(stage), words);
    packets_.erase(key_of(kStageConstants[stage].command, 0));
  }
}

bool Settings::change(const Generation& generation, const spec::CommandDesc& desc, std::span<const uint32_t> dwords) {
  const spec::GenId gen = generation.id();
  const bool other = desc.id == CommandId::URB_FENCE || desc.id == CommandId::CS_URB_STATE ||
                     desc.id == CommandId::CONSTANT_BUFFER || desc.id == CommandId::_3DSTATE_VF_STATISTICS;
  if (!sets_state(dwords[0]) && !other) {
    return false;
  }
  ++revision_;
  switch (desc.id) {
    case CommandId::_3DSTATE_VERTEX_BUFFERS:
      change_buffers(gen, dwords);
      return true;
    case CommandId::_3DSTATE_CONSTANT_ALL:
      change_all_constants(gen, dwords);
      return true;
    case CommandId::_3DSTATE_VF_INSTANCING:
      put(desc.id, hw::_3DSTATE_VF_INSTANCING::unpack(gen, dwords).vertex_element_index, dwords);
      return true;
    case CommandId::_3DSTATE_SO_BUFFER:
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_0:
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_1:
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_2:
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_3: {
      hw::_3DSTATE_SO_BUFFER bound;
      unpack_stream_buffer(gen, desc.id, dwords, bound);
      // The offset is set when the command is parsed. Afterwards it is in a register.
      bound.stream_offset_write_enable = false;
      std::vector<uint32_t> words(kStreamBufferDwords);
      if (bound.pack(gen, words)) {
        put(CommandId::_3DSTATE_SO_BUFFER, bound.so_buffer_index, words);
      }
      return true;
    }
    case CommandId::_3DSTATE_GS_SVB_INDEX:
      put(desc.id, hw::_3DSTATE_GS_SVB_INDEX::unpack(gen, dwords).index_number, dwords);
      return true;
    case CommandId::_3DSTATE_WM_DEPTH_STENCIL:
      put(desc.id, 0, merge<hw::_3DSTATE_WM_DEPTH_STENCIL>(*this, gen, dwords));
      return true;
    case CommandId::_3DSTATE_DEPTH_BOUNDS:
      put(desc.id, 0, merge<hw::_3DSTATE_DEPTH_BOUNDS>(*this, gen, dwords));
      return true;
    case CommandId::_3DSTATE_CC_STATE_POINTERS:
      put(desc.id, 0, merge<hw::_3DSTATE_CC_STATE_POINTERS>(*this, gen, dwords));
      return true;
    case CommandId::_3DSTATE_SAMPLER_STATE_POINTERS:
      put(desc.id, 0, merge<hw::_3DSTATE_SAMPLER_STATE_POINTERS>(*this, gen, dwords));
      return true;
    case CommandId::_3DSTATE_VIEWPORT_STATE_POINTERS:
      put(desc.id, 0, merge<hw::_3DSTATE_VIEWPORT_STATE_POINTERS>(*this, gen, dwords));
      return true;
    case CommandId::_3DSTATE_BINDING_TABLE_POINTERS:
      put(desc.id, 0, merge<hw::_3DSTATE_BINDING_TABLE_POINTERS>(*this, gen, dwords));
      return true;
    default:
      break;
  }
  put(desc.id, 0, dwords);
  if (const std::optional<CommandId> other_form = other_urb_form(desc.id)) {
    packets_.erase(key_of(*other_form, 0));
  }
  for (size_t stage = 0; stage < kStageConstants.size(); ++stage) {
    if (kStageConstants[stage].command == desc.id) {
      packets_.erase(key_of(CommandId::_3DSTATE_CONSTANT_ALL, static_cast<uint32_t>(stage)));
    }
  }
  return true;
}

void Settings::set_stream_index(spec::GenId gen, uint32_t number, uint32_t index) {
  const std::span<const uint32_t> words = this->words(CommandId::_3DSTATE_GS_SVB_INDEX, number);
  if (!words.empty()) {
    auto command = hw::_3DSTATE_GS_SVB_INDEX::unpack(gen, words);
    command.streamed_vertex_buffer_index = index;
    put(CommandId::_3DSTATE_GS_SVB_INDEX, number, packed(gen, words, command));
  }
  // Later generations: a context image restores the register with the buffer.
  const std::span<const uint32_t> buffer = this->words(CommandId::_3DSTATE_SO_BUFFER, number);
  if (!buffer.empty()) {
    auto command = hw::_3DSTATE_SO_BUFFER::unpack(gen, buffer);
    command.stream_offset_write_enable = true;
    command.stream_offset = index;
    put(CommandId::_3DSTATE_SO_BUFFER, number, packed(gen, buffer, command));
  }
}

bool unpack_stream_buffer(spec::GenId gen, CommandId id, std::span<const uint32_t> dwords,
                          hw::_3DSTATE_SO_BUFFER& bound) {
  switch (id) {
    case CommandId::_3DSTATE_SO_BUFFER:
      bound = hw::_3DSTATE_SO_BUFFER::unpack(gen, dwords);
      return true;
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_0:
      take_body<hw::_3DSTATE_SO_BUFFER_INDEX_0>(gen, dwords, 0, bound);
      return true;
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_1:
      take_body<hw::_3DSTATE_SO_BUFFER_INDEX_1>(gen, dwords, 1, bound);
      return true;
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_2:
      take_body<hw::_3DSTATE_SO_BUFFER_INDEX_2>(gen, dwords, 2, bound);
      return true;
    case CommandId::_3DSTATE_SO_BUFFER_INDEX_3:
      take_body<hw::_3DSTATE_SO_BUFFER_INDEX_3>(gen, dwords, 3, bound);
      return true;
    default:
      return false;
  }
}

std::vector<uint32_t> Settings::commands() const {
  std::vector<uint32_t> all;
  for (const auto& [key, words] : packets_) {
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

}  // namespace halogen::pipe3d
