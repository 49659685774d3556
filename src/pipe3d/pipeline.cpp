#include "pipe3d/pipeline.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "hw/surface.h"
#include "message/surface_table.h"
#include "pipe3d/geometry/clip_vertex.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint32_t kChunk = 256;      // vertices that are shaded together
constexpr uint32_t kPatchChunk = 32;  // patches per chunk, because each may become thousands of vertices
constexpr uint64_t kPart = 1 << 18;   // approximate instructions of a part
constexpr uint32_t kMaxConstantGrfs = 127;

bool read_constants(Shader& shader, memory::AddressSpace& space) {
  shader.constants.clear();
  bool done = true;
  for (const PushPiece& piece : shader.push) {
    const size_t before = shader.constants.size();
    const uint32_t grfs =
        std::min<uint32_t>(piece.grfs, kMaxConstantGrfs - static_cast<uint32_t>(before / eu::kGrfBytes));
    if (grfs == 0) {
      continue;
    }
    shader.constants.resize(before + grfs * eu::kGrfBytes);
    done = ok(space.read(wrapped_address(piece.address), std::span(shader.constants).subspan(before))) && done;
  }
  return done;
}

Shape shape_of(Topology topology) {
  switch (topology) {
    case Topology::POINTLIST:
    case Topology::POINTLIST_BF:
      return Shape::point;
    case Topology::LINELIST:
    case Topology::LINESTRIP:
    case Topology::LINELOOP:
    case Topology::LINESTRIP_CONT:
    case Topology::LINESTRIP_BF:
    case Topology::LINESTRIP_CONT_BF:
    case Topology::LINELIST_ADJ:
    case Topology::LINESTRIP_ADJ:
      return Shape::line;
    case Topology::RECTLIST:
      return Shape::rectangle;
    default:
      return Shape::triangle;
  }
}

Stop stop_of(ThreadEnd end) {
  switch (end) {
    case ThreadEnd::done:
      return Stop::finished;
    case ThreadEnd::fault:
      return Stop::fault;
    case ThreadEnd::illegal:
      return Stop::illegal;
    case ThreadEnd::stopped:
      return Stop::stopped;
    case ThreadEnd::endless:
    case ThreadEnd::waiting:
      break;
  }
  return Stop::endless;
}

}  // namespace

void Pipeline::set_events(EventSink* events, const std::string& path) {
  vertices_.unit().set_events(events, path);
  hull_.unit().set_events(events, path);
  domain_.unit().set_events(events, path);
  geometry_.unit().set_events(events, path);
  clip_threads_.unit().set_events(events, path);
  pixels_.set_events(events, path);
}

void Pipeline::report(FidelityReport& report) const {
  vertices_.unit().report(report);
  hull_.unit().report(report);
  domain_.unit().report(report);
  geometry_.unit().report(report);
  clip_threads_.unit().report(report);
  pixels_.report(report);
}

message::SurfaceUses Pipeline::take_surface_uses() {
  message::SurfaceUses uses;
  for (ShaderUnit* const unit :
       {&vertices_.unit(), &hull_.unit(), &domain_.unit(), &geometry_.unit(), &clip_threads_.unit()}) {
    uses.merge(unit->surface_uses());
  }
  pixels_.take_surface_uses(uses);
  const DepthBuffers& buffers = state_.output.buffers;
  const DepthStencil& tests = state_.output.depth_stencil;
  if (buffers.depth.present && (tests.depth_test || tests.depth_write)) {
    const PlaneBuffer& depth = buffers.depth;
    const uint32_t pixel_B = buffers.format == hw::DepthFormat::D16_UNORM ? 2 : 4;
    uses.note(generation_->id(), {.client = MemoryClient::depth,
                                  .tiling = !depth.tiled    ? Tiling::linear
                                            : depth.x_tiles ? Tiling::x
                                                            : Tiling::y,
                                  .element_bits = pixel_B * 8,
                                  .base = GpuVa(depth.address),
                                  .pitch_B = depth.pitch_B,
                                  .width_B = uint64_t{depth.width} * pixel_B,
                                  .bytes = uint64_t{depth.pitch_B} * depth.height});
  }
  return uses;
}

