// A fast clear or a depth clear, then a client that does not look at states: the bytes of memory show, and an Event
// names the missing operation. The same with a resolve: the colour shows, and nothing is reported. The commands are
// those of the scene of fuzz/draw_scene.h with other states.
#include <algorithm>

#include "covers.h"
#include "device/state_picture.h"
#include "door.h"
#include "engine/backend/render_state.h"
#include "fuzz/draw_scene.h"
#include "hw/3d_depth.h"
#include "hw/3d_pixel.h"
#include "hw/3d_vertex.h"
#include "hw/blt_gen9.h"
#include "hw/blt_source.h"
#include "hw/surface.h"

namespace halogen::driver {
namespace {

namespace scene = fuzz::scene;
using Values = std::vector<fuzz::FieldValue>;
using Surface = hw::RENDER_SURFACE_STATE;

constexpr uint32_t kBatchPlace = 0x100'0000, kBatchBytes = 0x1'0000;
constexpr uint32_t kSide = 64, kPitch = 512, kFlat_B = 256;
constexpr uint32_t kShown = 0x1'0000;   // what the sampler saw, in rows of 64 pixels
constexpr uint32_t kCopied = 0x4'0000;  // what a BLT copied
constexpr uint32_t kLevel3 = 0x6'0000, kLevel2 = 0x6'8000, kLevel1 = 0x7'0000;
constexpr uint32_t kStates = 0x7'2000, kColour = 0x7'3000, kDepthStates = 0x7'4000;
constexpr uint32_t kReader = 0x4800;  // a kernel that writes element (0, 0) of surface 1 to every pixel
constexpr uint32_t kReadTable = scene::kTable + 0x40;
constexpr uint32_t kClearRectangle = 0, kWholeRectangle = 3;  // first vertices

class ForgottenResolve : public Door {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.hang_after = std::chrono::seconds(60);
    options.hardware.events = &log_;
    options.hardware.device.check_rules = true;
    boot(options);
    scene_ = std::make_unique<scene::Scene>(Generation(model()));
    object_ = create(scene::kBytes);
    std::memcpy(content(object_).data(), scene_->memory().data(), scene::kBytes);
    if (mapped()) {
      word(kLevel3) = kLevel2 | 1;
      word(kLevel2) = kLevel1 | 1;
      word(kLevel1 + (scene::kTarget >> 16) * 8) = kStates | 1;
    }
    for (uint32_t i = 0; i < 4; ++i) real(kColour + i * 4) = 0.25f * static_cast<float>(i + 1);
    place_vertices();
    place_reader();
    start();
  }
  void TearDown() override {
    Door::TearDown();
    file.reset();
    driver.reset();  // before the log
  }

  spec::GenId gen() const { return model().gen; }
  bool one_bit() const { return is("bdw") || is("chv"); }
  bool mapped() const { return is("tgl") || is("dg1"); }
  bool x_tiles() const { return one_bit(); }  // the BLT engine has no Y tiles in commands of Gen8
  uint32_t& word(uint64_t at) { return *reinterpret_cast<uint32_t*>(content(object_).data() + at); }
  float& real(uint64_t at) { return *reinterpret_cast<float*>(content(object_).data() + at); }
  static uint32_t offset_of(uint32_t x, uint32_t y, bool x_tiled) {
    return x_tiled ? y / 8 * 8 * kPitch + x * 4 / 512 * 4096 + y % 8 * 512 + x * 4 % 512
                   : y / 32 * 32 * kPitch + x * 4 / 128 * 4096 + x * 4 % 128 / 16 * 512 + y % 32 * 16 + x * 4 % 16;
  }
  // 0.25, 0.5, 0.75, 1 in eight bits; Gen8 has zeros and ones only.
  uint32_t colour() const { return one_bit() ? 0xff00'00ff : 0xffbf'8040; }

