#include "pipe3d/pixel/pixel_stage.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "message/payload.h"
#include "pipe3d/geometry/attributes.h"
#include "pipe3d/output/target_message.h"
#include "pipe3d/raster/pixel_points.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kOfThread = 16;  // work of a thread or of a primitive, in subspans

// Adds to the amount of work done. Returns whether the stop flag must be polled again. Not every call polls it, because
// a poll costs as much as some subspans.
bool is_due(uint32_t& subspans, uint32_t more) {
  constexpr unsigned kUnasked_log2 = 8;
  const uint32_t before = subspans;
  subspans += more;
  return (before ^ subspans) >> kUnasked_log2 != 0;
}

}  // namespace

bool PixelStage::early() const {
  const PixelShader& pixel = state_->pixel;
  if (!pixel.dispatch || pixel.early == EarlyDepth::early) {
    return true;
  }
  const Blend& blend = state_->output.blend;
  return pixel.early == EarlyDepth::automatic && !pixel.kills && !pixel.computes_depth && !pixel.computes_stencil &&
         !pixel.sample_mask && !blend.alpha_test && !blend.alpha_to_coverage;
}

void PixelStage::begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
                       memory::AddressSpace& space, memory::AddressSpace& targets) {
  generation_ = &generation;
  state_ = &state;
  space_ = &space;
  target_space_ = &targets;
  entry_slots_ = entry_slots;
  unit_.set_pixels(this);
  unit_.begin(generation, state, state.pixel.shader, space);
  if (state.has_setup_thread()) {
    setup_.begin(generation, state, entry_slots, space);
  }
  depth_.begin(state.output, targets, state.raster.samples_log2);
  if (state.bases.watches_states) {
    depth_.note(state.raster.samples_log2, surfaces_.uses());
  }
  surfaces_.forget();
  targets_.clear();
  end_ = ThreadEnd::done;
  missing_ = {};
  inexact_ = {};
  counts_ = {};
  begin_list();
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  const PixelShader& pixel = state.pixel;
  width_ = pixel.simd16.enabled ? 16 : pixel.simd8.enabled ? 8 : 32;
  test_early_ = early();
  counts_blocks_ = state.wanted.work;
}

void PixelStage::share_kernels(memory::AddressSpace& quiet) {
  const PixelShader& pixel = state_->pixel;
  std::vector<uint64_t> kernels;
  for (const PixelShader::Kernel* kernel : {&pixel.simd8, &pixel.simd16, &pixel.simd32}) {
    if (kernel->enabled) {
      kernels.push_back(kernel->start);
    }
  }
  unit_.share_kernels(kernels, quiet);
  if (state_->has_setup_thread()) {
    setup_.unit().share_kernels(std::array{state_->setup_shader.kernel}, quiet);
  }
}

void PixelStage::unshare_kernels() {
  unit_.unshare_kernels();
  setup_.unit().unshare_kernels();
}

void PixelStage::use_kernels_of(PixelStage& main) {
  unit_.use_kernels_of(main.unit_);
  setup_.unit().use_kernels_of(main.setup_.unit());
}

void PixelStage::merge_counts_of(PixelStage& helper) {
  counts_.invocations += helper.counts_.invocations;
  counts_.passed += helper.counts_.passed;
  counts_.threads += helper.counts_.threads;
  counts_.replayed += helper.counts_.replayed;
  counts_.blocks.add(helper.counts_.blocks);
  missing_ = missing_.empty() ? helper.missing_ : missing_;
  inexact_ = inexact_.empty() ? helper.inexact_ : inexact_;
  surfaces_.unread().merge(helper.surfaces_.unread());
  surfaces_.uses().merge(helper.surfaces_.uses());
  helper.unit_.merge_counts();
  helper.setup_.unit().merge_counts();
}

bool PixelStage::pixels_apart() const {
  std::vector<TargetExtent> extents;
  for (size_t i = 0; i < targets_.size(); ++i) {
    // A target that is used with two blend states counts once.
    const auto same = [&](const std::unique_ptr<Bound>& other) { return other->index == targets_[i]->index; };
    if (std::ranges::none_of(std::span(targets_).first(i), same)) {
      extents.push_back(targets_[i]->extent);
    }
  }
  if (!depth_.idle()) {
    const DepthBuffers& buffers = state_->output.buffers;
    const uint32_t samples = 1u << state_->raster.samples_log2;
    extents.push_back(extent_of(buffers.depth, depth_.element_B(), samples));
    extents.push_back(extent_of(buffers.stencil, 1, samples));
  }
  return are_apart(std::move(extents));
}

