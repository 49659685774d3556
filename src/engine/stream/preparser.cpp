#include "engine/stream/preparser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/engine.h"
#include "hw/mi_flow.h"
#include "hw/mode.h"
#include "hw/ring.h"
#include "spec/field_visitor.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kPageBytes = 4096;

unsigned lines_between(GpuVa first, GpuVa end) {
  return static_cast<unsigned>((end.value + kLineBytes - 1) / kLineBytes - first.value / kLineBytes);
}

}  // namespace

struct PreParser::Walk {
  std::array<StreamLevel, StreamState::kMaxLevels> levels;
  unsigned depth = 0;
  bool on = true;
  GpuVa left_at;  // end of the command that jumped last

  StreamLevel& level() { return levels[depth]; }
  const StreamLevel& level() const { return levels[depth]; }
};

bool PreParser::exists() const {
  return spec::find_field(hw::GFX_MODE::kDesc, engine_.gen(), "prefetch_disable") != nullptr &&
         !engine_.registers().get<hw::GFX_MODE>().prefetch_disable;
}

std::span<const uint32_t> PreParser::take(StreamSpace space, GpuVa address) {
  if (epoch_ != engine_.stream().epoch()) {
    pieces_.clear();
    return {};
  }
  const auto found = std::ranges::find_if(
      pieces_, [&](const Piece& piece) { return piece.space == space && piece.address == address; });
  if (found == pieces_.end()) {
    return {};
  }
  taken_ = std::move(found->dwords);
  pieces_.erase(pieces_.begin(), found + 1);
  return taken_;
}

void PreParser::follow(StreamSpace space, GpuVa address, std::span<const uint32_t> commands, unsigned lines) {
  const StreamState& stream = engine_.stream().state();
  const bool is_place = stream.levels[stream.depth].address == address && stream.levels[stream.depth].space == space;
  if (!is_place || !exists()) {
    return;  // `commands` is the rest of a command, or the pre-parser is disabled
  }
  pieces_.clear();
  epoch_ = engine_.stream().epoch();
  Walk walk{stream.levels, stream.depth, engine_.state().preparser, address};
  while (leads_on(walk, commands)) {
    const unsigned used = lines_between(address, walk.left_at);
    if (used >= lines || !read(walk, lines - used)) {
      return;
    }
    lines -= used;
    address = pieces_.back().address;
    commands = pieces_.back().dwords;
  }
}

// Walks commands up to a jump that the pre-parser follows. False: there is no such jump.
bool PreParser::leads_on(Walk& walk, std::span<const uint32_t> commands) const {
  while (!commands.empty() && walk.level().address != walk.level().end) {
    const auto [desc, total] = engine_.table().frame(commands[0]);
    if (desc == nullptr || total > commands.size()) {
      return false;
    }
    const std::span<const uint32_t> dwords = commands.first(total);
    walk.level().address += dwords.size_bytes();
    walk.left_at = walk.level().address;
    commands = commands.subspan(total);
    if (desc->id == CommandId::MI_ARB_CHECK) {
      const auto check = hw::MI_ARB_CHECK::unpack(engine_.gen(), dwords);
      walk.on = (check.mask_bits & 1) != 0 ? !check.pre_fetch_disable : walk.on;
    } else if (desc->id == CommandId::MI_BATCH_BUFFER_END) {
      walk.depth -= walk.depth != 0 ? 1u : 0u;
      return walk.on;
    } else if (desc->id == CommandId::MI_BATCH_BUFFER_START) {
      const auto start = hw::MI_BATCH_BUFFER_START::unpack(engine_.gen(), dwords);
      const bool process = walk.level().space == StreamSpace::ppgtt ||
                           start.address_space_indicator == hw::MI_BATCH_BUFFER_START::AddressSpaceIndicator::ppgtt;
      GpuVa target = start.batch_buffer_start_address;
      if (start.add_offset_enable) {
        target += engine_.registers().get<hw::BB_OFFSET>().offset;
      }
      const bool calls = walk.depth == 0 || start.second_level_batch_buffer;
      walk.depth += calls && walk.depth + 1u < walk.levels.size() ? 1u : 0u;
      walk.level() = {.space = process ? StreamSpace::ppgtt : StreamSpace::ggtt, .address = canonical(target)};
      return walk.on;
    }
  }
  return false;
}

// Reads a piece ahead. It never faults; a missing page is read again when the parser reaches it.
bool PreParser::read(const Walk& walk, unsigned lines) {
  const StreamLevel& level = walk.level();
  const bool global = level.space == StreamSpace::ggtt;
  memory::AddressSpace& memory =
      engine_.services().space(global ? memory::Stream::ring : memory::Stream::batch,
                               global ? memory::TableKind::global : memory::TableKind::per_process);
  const std::byte* const page = memory.page_at(level.address, memory::kRead);
  if (page == nullptr || level.space == StreamSpace::physical || level.address.value % sizeof(uint32_t) != 0) {
    return false;
  }
  uint64_t end = std::min((level.address.value / kLineBytes + lines) * kLineBytes,
                          (level.address.value / kPageBytes + 1) * kPageBytes);
  end = std::min(end, level.wrap_at.value);
  if (level.end.value > level.address.value) {
    end = std::min(end, level.end.value);
  }
  if (end <= level.address.value) {
    return false;
  }
  Piece piece{level.space, level.address, std::vector<uint32_t>((end - level.address.value) / sizeof(uint32_t))};
  std::memcpy(piece.dwords.data(), page + level.address.value % kPageBytes, piece.dwords.size() * sizeof(uint32_t));
  pieces_.push_back(std::move(piece));
  return true;
}

}  // namespace halogen::engine