  void place_vertices() {
    // 8 blocks by 16 rows of blocks divided by the bits of a state: 64x32 pixels of 32 bits for two bits in Y tiles,
    // 64x16 for four bits, 128x32 for one bit in X tiles.
    const float down = mapped() ? 4 : 2;
    const auto rectangle = [&](uint32_t first, float width, float height) {
      const float corners[3][2] = {{width, height}, {0, height}, {0, 0}};
      for (uint32_t i = 0; i < 3; ++i) {
        const std::array<float, 8> vertex{corners[i][0], corners[i][1], 0.5f, 1, 1, 1, 1, 1};
        for (uint32_t c = 0; c < 8; ++c) real(scene::kVertices + (first + i) * scene::kVertex_B + c * 4) = vertex[c];
      }
    };
    rectangle(kClearRectangle, 1, down);
    rectangle(kWholeRectangle, kSide, kSide);
  }
  void place_reader() {
    fuzz::KernelMaker kernels(gen());
    std::vector<std::byte> code;
    for (const char* const reg : {"r10", "r11", "r12"}) {
      const auto zero = eu::assemble(gen(), std::string("mov (8|M0) ") + reg + ".0<1>:ud 0x0:ud");
      ASSERT_TRUE(zero.ok()) << zero.message();
      code.insert(code.end(), zero->begin(), zero->end());
    }
    // Three registers of parameters, four of the response, SIMD8, ld, surface 1.
    for (const std::vector<std::byte>& part :
         {kernels.message("smpl", 8, 120, 10, 0x0642'7001), scene_->write_target()}) {
      ASSERT_FALSE(part.empty());
      code.insert(code.end(), part.begin(), part.end());
    }
    std::memcpy(content(object_).data() + kReader, code.data(), code.size());
  }

  // The surface that is cleared.
  Surface target(bool with_states) {
    Surface state = plain(scene::kTarget, kPitch);
    state.tile_mode = x_tiles() ? hw::TileMode::XMAJOR : hw::TileMode::YMAJOR;
    if (!with_states) return state;
    state.auxiliary_surface_mode = one_bit()  ? hw::AuxiliarySurfaceMode::AUX_MCS
                                   : mapped() ? hw::AuxiliarySurfaceMode::AUX_CCS_E
                                              : hw::AuxiliarySurfaceMode::AUX_CCS_D;
    state.auxiliary_surface_base_address = GpuVa{kStates};
    if (one_bit()) {
      state.red_clear_color_one = state.alpha_clear_color_one = true;
    } else if (is("skl")) {
      state.red_clear_color = 0x3e80'0000;
      state.green_clear_color = 0x3f00'0000;
      state.blue_clear_color = 0x3f40'0000;
      state.alpha_clear_color = 0x3f80'0000;
    } else {
      state.clear_value_address_enable = true;
      state.clear_color_conversion_enable = is("icl");
      state.clear_value_address = GpuVa{kColour};
    }
    return state;
  }
  Surface plain(uint64_t base, uint32_t pitch_B, hw::SurfaceFormat format = hw::SurfaceFormat::R8G8B8A8_UNORM) {
    std::array<uint32_t, 16> words{};
    std::memcpy(words.data(), scene_->memory().data() + scene::kSurfaces, sizeof words);
    Surface state = Surface::unpack(gen(), words);
    state.surface_base_address = GpuVa{base};
    state.surface_pitch = pitch_B - 1;
    state.surface_format = format;
    state.tile_mode = hw::TileMode::LINEAR;
    return state;
  }
  void place(unsigned index, const Surface& state) {
    std::array<uint32_t, 16> words{};
    ASSERT_TRUE(state.pack(gen(), words));
    std::memcpy(content(object_).data() + scene::kSurfaces + uint64_t{index} * 64, words.data(), sizeof words);
  }

  // Batches.

  void start() {
    batch_.clear();
    engine::RenderState render;
    render.has_bases = true;
    render.append_commands(gen(), batch_);
    if (mapped()) batch_.insert(batch_.end(), {0x1100'0003, 0x4200, kLevel3, 0x4204, 0});
  }
  // Sets all states of the scene, some with other values.
  void set_states(const Values& values) {
    for (const spec::CommandDesc* const each : scene_->commands()) {
      std::vector<uint32_t> words = scene_->words(*each);
      const bool named = std::ranges::any_of(values, [&](const auto& value) { return value.item == each->name; });
      if (words.empty() && named) words = scene_->maker().command(*each, 0);
      if (!words.empty()) scene_->maker().set(*each, words, values);
      batch_.insert(batch_.end(), words.begin(), words.end());
    }
  }
  template <class T>
  void emit(const T& command) {
    std::vector<uint32_t> words = scene_->maker().command(T::kDesc, 0);
    ASSERT_TRUE(command.pack(gen(), words));
    batch_.insert(batch_.end(), words.begin(), words.end());
  }
  void draw(Values values, uint32_t first_vertex) {
    values.push_back({"3DSTATE_VF_TOPOLOGY", "primitive_topology_type", scene::code(hw::PrimitiveTopology::RECTLIST)});
    set_states(values);
    hw::_3DPRIMITIVE primitive;
    primitive.vertex_count_per_instance = 3;
    primitive.start_vertex_location = first_vertex;
    primitive.instance_count = 1;
    emit(primitive);
  }
  void fast_clear() {
    place(0, target(true));
    draw({{"3DSTATE_PS", "render_target_fast_clear_enable", 1}}, kClearRectangle);
  }
  void resolve() {
    if (one_bit()) {
      draw({{"3DSTATE_PS", "render_target_resolve_enable", 1}}, kClearRectangle);
    } else {
      draw({{"3DSTATE_PS", "render_target_resolve_type", 3}}, kClearRectangle);
    }
  }
  // Draws element (0, 0) of a surface to all pixels at kShown.
  void show(const Surface& texture, hw::SurfaceFormat format = hw::SurfaceFormat::R8G8B8A8_UNORM) {
    place(4, plain(kShown, kFlat_B, format));
    place(5, texture);
    word(kReadTable) = scene::kSurfaces + 4 * 64;
    word(kReadTable + 4) = scene::kSurfaces + 5 * 64;
    draw({{"3DSTATE_PS", "kernel_start_pointer_0", kReader},
          {"3DSTATE_BINDING_TABLE_POINTERS_PS", "binding_table_pointer", kReadTable}},
         kWholeRectangle);
  }
  void copy() {
    if (one_bit()) {
      hw::XY_SRC_COPY_BLT copy;
      copy.byte_mask_32bpp = hw::BltByteMask::RGBA;
      copy.src_tiling_enable = true;
      copy.color_depth = hw::BltColorDepth::COLOR_32BIT;
      copy.raster_operation = 0xcc;
      copy.destination_pitch = kFlat_B;
      copy.destination_x2 = copy.destination_y2 = kSide;
      copy.destination_base_address = GpuVa{kCopied};
      copy.source_pitch = kPitch / 4;
      copy.source_base_address = GpuVa{scene::kTarget};
      emit(copy);
      return;
    }
    hw::XY_FAST_COPY_BLT copy;
    copy.src_tiling_method = hw::FastCopyTiling::Y_FAMILY;
    copy.color_depth = hw::FastCopyColorDepth::COLOR_32BIT;
    copy.destination_pitch = kFlat_B;
    copy.destination_x2 = copy.destination_y2 = kSide;
    copy.destination_base_address = GpuVa{kCopied};
    copy.source_pitch = kPitch / 4;
    copy.source_base_address = GpuVa{scene::kTarget};
    emit(copy);
  }
  void run(uint64_t engine = I915_EXEC_RENDER) {
    batch_.insert(batch_.end(), {0x0500'0000, 0});
    batch_.resize((batch_.size() + 1) / 2 * 2);
    ASSERT_LE(batch_.size() * 4, kBatchBytes);
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = object_;
    objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
    objects[1].handle = create(kBatchBytes);
    objects[1].offset = kBatchPlace;
    objects[1].flags = EXEC_OBJECT_PINNED;
    fill(objects[1].handle, batch_);
    ASSERT_EQ(execute(objects, engine), 0);
    ASSERT_EQ(wait(object_), 0);
    close(objects[1].handle);
    if (engine == I915_EXEC_RENDER) {
      start();
    } else {
      batch_.clear();
    }
  }
  void run_copy() {
    batch_.clear();
    copy();
    run(I915_EXEC_BLT);
    start();
  }

  // Returns the details of Events about missing operations, with the work before them.
  std::vector<std::string> missing() const {
    std::vector<std::string> all;
    for (const Event& event : log_.events()) {
      if (event.kind == EventKind::undefined_behaviour) all.push_back(std::string(event.item) + ": " + event.detail);
    }
    return all;
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

  EventLog log_;
  std::unique_ptr<scene::Scene> scene_;
  uint32_t object_ = 0;
  std::vector<uint32_t> batch_;
};

TEST_P(ForgottenResolve, AReadWithoutStatesSeesTheBytesBeforeTheFastClearAndAnEvent) {
  COVERS("NOTES-DRV-08");
  const uint32_t before = word(scene::kTarget);
  const uint32_t inner = word(scene::kTarget + offset_of(37, 21, x_tiles()));
  fast_clear();
  show(target(false));
  run();
  run_copy();
  EXPECT_EQ(word(kShown), before);
  EXPECT_EQ(word(kShown + 63 * kFlat_B + 63 * 4), before);
  EXPECT_EQ(word(kCopied + 21 * kFlat_B + 37 * 4), inner);
  const std::vector<std::string> events = missing();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(has(events[0], "3DPRIMITIVE: sampler") && has(events[0], "is clear; a resolve")) << events[0];
  EXPECT_TRUE(has(events[1], "COPY_BLT: blitter") && has(events[1], "is clear; a resolve")) << events[1];
}

TEST_P(ForgottenResolve, AReadWithStatesSeesTheColourAndNoEvent) {
  fast_clear();
  show(target(true));
  run();
  EXPECT_EQ(word(kShown), colour());
  EXPECT_EQ(missing(), std::vector<std::string>{});
}

TEST_P(ForgottenResolve, AfterAResolveAllClientsSeeTheColourAndNoEvent) {
  fast_clear();
  resolve();
  show(target(false));
  run();
  run_copy();
  EXPECT_EQ(word(kShown), colour());
  for (const auto& [x, y] : {std::pair{0u, 0u}, {37u, 21u}, {63u, 63u}}) {
    EXPECT_EQ(word(kCopied + y * kFlat_B + x * 4), colour()) << x << ", " << y;
  }
  EXPECT_EQ(missing(), std::vector<std::string>{});
}

// The states stay clear, so a client that looks at them sees the clear colour instead of what was drawn.
TEST_P(ForgottenResolve, AWriteWithoutStatesIsHiddenAndAnEvent) {
  fast_clear();
  run();
  place(0, target(false));
  draw({}, kWholeRectangle);
  show(target(true));
  run();
  EXPECT_NE(word(scene::kTarget), colour());
  EXPECT_EQ(word(kShown), colour());
  const std::vector<std::string> events = missing();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(has(events[0], "3DPRIMITIVE: colour buffer") && has(events[0], "hides the write")) << events[0];
}

TEST_P(ForgottenResolve, TheSameUseIsReportedOnce) {
  fast_clear();
  for (unsigned i = 0; i < 3; ++i) show(target(false));
  run();
  EXPECT_EQ(missing().size(), 1u);
}

// The clear covers the upper half: its states, and then all of them, are shown.
TEST_P(ForgottenResolve, APictureShowsTheStatesOfBlocks) {
  real(scene::kVertices + 4) /= 2;  // the lower right and the lower left corner
  real(scene::kVertices + scene::kVertex_B + 4) /= 2;
  const auto state_at = [&](uint32_t x, uint32_t y) {
    picture::Rgba color;
    driver->with_lock([&] {
      device::Device& device = driver->gpu().hardware().device();
      const auto image =
          device::picture_of_states(device, device.space(0, memory::Stream::render_cache), scene::kTarget);
      ASSERT_TRUE(image.ok()) << image.message();
      ASSERT_EQ(std::pair(image->width, image->height), std::pair(kSide, kSide));
      color = image->at(x, y);
    });
    return color;
  };
  fast_clear();
  run();
  EXPECT_EQ(state_at(0, 0), device::kClearColor);
  EXPECT_EQ(state_at(63, 31), device::kClearColor);
  EXPECT_EQ(state_at(63, 32), device::kResolvedColor);
  real(scene::kVertices + 4) *= 2;
  real(scene::kVertices + scene::kVertex_B + 4) *= 2;
  draw({}, kWholeRectangle);
  run();
  EXPECT_EQ(state_at(0, 0), mapped() ? device::kCompressedColor : device::kResolvedColor);
  EXPECT_EQ(state_at(63, 63), mapped() ? device::kCompressedColor : device::kResolvedColor);
}

// Depth.

class ForgottenDepthResolve : public ForgottenResolve {
 protected:
  static constexpr float kOld = 0.125f, kClear = 0.75f;

  Values hierarchical() const {
    return {{"3DSTATE_DEPTH_BUFFER", "hierarchical_depth_buffer_enable", 1},
            {"3DSTATE_HIER_DEPTH_BUFFER", "surface_base_address", kDepthStates},
            {"3DSTATE_HIER_DEPTH_BUFFER", "surface_pitch", 127},
            {"3DSTATE_HIER_DEPTH_BUFFER", "surface_qpitch", 16},
            {"3DSTATE_CLEAR_PARAMS", "depth_clear_value", std::bit_cast<uint32_t>(kClear)},
            {"3DSTATE_CLEAR_PARAMS", "depth_clear_value_valid", 1}};
  }
  void operate(bool clears) {
    set_states(hierarchical());
    hw::_3DSTATE_WM_HZ_OP operation;
    operation.depth_buffer_clear_enable = clears;
    operation.depth_buffer_resolve_enable = !clears;
    operation.clear_rectangle_x_max = operation.clear_rectangle_y_max = kSide;
    operation.sample_mask = 0xffff;
    emit(operation);
    emit(hw::_3DSTATE_WM_HZ_OP{});
  }
  Surface texture() {
    Surface state = plain(scene::kDepth, kPitch, hw::SurfaceFormat::R32_FLOAT);
    state.tile_mode = hw::TileMode::YMAJOR;
    return state;
  }
  void fill_depth() {
    for (uint32_t at = 0; at < kSide * kPitch; at += 4) real(scene::kDepth + at) = kOld;
    std::memset(content(object_).data() + kDepthStates, 0xff, 0x2000);  // resolved
  }
};

TEST_P(ForgottenDepthResolve, AReadOfAClearBlockSeesTheOldDepthAndAnEvent) {
  fill_depth();
  operate(true);
  show(texture(), hw::SurfaceFormat::R32_FLOAT);
  run();
  EXPECT_EQ(real(kShown), kOld);
  const std::vector<std::string> events = missing();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(has(events[0], "sampler") && has(events[0], "a depth resolve")) << events[0];
}

TEST_P(ForgottenDepthResolve, AfterADepthResolveMemoryHasTheClearDepthAndThereIsNoEvent) {
  fill_depth();
  operate(true);
  run();
  EXPECT_EQ(real(scene::kDepth + offset_of(37, 21, false)), kOld) << "a depth clear writes no depth";
  operate(false);
  show(texture(), hw::SurfaceFormat::R32_FLOAT);
  run();
  for (const auto& [x, y] : {std::pair{0u, 0u}, {37u, 21u}, {63u, 63u}}) {
    EXPECT_EQ(real(scene::kDepth + offset_of(x, y, false)), kClear) << x << ", " << y;
  }
  EXPECT_EQ(real(kShown), kClear);
  EXPECT_EQ(missing(), std::vector<std::string>{});
}

const std::string kChips[] = {"bdw", "chv", "skl", "icl", "tgl", "dg1"};
INSTANTIATE_TEST_SUITE_P(Chips, ForgottenResolve, ::testing::ValuesIn(kChips), chip_name);
INSTANTIATE_TEST_SUITE_P(Chips, ForgottenDepthResolve, ::testing::ValuesIn(kChips), chip_name);

}  // namespace
}  // namespace halogen::driver