void PixelStage::take_work(oa::WorkCounts& into) {
  unit_.take_work(oa::Stage::pixel, into);
  setup_.unit().take_work(oa::Stage::pixel, into);
}

void PixelStage::drop_counts() {
  unit_.drop_counts();
  setup_.unit().drop_counts();
}

void PixelStage::draw(const ScreenPrimitive& primitive, const Rasteriser& raster, const Rectangle& window) {
  if (primitive_ != &primitive) {
    forget_replays();
  }
  primitive_ = &primitive;
  raster_ = &raster;
  filled_ = 0;
  if (is_due(subspans_, kOfThread) && unit_.stopping()) {
    end_ = ThreadEnd::stopped;
    return;
  }
  attributes_.clear();
  is_set_up_ = false;
  const Rectangle area = intersect(raster.box(), window);
  enter(window);
  worth_replay_ = pixels_of(area) >= kWorthReplay;
  if (fill(area)) {
    return;
  }
  if (counts_blocks_) {
    raster.walk(window, [&](const Subspan& subspan) { add<true>(subspan); });
  } else {
    raster.walk(window, [&](const Subspan& subspan) { add<false>(subspan); });
  }
  if (filled_ != 0) {
    dispatch();
  }
}

void PixelStage::enter(const Rectangle& window) {
  depth_.enter(window, primitive_->layer);
  for (const std::unique_ptr<Bound>& bound : targets_) {
    bound->writer.enter(window, primitive_->layer);
  }
}

void PixelStage::store_states() {
  depth_.store_states();
  for (const std::unique_ptr<Bound>& bound : targets_) {
    bound->writer.store_states();
  }
}

void PixelStage::forget_states() {
  depth_.forget_states();
  for (const std::unique_ptr<Bound>& bound : targets_) {
    bound->writer.forget_states();
  }
}

void PixelStage::count_blocks(const Rasteriser& raster) {
  raster.walk(raster.box(),
              [&](const Subspan& subspan) { counts_.blocks.rasterised += count_of(samples_of(subspan.coverage)); });
}

bool PixelStage::change_depth(const ScreenPrimitive& rectangle, const Rasteriser& raster, uint32_t band) {
  DepthOperation operation = state_->output.operation;
  operation.rectangle = raster.covered();
  const Rectangle limit = intersect(raster.covered(), rectangle.bounds);
  const bool last = operation.clear_depth ? depth_.clear(operation, limit, rectangle.layer, band)
                                          : depth_.change_states(operation, limit, rectangle.layer, band);
  if (depth_.stopped()) {
    end_ = ThreadEnd::fault;
  }
  return last;
}

namespace {

uint64_t samples_in(const std::array<uint16_t, 4>& coverage) {
  constexpr uint64_t kFirst = 0x0001'0001'0001'0001;  // sample 0 of each pixel
  const auto all = std::bit_cast<uint64_t>(coverage);
  return (all & ~kFirst) == 0 ? all * kFirst >> 48 : static_cast<uint64_t>(std::popcount(all));
}

}  // namespace

template <bool kCounts>
void PixelStage::add(const Subspan& subspan) {
  if (end_ != ThreadEnd::done) {
    return;
  }
  if (is_due(subspans_, 1) && unit_.stopping()) {
    end_ = ThreadEnd::stopped;
    return;
  }
  std::array<uint16_t, 4> coverage = subspan.coverage;
  if constexpr (kCounts) {
    counts_.blocks.rasterised += count_of(samples_of(coverage));
  }
  if (test_early_) {
    if (!depth_.idle()) {
      test(subspan, coverage);
      if constexpr (kCounts) {
        counts_.blocks.failed_early += count_of(samples_of(subspan.coverage) & ~samples_of(coverage));
      }
    }
    counts_.passed += samples_in(coverage);
  }
  if (std::bit_cast<uint64_t>(coverage) == 0 || !state_->pixel.dispatch) {
    return;
  }
  const unsigned samples = state_->pixel.per_sample ? 1u << state_->raster.samples_log2 : 1;
  for (unsigned sample = 0; sample < samples; ++sample) {
    const uint32_t which = samples > 1 ? 1u << sample : ~0u;
    if (samples > 1 && std::ranges::none_of(coverage, [&](uint16_t each) { return (each & which) != 0; })) {
      continue;
    }
    for (unsigned i = 0; i < 4; ++i) {
      group_.lanes[filled_ + i] = {.x = subspan.x + static_cast<int32_t>(i & 1),
                                   .y = subspan.y + static_cast<int32_t>(i >> 1),
                                   .coverage = uint32_t{coverage[i]} & which,
                                   .sample = static_cast<uint8_t>(sample),
                                   .tested = test_early_};
    }
    filled_ += 4;
    if (filled_ == width_) {
      dispatch();
    }
  }
}