// Starts a part of a draw. `first`: a list that is drawn first. Its entries have the size that the state required when
// it was filled.
bool Pipeline::begin(const ResolveInput& input, const PrimitiveList* first) {
  generation_ = input.generation;
  space_ = input.space;
  if (!resolve(input, state_)) {
    return false;
  }
  state_.stop = stop_;
  state_.wanted = wanted_;
  bool ok = true;
  for (Shader* shader :
       {&state_.vertex_shader.shader, &state_.tessellation.hull, &state_.tessellation.domain_shader,
        &state_.geometry.shader, &state_.clip_unit.shader, &state_.setup_shader, &state_.pixel.shader}) {
    if (shader->enabled) {
      ok = read_constants(*shader, *space_) && ok;
    }
  }
  vertices_.begin(*generation_, state_, *space_);
  if (tessellates() && left_out().empty()) {
    hull_.begin(*generation_, state_, *space_);
    domain_.begin(*generation_, state_, *space_);
  }
  geometry_.begin(*generation_, state_, *space_, input.stream_offsets);
  streams_.begin(state_.stream_output, *space_, input.stream_offsets);
  clip_threads_.begin(*generation_, state_, last_slots(), *space_);
  pixels_.begin(*generation_, state_, first != nullptr ? first->slots() : last_slots(), *space_);
  list_.begin(last_slots());
  before_ = instructions();
  threads_before_ = threads();
  clipper_.emplace(state_, last_slots());
  return ok;
}

// Returns the size of entries before clipping, in slots.
uint32_t Pipeline::last_slots() const {
  return geometry_.runs() ? GeometryStage::vertex_slots(state_.geometry)
         : tessellates()  ? DomainStage::vertex_slots(state_.tessellation)
                          : vertices_.slots();
}

// Returns the amount of work in this part of the draw.
uint64_t Pipeline::used(const Outcome& outcome) const {
  return instructions().sum() - before_.sum() + outcome.counts.vertices * 16;
}

StageAmounts Pipeline::instructions() const {
  return {.vertex = vertices_.instructions(),
          .hull = hull_.instructions(),
          .domain = domain_.instructions(),
          .geometry = geometry_.instructions(),
          .clip = clip_threads_.instructions(),
          .setup = pixels_.setup_instructions(),
          .pixel = pixels_.shader_instructions()};
}

// Returns the threads of each stage. For pixels, only those of this part.
StageAmounts Pipeline::threads() const {
  return {.vertex = vertices_.unit().threads(),
          .hull = hull_.unit().threads(),
          .domain = domain_.unit().threads(),
          .geometry = geometry_.unit().threads(),
          .clip = clip_threads_.unit().threads(),
          .setup = pixels_.setup_threads(),
          .pixel = pixels_.counts().threads};
}

ThreadEnd Pipeline::shade_objects(std::span<const Object> objects, EntryStore& entries, Outcome& outcome) {
  return geometry_.run(objects, entries,
                       [&](const Assembled& made, const EntryStore& from, uint32_t id, uint8_t stream) {
                         forward(made, from, id, stream, outcome);
                       });
}

// Returns whether the part should end, or the list should be drawn, before another object.
bool Pipeline::pauses(const Outcome& outcome) const {
  return list_.full() || used(outcome) >= kPart || stopping();
}

// Passes the objects of a chunk through the stages between vertices and clipping, until all are done or pauses().
void Pipeline::process(OpenObjects& open, Outcome& outcome) {
  while (!open.done() && outcome.stop == Stop::finished && !pauses(outcome)) {
    if (tessellates()) {
      process_patches(open, outcome);
    } else {
      process_objects(open, outcome);
    }
  }
}

void Pipeline::process_objects(OpenObjects& open, Outcome& outcome) {
  const auto rest = std::span<const Object>(open.list).subspan(open.next);
  if (!geometry_.runs()) {  // the guest has disabled the stage meanwhile
    forward(rest.front().made, std::as_const(vertices_).output(), rest.front().id, 0, outcome);
    ++open.next;
    return;
  }
  const auto some = rest.first(geometry_.together(rest));
  const ThreadEnd end = shade_objects(some, vertices_.output(), outcome);
  if (outcome.stop == Stop::finished) {
    outcome.stop = stop_of(end);
  }
  open.next += static_cast<uint32_t>(some.size());
}

