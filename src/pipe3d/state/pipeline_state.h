// The state of a draw in a form that does not depend on the generation: the state commands of Gen6 and later and the
// unit states of Gen4 are resolved into it (resolve.h). Differences between generations are named forms. It is plain
// data, is rebuilt when state has changed, and is never saved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/stop_flag.h"
#include "gen/compression_rules.h"
#include "gen/pipeline_rules.h"
#include "hw/enums.h"
#include "message/environment.h"
#include "oa/work_counts.h"
#include "surface/block_state.h"

namespace halogen::pipe3d {

inline constexpr size_t kMaxElements = 34;
inline constexpr size_t kMaxBuffers = 64;
inline constexpr size_t kMaxTargets = 8;
inline constexpr size_t kMaxViewports = 16;
inline constexpr size_t kMaxAttributes = 32;
inline constexpr size_t kMaxSamples = 16;
inline constexpr uint32_t kSlot_B = 16;  // of a vertex entry

// Vertices -----------------------------------------------------------------------------------------------------------

struct VertexBuffer {
  bool valid = false;  // a command has set it
  bool null = false;   // reads zero
  uint64_t address = 0;
  uint64_t bytes = 0;  // readable bytes
  uint32_t pitch = 0;
};

// A component of an element that does not come from a buffer.
enum class SystemValue : uint8_t {
  none,
  vertex_id,
  instance_id,
  primitive_id,
  first_vertex,
  first_instance,
  parameter_0,
  parameter_1,
  parameter_2
};

struct VertexElement {
  bool valid = false;
  uint8_t buffer = 0;
  hw::SurfaceFormat format{};
  uint32_t offset = 0;
  uint32_t slot = 0;  // first dword in the entry
  bool instanced = false;
  uint32_t step_rate = 0;  // instances per element of the buffer; 0: always the first
  bool edge_flag = false;
  std::array<hw::VertexComponentControl, 4> control{};
  std::array<SystemValue, 4> system{};  // replace fetched values
  uint8_t kept = 0xf;                   // components that reach the thread (component packing)
};

struct IndexBuffer {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint8_t index_B = 1;
  bool cut_enable = false;
  uint32_t cut_index = 0;
};

struct VertexState {
  std::array<VertexBuffer, kMaxBuffers> buffers{};
  std::vector<VertexElement> elements;
  IndexBuffer indices;
  hw::PrimitiveTopology topology{};
  bool statistics = false;
};

// Threads ------------------------------------------------------------------------------------------------------------

// Constants that are copied to registers, piece after piece.
struct PushPiece {
  uint64_t address = 0;
  uint32_t grfs = 0;
};

struct Shader {
  bool enabled = false;
  uint64_t kernel = 0;         // offset from the instruction base
  uint64_t binding_table = 0;  // address
  uint32_t sampler_table = 0;  // offset from the dynamic base
  uint8_t first_grf = 0;       // first register of constants and data
  uint32_t read_offset = 0;    // in an entry, in units of 32 bytes
  uint32_t read_length = 0;
  uint64_t scratch_base = 0;  // offset from the general base
  uint8_t scratch_code = 0;   // log2 of the scratch space of a thread in KiB
  uint32_t control = 0;       // cr0.0
  bool vector_mask = false;
  bool statistics = false;
  std::array<PushPiece, 4> push{};
  std::vector<std::byte> constants{};  // contents of the pieces at the start of the draw
};

enum class VertexDispatch : uint8_t { pairs, simd8 };  // two interleaved vertices (align16), or one per channel

struct VertexShader {
  Shader shader;
  uint32_t entry_slots = 64;  // size of an output entry
  VertexDispatch dispatch = VertexDispatch::simd8;
};

enum class HullDispatch : uint8_t { single_patch, eight_patch, dual_patch };
enum class TessellationDomain : uint8_t { quad, triangle, line };
enum class TessellationOutput : uint8_t { point, line, clockwise, counter_clockwise };
enum class TessellationPartitioning : uint8_t { integer, odd, even };
// The order of the factors in the first eight dwords of a patch: from the last dword down, or from the first one up.
// The third layout keeps the inner factor of a triangle where a quad has its first one.
enum class PatchLayout : uint8_t { legacy = 0, reversed = 2, reversed_inside_separate = 3 };

struct Tessellation {
  Shader hull;
  HullDispatch hull_dispatch = HullDispatch::single_patch;
  uint32_t hull_instances = 1;
  uint32_t patch_slots = 64;  // size of a patch entry
  bool hull_handles = false;  // input vertex handles in the payload
  bool hull_primitive_id = false;

  bool enabled = false;
  TessellationDomain domain{};
  TessellationOutput output{};
  TessellationPartitioning partitioning{};
  PatchLayout layout{};
  float most_odd = 63.0f;
  float most_even = 64.0f;