// Tests depth and stencil before the shader.
void PixelStage::test(const Subspan& subspan, std::array<uint16_t, 4>& coverage) {
  if (depth_.takes_squares()) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      mask |= static_cast<uint32_t>(coverage[i] & 1) << i;
    }
    mask = depth_.test_square({subspan.x, subspan.y, primitive_->layer}, mask,
                              square_depths(*state_, *primitive_, *raster_, subspan.x, subspan.y));
    for (uint32_t i = 0; i < 4; ++i) {
      coverage[i] = static_cast<uint16_t>(mask >> i & 1);
    }
  } else {
    for (uint32_t i = 0; i < 4; ++i) {
      if (coverage[i] != 0) {
        const int32_t x = subspan.x + static_cast<int32_t>(i & 1);
        const int32_t y = subspan.y + static_cast<int32_t>(i >> 1);
        const uint32_t passed = depth_.test({x, y, primitive_->layer}, coverage[i],
                                            sample_depths(*state_, *primitive_, *raster_, x, y, coverage[i]),
                                            primitive_->front, nullptr, true);
        coverage[i] = static_cast<uint16_t>(passed);
      }
    }
  }
  if (depth_.stopped()) {
    end_ = ThreadEnd::fault;
  }
}

bool PixelStage::set_up() {
  if (!is_set_up_ && state_->pixel.attributes) {
    is_set_up_ = true;
    if (state_->has_setup_thread()) {
      end_ = setup_.set_up(*primitive_, attributes_);
    } else {
      set_up_attributes(state_->setup, entry_slots_, *primitive_, attributes_);
    }
  }
  return end_ == ThreadEnd::done;
}

const PixelShader::Kernel& PixelStage::wide_kernel() const {
  const PixelShader& pixel = state_->pixel;
  return pixel.simd16.enabled ? pixel.simd16 : pixel.simd32;
}

// Fills the registers of the thread and enables all channels of the group.
FilledRegisters PixelStage::make_ready(const PixelShader::Kernel& kernel, const PixelGroup& group) {
  const PixelShader& pixel = state_->pixel;
  eu::Thread& thread = *thread_;
  const size_t data = unit_.prepare(thread, used_, pixel.shader, kernel.first_grf);
  const FilledRegisters filled = fill_pixel_payload(*state_, generation_->id(), group, attributes_, data, thread);
  used_.cover_grfs(0, filled.end);
  const uint32_t live = group.live();
  thread.start(static_cast<uint32_t>(kernel.start), pixel.shader.vector_mask ? group.helped() : live);
  thread.state[2] = live;
  thread.state[3] = group.helped();
  return filled;
}

void PixelStage::dispatch() {
  const PixelShader& pixel = state_->pixel;
  group_.primitive = primitive_;
  group_.raster = raster_;
  // Few pixels use a narrow thread, if there is a kernel for it.
  const bool narrow = filled_ <= 8 && pixel.simd8.enabled;
  const PixelShader::Kernel& kernel = narrow ? pixel.simd8 : wide_kernel();
  group_.width = narrow ? 8 : pixel.simd16.enabled ? 16 : 32;
  for (unsigned i = filled_; i < group_.width; ++i) {
    group_.lanes[i] = {.x = static_cast<int32_t>(i & 1), .y = static_cast<int32_t>(i >> 1 & 1)};
  }
  filled_ = 0;
  group_.find_covered();
  if (!kernel.enabled || end_ != ThreadEnd::done || !set_up()) {
    return;
  }
  if (is_due(subspans_, kOfThread) && unit_.stopping()) {
    end_ = ThreadEnd::stopped;
    return;
  }
  unit_.use_kernel(kernel.start);
  ++counts_.threads;
  counts_.invocations += static_cast<uint64_t>(std::popcount(group_.live()));
  blocks_.begin();
  if (const PixelReplay* known = replay(kernel, narrow)) {
    play(*known);
  } else {
    make_ready(kernel, group_);
    end_ = unit_.run(*thread_);
  }
  if (counts_blocks_) {
    blocks_.finish(group_, counts_.blocks);
  }
}

// Messages -----------------------------------------------------------------------------------------------------------

