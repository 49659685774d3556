#include "pipe3d/pixel/pixel_work.h"

#include <algorithm>
#include <atomic>

namespace halogen::pipe3d {
namespace {

constexpr uint64_t kFirstRound = 2;  // pieces in the first round
constexpr uint64_t kMaxRound = 64;
constexpr uint64_t kWorthIt = 64;  // threads of a round; fewer take less time than waking a host thread
constexpr uint32_t kMaxPenalty = 10;
constexpr size_t kMaxBackOffs = 1024;
constexpr uint64_t kMaxBands = 1 << 17;  // bands of a clear; no surface has as many rows

}  // namespace

// The objects with which one host thread draws.
struct PixelWork::Lane {
  Lane(eu::KernelLibrary& library, memory::InPlaceSpeculation& speculation, const memory::PhysicalMemory& memory)
      : threads(speculation, memory, memory::InPlaceSpeculation::Side::Kind::reader),
        targets(speculation, memory, memory::InPlaceSpeculation::Side::Kind::writer),
        stage(library) {}

  memory::InPlaceSpeculation::Side threads;
  memory::InPlaceSpeculation::Side targets;
  PixelStage stage;
};

PixelWork::PixelWork(eu::KernelLibrary& library) : library_(library), main_(library) {}
PixelWork::~PixelWork() = default;

void PixelWork::begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
                      memory::AddressSpace& space) {
  generation_ = &generation;
  state_ = &state;
  space_ = &space;
  entry_slots_ = entry_slots;
  main_.begin(generation, state, entry_slots, space, space);
}

void PixelWork::draw_piece(PixelStage& stage, const PrimitiveList& list, uint64_t number) const {
  const PixelPieces::Piece piece = pieces_[number];
  for (const uint32_t primitive : piece.primitives) {
    if (stage.end() != ThreadEnd::done) {
      break;
    }
    stage.draw(list.primitives()[primitive], rasters_[primitive], piece.window);
  }
  stage.store_states();
}

PixelWork::BackOff& PixelWork::back_off() {
  if (back_offs_.size() > kMaxBackOffs) {
    back_offs_.clear();
  }
  const PixelShader& pixel = state_->pixel;
  const uint64_t kernel = pixel.simd16.enabled  ? pixel.simd16.start
                          : pixel.simd8.enabled ? pixel.simd8.start
                                                : pixel.simd32.start;
  return back_offs_[{state_->bases.instruction, kernel}];
}

bool PixelWork::pays(uint64_t pieces) const {
  return pool_ != nullptr && pool_->threads() > 1 && pieces > 1 && !state_->pixel.writes_memory &&
         pieces_.threads() * pieces / pieces_.size() >= kWorthIt;
}

// Draws pieces on all threads of the pool. False: nothing was drawn.
bool PixelWork::draw_beside(const PrimitiveList& list, uint64_t first, uint64_t end) {
  const memory::PhysicalMemory& memory = space_->memory();
  if (memory_ != &memory) {
    lanes_.clear();
    memory_ = &memory;
  }
  const size_t count = std::min<uint64_t>(pool_->threads(), end - first);
  while (lanes_.size() < count) {
    lanes_.push_back(std::make_unique<Lane>(library_, speculation_, memory));
  }
  speculation_.begin(*space_);
  const std::span lanes = std::span(lanes_).first(count);
  for (const std::unique_ptr<Lane>& lane : lanes) {
    lane->threads.begin();
    lane->targets.begin();
  }
  main_.share_kernels(lanes.front()->threads.space());
  std::atomic<uint64_t> next = first;
  if (!speculation_.refused()) {
    pool_->for_each(count, [&](size_t number) {
      Lane& lane = *lanes[number];
      lane.stage.use_kernels_of(main_);
      lane.stage.begin(*generation_, *state_, entry_slots_, lane.threads.space(), lane.targets.space());
      for (uint64_t piece = next++; piece < end && !speculation_.refused(); piece = next++) {
        draw_piece(lane.stage, list, piece);
        if (lane.stage.end() != ThreadEnd::done || lane.stage.fidelity_changed()) {
          speculation_.refuse();
        }
      }
    });
  }
  if (std::ranges::any_of(lanes, [](const auto& lane) { return !lane->stage.pixels_apart(); })) {
    speculation_.refuse();
  }
  const bool stands = speculation_.finish();
  for (const std::unique_ptr<Lane>& lane : lanes) {
    if (stands) {
      main_.merge_counts_of(lane->stage);
    }
    lane->stage.drop_counts();
  }
  main_.unshare_kernels();
  main_.forget_states();
  return stands;
}

void PixelWork::draw_round(const PrimitiveList& list, uint64_t& next, uint64_t end) {
  if (pays(end - next)) {
    BackOff& back_off = this->back_off();
    if (back_off.alone != 0) {
      --back_off.alone;
    } else if (draw_beside(list, next, end)) {
      back_off.penalty -= back_off.penalty != 0 ? 1 : 0;
      next = end;
      return;
    } else if (stopping()) {
      return;  // the round is rolled back
    } else {
      back_off.alone = 4u << back_off.penalty;
      back_off.penalty = std::min(back_off.penalty + 1, kMaxPenalty);
    }
  }
  for (; next < end && !stopping(); ++next) {
    draw_piece(main_, list, next);
    if (main_.end() != ThreadEnd::done) {
      return;
    }
  }
}

// Clears rectangles. A band of a rectangle is one part.
bool PixelWork::clear(const PrimitiveList& list, uint64_t& next) {
  const size_t count = list.primitives().size();
  const size_t at = next / kMaxBands;
  if (at < count) {
    const ScreenPrimitive& rectangle = list.primitives()[at];
    const auto band = static_cast<uint32_t>(next % kMaxBands);
    if (band == 0 && state_->wanted.work) {
      main_.count_blocks(Rasteriser(*state_, rectangle));
    }
    const Rasteriser raster(*state_, rectangle);
    const bool last = state_->pixel.operation != TargetOperation::draw
                          ? main_.change_target(rectangle.layer, raster.covered(), band)
                          : main_.change_depth(rectangle, raster, band);
    next = last ? (at + 1) * kMaxBands : next + 1;
  }
  return end() == ThreadEnd::done && next / kMaxBands >= count;
}

bool PixelWork::draw(const PrimitiveList& list, uint64_t& next, uint64_t most) {
  if (state_->pixel.operation != TargetOperation::draw || state_->output.operation.on_depth()) {
    return clear(list, next);
  }
  main_.begin_list();
  rasters_.clear();
  for (const ScreenPrimitive& primitive : list.primitives()) {
    rasters_.emplace_back(*state_, primitive);
  }
  pieces_.cut(rasters_);
  const uint64_t first = next;
  const uint64_t before = instructions();
  uint64_t round = kFirstRound;
  while (next < pieces_.size()) {
    draw_round(list, next, std::min<uint64_t>(pieces_.size(), next + round));
    if (end() != ThreadEnd::done) {
      return false;
    }
    const uint64_t used = instructions() - before;
    if (used >= most || stopping()) {
      break;
    }
    // Limits the next round to the remaining instructions.
    const uint64_t fit = used == 0 ? kMaxRound : std::min(most - used, used * kMaxRound) * (next - first) / used;
    round = std::clamp<uint64_t>(std::min(fit, round * 2), 1, kMaxRound);
  }
  return next >= pieces_.size();
}

}  // namespace halogen::pipe3d