// Processes patches of the group that starts at open.next.
void Pipeline::process_patches(OpenObjects& open, Outcome& outcome) {
  const auto rest = std::span<const Object>(open.list).subspan(open.next);
  const auto group = rest.first(std::min(HullStage::kMaxPatches, rest.size()));
  if (!open.hull_done) {
    outcome.counts.hull_patches += group.size();
    outcome.stop = stop_of(hull_.run(group, vertices_.output()));
    open.hull_done = true;
  }
  while (open.patch < group.size() && outcome.stop == Stop::finished && !pauses(outcome)) {
    process_patch(open, group[open.patch].id, outcome);
  }
  if (open.patch >= group.size()) {
    open.next += static_cast<uint32_t>(group.size());
    open.patch = 0;
    open.hull_done = false;
  }
}

// Shades the points of a patch after its hull shader, and assembles their primitives.
void Pipeline::process_patch(OpenObjects& open, uint32_t id, Outcome& outcome) {
  tessellator_.run(state_.tessellation, hull_.factors(open.patch));
  if (!open.points_done) {
    outcome.stop = stop_of(domain_.run(hull_.patches(), open.patch, id, tessellator_.points()));
    outcome.counts.domain_points += tessellator_.points().size();
    open.points_done = true;
  }
  const uint32_t count = tessellator_.vertices();
  const std::span<const uint16_t> indices = tessellator_.indices();
  const size_t primitives = indices.size() / count;
  Assembled made;
  made.count = static_cast<uint8_t>(count);
  made.topology = count == 1 ? Topology::POINTLIST : count == 2 ? Topology::LINELIST : Topology::TRILIST;
  const Provoking& provoking = state_.raster.provoking;
  made.provoking = count == 1 ? uint8_t{0} : std::min(count == 2 ? provoking.line : provoking.triangle, made.count);
  parts_.clear();
  for (size_t i = geometry_.runs() ? open.primitive : primitives; i < primitives; ++i) {
    std::ranges::copy(indices.subspan(i * count, count), made.vertex.begin());
    parts_.push_back({made, id});
  }
  constexpr uint32_t kUnasked = 64;  // primitives without a thread between two calls of pauses()
  size_t shaded = 0;                 // of parts_
  while (open.primitive < primitives && outcome.stop == Stop::finished) {
    if ((geometry_.runs() || open.primitive % kUnasked == 0) && pauses(outcome)) {
      break;
    }
    if (geometry_.runs()) {
      const auto rest = std::span<const Object>(parts_).subspan(shaded);
      const auto some = rest.first(geometry_.together(rest));
      const ThreadEnd end = shade_objects(some, domain_.vertices(), outcome);
      if (outcome.stop == Stop::finished) {
        outcome.stop = stop_of(end);
      }
      shaded += some.size();
      open.primitive += static_cast<uint32_t>(some.size());
    } else {
      std::ranges::copy(indices.subspan(size_t{open.primitive} * count, count), made.vertex.begin());
      forward(made, domain_.vertices(), id, 0, outcome);
      ++open.primitive;
    }
  }
  if (open.primitive >= primitives) {
    ++open.patch;
    open.points_done = false;
    open.primitive = 0;
  }
}

// Copies the entries that the rest of the chunk needs. Drops everything if there is no rest.
void Pipeline::save(OpenObjects& open) {
  if (open.done()) {
    open = {};
    return;
  }
  open.vertices = std::as_const(vertices_).output().save();
  open.patches = open.hull_done ? hull_.patches().save() : SavedEntries{};
  open.points = open.points_done ? domain_.vertices().save() : SavedEntries{};
}

void Pipeline::load(const OpenObjects& open) {
  vertices_.output().load(open.vertices, vertices_.slots());
  if (tessellates() && open.hull_done) {
    hull_.load(open.patches);
  }
  if (tessellates() && open.points_done) {
    domain_.vertices().load(open.points, DomainStage::vertex_slots(state_.tessellation));
  }
}