namespace {

// Returns the samples that alpha test and alpha-to-coverage leave.
uint32_t alpha_coverage(const Blend& blend, float alpha, const Lane& lane, uint8_t samples_log2) {
  if (blend.alpha_test && !alpha_test(blend, alpha)) {
    return 0;
  }
  if (!blend.alpha_to_coverage) {
    return lane.coverage;
  }
  return lane.coverage & (blend.dithers_coverage ? dithered_coverage(alpha, samples_log2, lane.x, lane.y)
                                                 : alpha_to_coverage(alpha, samples_log2));
}

// Returns whether a channel has so few bits that dithering would be visible.
bool shows_dither(const message::Surface& target) {
  return target.format != nullptr && std::ranges::any_of(target.format->channel, [](const auto& channel) {
           return channel.bits != 0 && channel.bits < 8 && channel.kind == surface::ChannelKind::unorm;
         });
}

}  // namespace

TargetWriter* PixelStage::target(uint8_t index, uint8_t blend) {
  for (const std::unique_ptr<Bound>& bound : targets_) {
    if (bound->index == index && bound->blend == blend) {
      return &bound->writer;
    }
  }
  const message::Surface* const surface = surfaces_.find(
      *generation_, {.space = space_, .bases = state_->bases, .binding_table = state_->pixel.shader.binding_table},
      index, 0);
  if (surface == nullptr) {
    return nullptr;
  }
  if (state_->output.blend.dither && shows_dither(*surface)) {
    inexact_ = "channels with few bits rounded; dithering not modelled";
  } else if (state_->output.blend.alpha_to_coverage && state_->output.blend.dithers_coverage) {
    inexact_ = "alpha to coverage dithered with a matrix of the model";
  }
  auto bound = std::make_unique<Bound>();
  bound->index = index;
  bound->blend = blend;
  bound->extent = extent_of(*surface);
  bound->writer.begin(*surface, state_->output.blend.targets[blend % kMaxTargets], state_->output.blend,
                      *target_space_);
  targets_.push_back(std::move(bound));
  return &targets_.back()->writer;
}

void PixelStage::late_test(Lane& lane, const float* depth, const uint8_t* stencil) {
  if (lane.tested || lane.coverage == 0) {
    return;
  }
  lane.tested = true;
  if (!depth_.idle()) {
    std::array<float, kMaxSamples> depths{};
    if (depth != nullptr) {
      const Viewport& viewport = state_->viewports[primitive_->viewport % kMaxViewports];
      depths.fill(std::clamp(*depth, viewport.depth_min, std::max(viewport.depth_min, viewport.depth_max)));
    } else {
      depths = sample_depths(*state_, *primitive_, *raster_, lane.x, lane.y, lane.coverage);
    }
    lane.coverage =
        depth_.test({lane.x, lane.y, primitive_->layer}, lane.coverage, depths, primitive_->front, stencil, true);
  }
  counts_.passed += static_cast<uint64_t>(std::popcount(lane.coverage));
}

// Tests and writes a pixel. Returns the samples that were written, if blocks are counted.
uint32_t PixelStage::write_lane(const TargetMessage& message, unsigned index) {
  const unsigned number = (message.first_lane + index) % kMaxLanes;
  Lane& lane = group_.lanes[number];
  if (message.has_mask) {
    lane.coverage &= message.payload->value<uint16_t>(message.place_of_mask(index));
  }
  if (lane.coverage == 0) {
    return 0;
  }
  if (counts_blocks_) {
    blocks_.send(number, lane.coverage);
  }
  Colour colour{};
  Colour second{};
  for (unsigned c = 0; c < 4; ++c) {
    colour[c] = message.component(message.colour, c, index);
    second[c] = message.second != 0 ? message.component(message.second, c, index) : 0;
  }
  if (raster_->smooth()) {
    const PixelPoint at = pixel_point(state_->raster, lane);
    colour[3] = std::bit_cast<uint32_t>(std::bit_cast<float>(colour[3]) * raster_->fraction(at.x, at.y));
  }
  const uint32_t alpha =
      message.has_source_alpha
          ? message.payload->value<uint32_t>(TargetMessage::place_of_value(message.source_alpha, index))
          : colour[3];
  const Blend& blend = state_->output.blend;
  if (!lane.weighed) {  // needed also if depth was tested before the shader
    lane.weighed = true;
    lane.coverage = alpha_coverage(blend, std::bit_cast<float>(alpha), lane, state_->raster.samples_log2);
  }
  if (!lane.tested) {
    float depth = 0;
    uint8_t stencil = 0;
    if (message.depth != 0) {
      depth = message.payload->value<float>(TargetMessage::place_of_value(message.depth, index));
    }
    if (message.stencil != 0) {
      stencil = message.payload->value<uint8_t>(message.place_of_stencil(index));
    }
    late_test(lane, message.depth != 0 ? &depth : nullptr, message.stencil != 0 ? &stencil : nullptr);
  }
  if (counts_blocks_) {
    blocks_.pass(number, lane.coverage);
  }
  if (lane.coverage == 0 || message.null) {
    return 0;
  }
  TargetWriter* const writer = target(message.index, message.blend);
  if (writer == nullptr) {
    end_ = ThreadEnd::fault;
    return 0;
  }
  const PixelPlace place{lane.x, lane.y, primitive_->layer};
  writer->write(place, lane.coverage, colour, second);
  if (writer->stopped()) {
    end_ = ThreadEnd::fault;
  }
  return counts_blocks_ ? writer->changes(place, lane.coverage) : 0;
}