  Shader domain_shader;
  bool domain_wide = true;     // eight points per thread
  uint32_t domain_slots = 64;  // size of an output entry
  bool domain_w = false;
  bool domain_primitive_id = true;
};

enum class GeometryDispatch : uint8_t {
  single,         // one object; threads request entries (Gen6)
  dual_instance,  // two at a time, in halves of registers
  dual_object,
  simd8  // one per channel
};

struct Geometry {
  Shader shader;
  GeometryDispatch dispatch = GeometryDispatch::simd8;
  uint32_t entry_slots = 64;  // size of an output entry
  bool whole_quads = false;   // a thread gets a quad as one object, not as two triangles
  bool handles = false;
  bool primitive_id = false;
  uint32_t instances = 1;
  uint32_t header_B = 0;    // header of an entry
  bool stream_ids = false;  // the header holds two bits per vertex, not one
  uint8_t default_stream = 0;
  uint32_t vertex_B = 0;
  uint32_t expected_vertices = 0;
  bool static_count = false;
  uint32_t count = 0;
  hw::PrimitiveTopology topology{};
  bool discard_adjacency = false;
  bool reorder_trailing = false;
  uint32_t invocations_step = 1;

  // Gen6: threads write to streams themselves.
  bool rendering = true;
  bool stream_indices = false;  // indices are in the payload
  bool post_increment = false;
  uint32_t increment = 0;
  std::array<uint32_t, 4> most_index{};
  bool stream_statistics = false;
};

struct StreamOutput {
  struct Buffer {
    bool enabled = false;
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint32_t pitch = 0;
    uint64_t offset_address = 0;  // where the next offset is stored; 0: nowhere
  };
  struct Entry {
    uint8_t buffer = 0;
    bool hole = false;
    uint8_t slot = 0;  // after the read offset
    uint8_t mask = 0;
  };
  bool enabled = false;
  bool rendering = true;
  uint8_t stream = 0;  // the stream that is rendered
  bool statistics = false;
  bool reorder_trailing = false;
  std::array<Buffer, 4> buffers{};
  std::array<std::vector<Entry>, 4> entries;  // by stream
  std::array<uint32_t, 4> read_offset{};      // by stream, in units of 32 bytes
  std::array<uint8_t, 4> used_buffers{};
};

// Clipping and rasterisation -----------------------------------------------------------------------------------------

struct Rectangle {  // inclusive; empty if a maximum is below its minimum
  int32_t x_min = 0;
  int32_t y_min = 0;
  int32_t x_max = -1;
  int32_t y_max = -1;

  bool operator==(const Rectangle&) const = default;
};

struct Viewport {
  std::array<float, 3> scale{1, 1, 1};
  std::array<float, 3> move{};
  float guard_x_min = -1;
  float guard_x_max = 1;
  float guard_y_min = -1;
  float guard_y_max = 1;
  bool has_extent = false;
  Rectangle extent;  // pixels of the viewport
  Rectangle scissor;
  float depth_min = 0;
  float depth_max = 1;
};

struct Clip {
  bool enabled = false;
  bool reject_all = false;
  bool accept_all = false;
  bool xy_test = false;
  bool z_near_test = false;
  bool z_far_test = false;
  bool guard_band = false;
  bool zero_to_one = false;    // z from 0 to w; otherwise from -w to w
  uint8_t clip_distances = 0;  // mask
  uint8_t cull_distances = 0;
  bool divide = true;           // by w
  bool linear_weights = false;  // vertices that clipping creates also have weights on the screen
  bool force_layer_0 = false;
  uint8_t most_viewport = 0;
  float point_width_min = 0.125f;
  float point_width_max = 255.875f;
  bool statistics = false;
};

// Each primitive is clipped and drawn once for every view, with the view's own positions.
struct Replication {
  static constexpr size_t kMaxViews = 16;
  uint8_t count = 1;                                 // positions in an entry
  uint16_t mask = 1;                                 // views that are drawn
  std::array<uint8_t, kMaxViews> viewport_offset{};  // added to the indices in the vertex header
  std::array<uint8_t, kMaxViews> layer_offset{};
};

// Gen4: the unit tests objects. Threads clip those that must be clipped.
struct ClipUnit {
  bool enabled = false;
  hw::ClipMode mode{};
  Shader shader;
  bool xy_test = false;
  bool z_test = false;
  bool guard_band = false;
  bool zero_to_one = false;  // z from 0 to 1; otherwise from -1
  bool negative_w = false;   // a negative w must be clipped
  uint8_t user_flags = 0;    // mask of flags in a vertex's header
  bool user_must_clip = false;
};

// The provoking vertex of each kind of primitive: it provides values that are not interpolated.
struct Provoking {
  uint8_t line = 0;
  uint8_t triangle = 0;
  uint8_t fan = 0;