// Returns what the model does not support in the stages between vertices and clipping. Empty: it supports all.
std::string_view Pipeline::left_out() const {
  const Tessellation& tessellation = state_.tessellation;
  if (tessellates() && (!tessellation.hull.enabled || !tessellation.domain_shader.enabled)) {
    return "tessellation without shaders";
  }
  if (tessellates() && (tessellation.hull_dispatch == HullDispatch::dual_patch || !tessellation.domain_wide)) {
    return "hull shader with two patches per thread, or domain shader with two points per register";
  }
  const GeometryDispatch dispatch = state_.geometry.dispatch;
  if (state_.geometry.shader.enabled && dispatch != GeometryDispatch::simd8 && dispatch != GeometryDispatch::single) {
    return "geometry shader with two objects per thread";
  }
  return {};
}

// Handles a primitive of the last shader before clipping.
void Pipeline::forward(const Assembled& assembled, const EntryStore& entries, uint32_t id, uint8_t stream,
                       Outcome& outcome) {
  if (outcome.stop != Stop::finished) {
    return;
  }
  if (state_.stream_output.enabled) {
    Assembled made = assembled;
    discard_adjacency(made);
    put_in_order(made, state_.stream_output.reorder_trailing ? StripOrder::trailing : StripOrder::leading);
    std::array<std::span<const Slot>, 3> vertices;
    const size_t count = std::min<size_t>(made.count, vertices.size());
    for (size_t i = 0; i < count; ++i) {
      vertices[i] = entries.entry(made.vertex[i]);
    }
    if (!streams_.write(stream, std::span(vertices).first(count))) {
      outcome.stop = Stop::fault;
      return;
    }
    if (!state_.stream_output.rendering) {
      return;
    }
  }
  if (stream != (state_.stream_output.enabled ? state_.stream_output.stream : 0)) {
    return;
  }
  primitive(assembled, entries, id, outcome);
  if (list_.overfull()) {
    draw_list(outcome);
  }
}

void Pipeline::primitive(const Assembled& assembled, const EntryStore& entries, uint32_t id, Outcome& outcome) {
  ++outcome.counts.clip_in;
  if (!clip_threads_.runs()) {
    return place(assembled, entries, id, outcome);
  }
  const ClipStage::Judgement judgement = ClipStage::judge(state_, assembled, entries);
  switch (judgement.verdict) {
    case ClipStage::Verdict::drop:
      return;
    case ClipStage::Verdict::pass:
      return place(assembled, entries, id, outcome);
    case ClipStage::Verdict::thread:
      break;
  }
  const ThreadEnd end =
      clip_threads_.run(assembled, judgement.outside, entries,
                        [&](const Assembled& made, const EntryStore& from) { place(made, from, id, outcome); });
  if (end != ThreadEnd::done) {
    outcome.stop = stop_of(end);
  }
}

// Clips a primitive and places it on the screen, once for each view.
void Pipeline::place(const Assembled& assembled, const EntryStore& entries, uint32_t id, Outcome& outcome) {
  Primitive primitive;
  primitive.shape = shape_of(assembled.topology);
  primitive.provoking = assembled.provoking;
  primitive.id = id;
  primitive.topology = assembled.topology;
  primitive.edge = assembled.edge;
  primitive.first = assembled.first;
  if (state_.clip.enabled && state_.clip.reject_all) {
    return;
  }
  // Without a geometry shader adjacent vertices are ignored.
  const bool lines = assembled.count == 4;
  const bool triangles = assembled.count == 6;
  const unsigned count = vertices_of(primitive.shape);
  std::array<std::span<const Slot>, 3> vertices;
  for (unsigned i = 0; i < count; ++i) {
    const std::span<const Slot> entry = entries.entry(assembled.vertex[lines ? i + 1 : triangles ? i * 2 : i]);
    const bool is_reused = &entries != &vertices_.output();  // by other stages, within a chunk
    vertices[i] = is_reused && !entry.empty() ? std::span(list_.keep(entry), entry.size()) : entry;
  }
  clipped_.clear();
  for (unsigned view = 0; view < state_.replication.count; ++view) {
    const auto is_whole = [&](std::span<const Slot> vertex) { return has_position(vertex, view); };
    if ((state_.replication.mask >> view & 1) == 0 ||
        !std::ranges::all_of(std::span(vertices).first(count), is_whole)) {
      continue;
    }
    for (unsigned i = 0; i < count; ++i) {
      primitive.vertex[i] = clip_vertex(state_, vertices[i], view);
    }
    clipper_->clip(primitive, clipped_);
  }
  for (const ClippedPart& part : clipped_) {
    ++outcome.counts.clip_out;
    set_up(state_, part, list_.target(), line_steps_);
  }
}