void PixelStage::count_written(uint64_t blocks, const TargetWriter& writer) {
  counts_.blocks.written += blocks;
  counts_.blocks.blended += writer.blends() ? blocks : 0;
}

// Writes the colours of pixels with one sample whose tests are done. False: the message needs the general path.
bool PixelStage::write_group(const TargetMessage& message, unsigned lanes) {
  if (!test_early_ || message.null || message.has_mask || message.second != 0 || state_->raster.samples_log2 != 0 ||
      state_->output.blend.alpha_test || raster_->smooth() || (message.lanes & low_mask(lanes)) == 0) {
    return false;
  }
  TargetWriter* const writer = target(message.index, message.blend);
  if (writer == nullptr || !writer->takes_groups()) {
    return false;
  }
  GroupColours read;
  const GroupColours& colours = message.colours != nullptr ? *message.colours : read;
  for (unsigned c = 0; c < 4 && message.colours == nullptr; ++c) {
    if (message.replicated()) {
      read.component[c].fill(std::bit_cast<float>(message.component(message.colour, c, 0)));
      continue;
    }
    for (unsigned half = 0; half < lanes / 8; ++half) {
      message.payload->copy(message.register_of(message.colour, c, half * 8), &read.component[c][half * 8], 8);
    }
  }
  PixelGroupPlace place{
      .lanes = lanes, .live = message.lanes & static_cast<uint32_t>(low_mask(lanes)), .layer = primitive_->layer};
  for (unsigned i = 0; i < lanes / 4; ++i) {
    const Lane& lane = group_.lanes[(message.first_lane + 4 * i) % kMaxLanes];
    place.squares[i] = {lane.x, lane.y};
  }
  writer->write_group(place, colours);
  if (writer->stopped()) {
    end_ = ThreadEnd::fault;
  }
  if (counts_blocks_) {
    blocks_.send_whole(place.live << message.first_lane);
    count_written(writer->blocks_in(place), *writer);
  }
  return true;
}

eu::SendOutcome PixelStage::send(eu::Thread& /*thread*/, const eu::Message& sent, const eu::MessageControl& control) {
  if (control.function == eu::SharedFunction::pixi) {
    return interpolate(sent, control);
  }
  if (control.type == eu::MessageControl::Type::render_target_read) {
    return read_target(sent, control);
  }
  if (control.type != eu::MessageControl::Type::render_target_write) {
    message::Response(sent.response).clear();
    missing_ = "render cache message other than a read or write of a render target";
    return eu::SendOutcome::done;
  }
  const message::PayloadView payload(sent);  // the message has no response
  return put(read_target_message(*state_, generation_->id(), raster_->smooth(), sent, control, payload));
}

eu::SendOutcome PixelStage::put(TargetMessage message) {
  message.lanes &= group_.live() >> message.first_lane;
  const unsigned lanes = message.width();
  if (!write_group(message, lanes)) {
    if (counts_blocks_) {
      blocks_.send_by_sample(group_);
    }
    std::array<uint32_t, kGroupLanes / 4> written{};  // samples of each block
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (bit(message.lanes, lane)) {
        written[lane / 4] |= write_lane(message, lane);
        const unsigned which = (message.first_lane + lane) % kMaxLanes;
        group_.covered &= group_.lanes[which].coverage != 0 ? ~0u : ~(1u << which);
      }
    }
    if (written != decltype(written){}) {
      count_written(count_of(written[0]) + count_of(written[1]) + count_of(written[2]) + count_of(written[3]),
                    *target(message.index, message.blend));
    }
  }
  if (end_ != ThreadEnd::done || depth_.stopped()) {
    return eu::SendOutcome::fault;
  }
  return eu::SendOutcome::done;
}

}  // namespace halogen::pipe3d
