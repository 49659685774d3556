#include "engine/context/context_settings.h"

#include <algorithm>
#include <array>

#include "compute/commands.h"
#include "engine/engine.h"
#include "hw/header_bits.h"
#include "hw/mi_flow.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Pipeline commands that start work.
constexpr std::array kWork{CommandId::_3DPRIMITIVE, CommandId::GPGPU_WALKER, CommandId::MEDIA_OBJECT,
                           CommandId::MEDIA_OBJECT_PRT, CommandId::MEDIA_OBJECT_WALKER};

// Registers that are restored together with the buffers they belong to.
constexpr std::array kStreamOffsets{RegisterId::SO_WRITE_OFFSET0, RegisterId::SO_WRITE_OFFSET1,
                                    RegisterId::SO_WRITE_OFFSET2, RegisterId::SO_WRITE_OFFSET3};

void append_end(Engine& engine, std::vector<uint32_t>& words) {
  words.emplace_back();
  static_cast<void>(hw::MI_BATCH_BUFFER_END{}.pack(engine.gen(), std::span(&words.back(), 1)));
}

std::vector<uint32_t> commands_of(Engine& engine) {
  std::vector<uint32_t> commands;
  const EngineState& state = engine.state();
  if (state.render != RenderState{} || state.compute.settings != compute::Settings{}) {
    state.render.append_commands(engine.gen(), commands);
    compute::append_commands(engine.gen(), state.compute.settings, commands);
  }
  pipe3d::Settings& drawing = engine.state().draw.settings;
  for (uint32_t i = 0; i < kStreamOffsets.size(); ++i) {
    if (engine.registers().has(kStreamOffsets[i])) {
      drawing.set_stream_index(engine.gen(), i, engine.registers().peek(kStreamOffsets[i]));
    }
  }
  const std::vector<uint32_t> more = drawing.commands();
  commands.insert(commands.end(), more.begin(), more.end());
  return commands;
}

}  // namespace

void forget_settings(Engine& engine) {
  engine.state().render = {};
  engine.state().compute.settings = {};
  engine.state().draw.settings = {};
}

void append_settings(Engine& engine, uint64_t context, size_t max, std::vector<uint32_t>& words) {
  const std::vector<uint32_t> commands = commands_of(engine);
  if (words.size() + commands.size() < max) {
    words.insert(words.end(), commands.begin(), commands.end());
  } else {
    engine.raise(EventKind::unsupported, "context image", context, commands.size(),
                 "pipeline state too large for the image and lost");
  }
  if (words.size() < max) append_end(engine, words);  // hides the remains of a longer, older list
}

bool restore_setting(Engine& engine, const Command& command) {
  const bool works = std::ranges::find(kWork, command.desc.id) != kWork.end();
  if (hw::ClientHeader::kClient.of(command.dwords[0]) != hw::ClientHeader::render || works) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "command not allowed in a context image");
    return true;
  }
  return engine.back_end().execute(engine, command).action != Next::Action::hold;
}

}  // namespace halogen::engine