  bool operator==(const Provoking&) const = default;
};

struct Raster {
  bool viewport_transform = false;
  hw::CullMode cull = hw::CullMode::NONE;
  bool front_counter_clockwise = false;
  hw::FillMode front_fill{};
  hw::FillMode back_fill{};
  bool offset_solid = false;
  bool offset_line = false;
  bool offset_point = false;
  float offset_constant = 0;
  float offset_scale = 0;
  float offset_clamp = 0;
  bool scissor = false;
  bool antialias = false;     // lines fade towards their edges, unless multisampling is enabled
  float antialias_width = 1;  // pixels over which they fade, half of them outside
  float antialias_ends = 1;   // the same for their ends
  bool multisample = false;   // coverage by samples; otherwise by the pixel's centre
  bool conservative = false;  // covers all samples of pixels that a triangle touches
  float line_width = 1;
  bool last_pixel = false;
  float point_width = 1;
  bool point_width_of_vertex = false;
  bool point_rule_right = false;
  uint8_t sub_pixel_bits = 8;
  float origin_bias = 0;  // subtracted from window coordinates (Gen4)
  Provoking provoking;
  uint8_t samples_log2 = 0;
  bool corner_sample = false;                                   // the pixel's own point is its upper left corner
  std::array<std::array<uint8_t, 2>, kMaxSamples> positions{};  // x, y in sixteenths
  uint32_t sample_mask = 0xffff;
  Rectangle drawing;
  std::array<int32_t, 2> origin{};  // added to coordinates
  bool line_stipple = false;
  bool polygon_stipple = false;
  std::array<uint32_t, 32> stipple_pattern{};
  std::array<uint8_t, 2> stipple_offset{};
  uint16_t line_pattern = 0;
  uint32_t line_repeat = 0;
};

// The mapping of vertex slots to attributes of pixels.
struct Attribute {
  uint8_t source = 0;  // slot after the read offset
  hw::AttributeSwizzle swizzle{};
  hw::AttributeConstant constant{};
  uint8_t override_mask = 0;  // components that are replaced by the constant
  bool flat = false;
  bool sprite = false;
};

struct Setup {
  uint32_t read_offset = 0;  // slots
  uint32_t count = 0;
  std::array<Attribute, kMaxAttributes> attributes{};
  bool sprite_lower_left = false;
  uint8_t primitive_id_mask = 0;
  uint8_t primitive_id_attribute = 0;
};

// Pixels -------------------------------------------------------------------------------------------------------------

enum class EarlyDepth : uint8_t { automatic, late, early };

// The effect of a draw's rectangles on render targets: they draw, or change the compression state of blocks.
enum class TargetOperation : uint8_t { draw, clear, partial_resolve, full_resolve, ambiguate };

struct PixelShader {
  Shader shader;  // common to all widths
  struct Kernel {
    bool enabled = false;
    uint64_t start = 0;
    uint8_t first_grf = 0;
  };
  Kernel simd8;
  Kernel simd16;
  Kernel simd32;
  bool dispatch = false;     // threads run
  uint8_t barycentrics = 0;  // mask: perspective pixel, centroid, sample, linear pixel, centroid, sample
  bool source_depth = false;
  bool source_w = false;
  bool position_offsets = false;
  bool offsets_of_samples = false;  // otherwise of the centroid
  bool input_coverage = false;
  bool inner_coverage = false;  // the coverage mask counts samples only if the whole pixel is covered
  bool coefficients = false;    // depth and W planes
  bool per_sample = false;
  bool kills = false;
  bool computes_depth = false;
  bool computes_stencil = false;
  bool sample_mask = false;  // oMask is sent with the colours
  bool dual_source = false;
  bool writes_memory = false;  // writes memory other than targets
  EarlyDepth early = EarlyDepth::automatic;
  bool attributes = false;  // set-up data follows the constants
  TargetOperation operation = TargetOperation::draw;
};

struct BlendTarget {
  bool blend = false;
  hw::BlendFactor source_color{};
  hw::BlendFactor dest_color{};
  hw::BlendFunction color{};
  hw::BlendFactor source_alpha{};
  hw::BlendFactor dest_alpha{};
  hw::BlendFunction alpha{};
  bool logic = false;
  hw::LogicOp logic_op{};
  uint8_t write_mask = 0xf;  // red, green, blue, alpha
  bool clamp_before = false;
  bool clamp_source = false;  // only the source is clamped, before blending
  bool clamp_after = false;
  hw::ColorClampRange range{};
};

struct Blend {
  std::array<BlendTarget, kMaxTargets> targets{};
  bool alpha_to_coverage = false;
  bool dithers_coverage = false;
  bool alpha_to_one = false;
  bool dither = false;
  bool alpha_test = false;
  hw::CompareFunction alpha_function{};
  float alpha_reference = 0;
  std::array<float, 4> constant{};
};

struct StencilSide {
  hw::CompareFunction function{};
  hw::StencilOperation fail{};
  hw::StencilOperation depth_fail{};
  hw::StencilOperation pass{};
  uint8_t test_mask = 0;
  uint8_t write_mask = 0;
  uint8_t reference = 0;
};

struct DepthStencil {
  bool depth_test = false;
  bool depth_write = false;
  hw::CompareFunction depth_function{};
  bool stencil_test = false;
  bool stencil_write = false;
  bool two_sided = false;
  StencilSide front;
  StencilSide back;
  bool bounds_test = false;
  float bounds_min = 0;
  float bounds_max = 1;
};

// A depth or stencil buffer.
struct PlaneBuffer {
  bool present = false;
  uint64_t address = 0;
  uint32_t pitch_B = 0;
  bool tiled = true;
  bool x_tiles = false;            // otherwise Y
  bool stencil_in_w_tiles = true;  // a separate stencil buffer, regardless of the two fields above
  uint32_t width = 0;              // of level 0
  uint32_t height = 0;
  uint32_t depth = 1;  // layers or slices
  bool volume = false;
  uint32_t level = 0;
  uint32_t first_layer = 0;
  uint32_t layers = 1;
  uint32_t layer_rows = 0;  // rows from one layer to the next
  std::array<int32_t, 2> offset{};
  bool write = false;
  uint8_t align_x = 0;  // of levels; 0: 4, and 8 for stencil
  uint8_t align_y = 0;
};

// The compression state of a depth buffer.
struct DepthStates {
  surface::StateForm form = surface::StateForm::none;
  uint64_t address = 0;  // of hierarchical depth, or of the auxiliary table
  uint32_t pitch_B = 0;
  uint32_t layer_rows = 0;  // of elements
  const CompressionRules* rules = nullptr;
  bool compresses = false;
};

struct DepthBuffers {
  PlaneBuffer depth;
  DepthStates states;
  hw::DepthFormat format{};
  bool packed_stencil = false;  // stencil in the upper bits of the depth buffer
  PlaneBuffer stencil;
  float clear_value = 0;
  uint32_t clear_raw = 0;
};

// A clear or resolve: part of a draw on Gen6, a separate operation later.
struct DepthOperation {
  bool clear_depth = false;
  bool clear_stencil = false;
  bool resolve = false;    // clear blocks are filled
  bool ambiguate = false;  // blocks lose their state; elements stay
  bool raw_value = false;  // the depth to clear to is DepthBuffers::clear_raw
  bool on_depth() const { return clear_depth || resolve || ambiguate; }
  uint8_t stencil_value = 0;
  bool scissor = false;
  bool full_surface = false;
  Rectangle rectangle;
};

struct Output {
  Blend blend;
  DepthStencil depth_stencil;
  DepthBuffers buffers;
  DepthOperation operation;
  bool statistics = false;
};

// All of it ----------------------------------------------------------------------------------------------------------

struct PipelineState {
  const StopFlag* stop = nullptr;  // polled by work whose length the guest controls; null: none
  oa::CountsWanted wanted;         // counts that are observed
  message::StateBases bases;
  VertexState vertices;
  VertexShader vertex_shader;
  Tessellation tessellation;
  Geometry geometry;
  StreamOutput stream_output;
  Replication replication;
  Clip clip;
  Raster raster;
  Setup setup;
  std::array<Viewport, kMaxViewports> viewports{};
  PixelShader pixel;
  Output output;

  // Forms of the generation (gen/pipeline_rules.h).
  SetupForm setup_form = SetupForm::fixed_function;
  PayloadForm pixel_payload = PayloadForm::barycentrics;
  TargetMessageForm target_message = TargetMessageForm::component_by_component;
  VertexHeaderForm vertex_header = VertexHeaderForm::without_ndc;
  bool ordered_corners = false;
  // Returns whether a thread sets up each primitive, and pixel shaders read the coefficients that it wrote.
  bool has_setup_thread() const { return setup_form == SetupForm::thread; }

  // PipelineForm::units: kernels that clip and set up.
  ClipUnit clip_unit;
  Shader setup_shader;
  uint32_t setup_entry_slots = 16;
  bool sprites = false;             // the payload of a set-up thread says that points are sprites
  uint32_t depth_coefficients = 0;  // offset in the set-up entry, in units of 32 bytes
};

}  // namespace halogen::pipe3d