// Draws everything in the list, because the part cannot end here.
void Pipeline::draw_list(Outcome& outcome) {
  uint64_t pieces = 0;
  bool drawn = false;
  while (!drawn && outcome.stop != Stop::stopped) {  // a clear returns after each band
    drawn = pixels_.draw(list_, pieces, ~uint64_t{0});
    if (pixels_.end() != ThreadEnd::done) {
      outcome.stop = stop_of(pixels_.end());
      break;
    }
    outcome.stop = !drawn && stopping() ? Stop::stopped : outcome.stop;
  }
  list_.begin(last_slots());
  clipper_->forget();
}

// Draws the list of a chunk, or as much as fits into the part. If all is drawn, sets `progress` to `after`.
void Pipeline::draw_list(Progress& progress, Progress& after, Outcome& outcome) {
  if (outcome.stop == Stop::stopped) {
    list_.begin(last_slots());
    clipper_->forget();
    return;
  }
  if (outcome.stop != Stop::finished) {  // a later primitive stopped the draw
    draw_list(outcome);
    progress = std::move(after);
    progress.open = {};
    return;
  }
  uint64_t pieces = 0;
  const uint64_t done = used(outcome);
  if (pixels_.draw(list_, pieces, done < kPart ? kPart - done : 1)) {
    progress = std::move(after);
  } else {
    outcome.stop = pixels_.end() == ThreadEnd::done ? Stop::unfinished : stop_of(pixels_.end());
    waiting_ = Waiting{progress, std::move(after), list_.settled(), pieces};
  }
  list_.begin(last_slots());
  clipper_->forget();
}

// Drops the list of the previous part if `progress` does not continue it.
void Pipeline::drop_stale_list(const Progress& progress) {
  if (waiting_ && waiting_->before != progress) {
    waiting_.reset();
  }
}

// Draws the rest of the list of the previous part.
void Pipeline::draw_waiting_list(Progress& progress, Outcome& outcome) {
  if (!pixels_.draw(waiting_->list, waiting_->pieces, kPart)) {
    outcome.stop = pixels_.end() == ThreadEnd::done ? Stop::unfinished : stop_of(pixels_.end());
    return;
  }
  progress = std::move(waiting_->after);
  waiting_.reset();
  // The guest may have changed the size of entries meanwhile.
  outcome.stop = pixels_.entry_slots() == last_slots() ? Stop::finished : Stop::unfinished;
}

// Returns whether something of the draw is left.
bool Pipeline::more(const Progress& progress) const {
  return !progress.open.done() || (progress.instance < progress.call.instances && progress.call.vertices != 0);
}

// Vertices of a chunk, in the order of the draw.
struct Pipeline::Chunk {
  static constexpr uint32_t kCut = ~0u;  // in `order`: a primitive is cut
  uint32_t kept = 0;                     // entries of the previous chunk, which come first and are shaded
  std::vector<uint32_t> order;           // handles
  std::vector<bool> edges;               // edge flags by handle
};

// Fetches, shades and assembles some vertices of an instance, or continues with the objects of the last ones.
void Pipeline::chunk(Progress& progress, Outcome& outcome) {
  if (!progress.open.done()) {
    vertices_.begin(*generation_, state_, *space_);
    load(progress.open);
    process(progress.open, outcome);
    save(progress.open);
    return;
  }
  Chunk vertices;
  if (!fetch_vertices(progress, outcome, vertices)) {
    return;
  }
  outcome.stop = stop_of(vertices_.shade(vertices.kept));
  if (outcome.stop != Stop::finished) {
    return;
  }
  assemble(vertices, progress, outcome);
  process(progress.open, outcome);
  save(progress.open);
  keep_vertices(progress);
}

// False: an access stopped.
bool Pipeline::fetch_vertices(Progress& progress, Outcome& outcome, Chunk& chunk) {
  const DrawCall& call = progress.call;
  VertexFetch fetch(state_.vertices, call, *space_);
  vertices_.begin(*generation_, state_, *space_);
  restore_vertices(progress, chunk);
  std::unordered_map<uint32_t, uint32_t> known;  // handles by index
  const uint32_t most = tessellates() ? kPatchChunk : kChunk;
  while (chunk.order.size() < most && progress.vertex < call.vertices) {
    const VertexFetch::Index index = fetch.index(progress.vertex++);
    if (index.cut) {
      chunk.order.push_back(Chunk::kCut);
      continue;
    }
    const auto found = call.indexed ? known.find(index.vertex) : known.end();
    if (found != known.end()) {
      chunk.order.push_back(found->second);
      continue;
    }
    const uint32_t handle = vertices_.add();
    const std::span<Slot> entry = vertices_.input().entry(handle);
    fetch.fetch(index.vertex, progress.instance, progress.primitive, std::span(entry.front().data(), entry.size() * 4));
    chunk.edges.push_back(fetch.edge());
    known.emplace(index.vertex, handle);
    chunk.order.push_back(handle);
    ++outcome.counts.vertex_threads;
  }
  outcome.counts.vertices += chunk.order.size();
  if (fetch.stopped()) {
    outcome.stop = Stop::fault;
    return false;
  }
  if (fetch.unknown_formats() != 0) {
    outcome.missing = "vertex format";
  }
  return true;
}

// Adds the entries that the assembler of the previous chunk still needs.
void Pipeline::restore_vertices(const Progress& progress, Chunk& chunk) {
  const uint32_t slots = vertices_.slots();
  chunk.kept = static_cast<uint32_t>(slots == 0 ? 0 : progress.kept.size() / slots);
  for (uint32_t i = 0; i < chunk.kept; ++i) {
    const uint32_t handle = vertices_.add();
    std::ranges::copy(std::span(progress.kept).subspan(size_t{i} * slots, slots),
                      vertices_.output().entry(handle).begin());
  }
  chunk.edges.assign(chunk.kept, true);
}

// Keeps the entries that the assembler needs for the next chunk.
void Pipeline::keep_vertices(Progress& progress) {
  progress.kept.clear();
  uint32_t names = 0;
  progress.assembler.rename([&](uint32_t handle) {
    const std::span<const Slot> entry = std::as_const(vertices_).output().entry(handle);
    progress.kept.insert(progress.kept.end(), entry.begin(), entry.end());
    return names++;
  });
}

// Makes primitives of the vertices. If a stage takes whole objects, they are added to the open ones.
void Pipeline::assemble(const Chunk& chunk, Progress& progress, Outcome& outcome) {
  const bool between = geometry_.runs() || tessellates();
  progress.open = {};
  const auto emit = [&](const Assembled& assembled) {
    if (assembled.begins) {
      ++outcome.counts.primitives;
      ++progress.primitive;
    }
    const uint32_t id = progress.primitive - 1;
    if (between) {
      progress.open.list.push_back({assembled, id});
    } else {
      forward(assembled, std::as_const(vertices_).output(), id, 0, outcome);
    }
  };
  for (const uint32_t handle : chunk.order) {
    if (handle == Chunk::kCut) {
      progress.assembler.cut(emit);
    } else {
      progress.assembler.add(handle, chunk.edges[handle], emit);
    }
  }
  if (progress.vertex >= progress.call.vertices) {
    progress.assembler.cut(emit);
    progress.vertex = 0;
    progress.primitive = 0;
    ++progress.instance;
  }
}

Outcome Pipeline::draw(const ResolveInput& input, Progress& progress) {
  Outcome outcome;
  drop_stale_list(progress);
  const bool waiting = waiting_.has_value();
  if (!begin(input, waiting ? &waiting_->list : nullptr)) {
    outcome.stop = Stop::fault;
    return outcome;
  }
  outcome.missing = left_out();
  if (!outcome.missing.empty()) {
    return outcome;
  }
  if (waiting) {
    draw_waiting_list(progress, outcome);
  }
  draw_chunks(progress, outcome);
  if (outcome.stop == Stop::stopped) {
    waiting_.reset();
  }
  outcome.instructions_of = instructions().since(before_);
  outcome.instructions = outcome.instructions_of.sum();
  outcome.threads = threads().since(threads_before_);
  if (work_ != nullptr) {
    add_work();
  }
  if (outcome.stop == Stop::unfinished && !more(progress) && !waiting_) {
    outcome.stop = Stop::finished;
  }
  if (outcome.missing.empty()) {
    outcome.missing = pixels_.missing();
  }
  outcome.inexact = pixels_.inexact();
  outcome.counts.pixels = pixels_.counts();
  outcome.counts.geometry = geometry_.counts();
  note_streams(outcome);
  note_statistics(outcome);
  return outcome;
}

// Draws chunk by chunk until the draw or the part ends.
void Pipeline::draw_chunks(Progress& progress, Outcome& outcome) {
  while (outcome.stop == Stop::finished && more(progress)) {
    if (stopping()) {
      outcome.stop = Stop::unfinished;
      break;
    }
    Progress after = progress;
    if (after.open.done() && after.vertex == 0 && after.kept.empty()) {
      after.assembler = Assembler(after.call.topology, state_.raster.provoking);
    }
    line_steps_ = after.line_steps;
    chunk(after, outcome);
    after.line_steps = line_steps_;
    draw_list(progress, after, outcome);
    if (outcome.stop == Stop::finished && used(outcome) >= kPart) {
      outcome.stop = Stop::unfinished;
    }
  }
}

// Sets the offsets and counts of stream output: those of its unit, or those of geometry threads that stream on Gen6.
void Pipeline::note_streams(Outcome& outcome) {
  if (state_.stream_output.enabled) {
    if (!streams_.note_offsets() && outcome.stop == Stop::finished) {
      outcome.stop = Stop::fault;
    }
    outcome.stream_offsets = streams_.offsets();
    outcome.counts.streams = streams_.counts();
  } else if (geometry_.runs() && state_.geometry.stream_indices) {
    outcome.stream_offsets = geometry_.indices();
    outcome.counts.streams.written[0] = geometry_.counts().streamed;
    outcome.counts.streams.needed[0] = geometry_.counts().streamed_needed;
  }
}

// Sets which stages count for the statistics registers.
void Pipeline::note_statistics(Outcome& outcome) const {
  outcome.statistics = {
      .vertices = state_.vertices.statistics,
      .vertex_shader = state_.vertex_shader.shader.statistics,
      .hull = state_.tessellation.hull.statistics,
      .domain = state_.tessellation.domain_shader.statistics,
      .geometry = state_.geometry.shader.statistics,
      .streams = state_.stream_output.enabled ? state_.stream_output.statistics : state_.geometry.stream_statistics,
      .clip = state_.clip.statistics,
      .pixels = state_.pixel.shader.statistics};
}

// Adds what the part did to the counts. On the first chips, threads that clip count for the geometry stage, and threads
// that set up primitives count for the pixel stage.
void Pipeline::add_work() {
  vertices_.unit().take_work(oa::Stage::vertex, *work_);
  hull_.unit().take_work(oa::Stage::hull, *work_);
  domain_.unit().take_work(oa::Stage::domain, *work_);
  geometry_.unit().take_work(oa::Stage::geometry, *work_);
  clip_threads_.unit().take_work(oa::Stage::geometry, *work_);
  pixels_.take_work(*work_);
  pixels_.counts().blocks.add_to(*work_);
}

Outcome Pipeline::depth_operation(const ResolveInput& input, Progress& progress) {
  Outcome outcome;
  if (!begin(input)) {
    outcome.stop = Stop::fault;
    return outcome;
  }
  const DepthOperation& operation = state_.output.operation;
  if (operation.clear_depth || operation.clear_stencil || operation.resolve || operation.ambiguate) {
    DepthStencilUnit unit;
    unit.begin(state_.output, *space_, state_.raster.samples_log2);
    const Rectangle& limit = operation.scissor ? draw_bounds(state_, 0) : operation.rectangle;
    const bool clears = operation.clear_depth || operation.clear_stencil;
    const bool last = clears ? unit.clear(operation, limit, 0, progress.band)
                             : unit.change_states(operation, limit, 0, progress.band);
    progress.band += last ? 0 : 1;
    outcome.stop = unit.stopped() ? Stop::fault : last ? Stop::finished : Stop::unfinished;
  }
  return outcome;
}

}  // namespace halogen::pipe3d
