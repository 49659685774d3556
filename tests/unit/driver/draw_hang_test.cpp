// Draws that never end in practice, submitted through ioctls on every generation: the program continues, a reset
// removes the batch and blames its context, and later batches work.
#include <algorithm>

#include "door.h"
#include "engine/backend/render_state.h"
#include "fuzz/draw_scene.h"
#include "hw/3d_vertex.h"

namespace halogen::driver {
namespace {

namespace scene = fuzz::scene;

constexpr uint32_t kBatchPlace = 0x100'0000;
constexpr uint32_t kSharedPlace = 0x800'0000;  // of the scene, where all contexts share a space: its start is in use
constexpr uint32_t kBatchBytes = 0x1'0000;

class DrawHangs : public Door {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.hang_after = std::chrono::milliseconds(80);
    options.run_time = time_of_calls(std::chrono::milliseconds(20));
    boot(options);
  }
  bool has_two_bases() const { return is("i965") || is("gm965") || is("g45") || is("gm45"); }
  uint64_t place() const { return driver->shared_space() ? kSharedPlace : 0; }
  // Returns the values of a command or a structure that are addresses, moved to the place of the scene.
  std::vector<fuzz::FieldValue> moved(std::string_view item) const {
    constexpr std::string_view kItems[] = {"3DSTATE_VERTEX_BUFFERS", "3DSTATE_INDEX_BUFFER", "3DSTATE_DEPTH_BUFFER"};
    std::vector<fuzz::FieldValue> all;
    if (std::ranges::find(kItems, item) == std::end(kItems)) return all;
    for (fuzz::FieldValue each : scene::values()) {
      if (each.item != item || each.field.find("address") == each.field.npos || each.value < 2) continue;
      each.value += place();
      all.push_back(each);
    }
    return all;
  }
  // Returns the scene's memory, with the addresses of its surfaces moved.
  std::vector<std::byte> memory() const {
    const scene::Scene world{Generation(model())};
    std::vector<std::byte> bytes(world.memory().begin(), world.memory().end());
    for (const scene::Placed& each : world.structures()) {
      if (each.desc->name != "RENDER_SURFACE_STATE" || (each.at - scene::kSurfaces) / 64 % 4 >= 2) continue;
      std::vector<uint32_t> words(world.maker().structure(*each.desc).size());
      std::memcpy(words.data(), bytes.data() + each.at, words.size() * 4);
      const bool is_target = (each.at - scene::kSurfaces) / 64 % 4 == 0;
      const std::vector<fuzz::FieldValue> base{
          {each.desc->name, "surface_base_address", place() + (is_target ? scene::kTarget : scene::kTexture)}};
      world.maker().set(*each.desc, words, base);
      std::memcpy(bytes.data() + each.at, words.data(), words.size() * 4);
    }
    return bytes;
  }
  // Returns a batch that draws the scene with this many vertices, in this many instances.
  std::vector<uint32_t> commands(uint32_t vertices, uint32_t instances) const {
    const Generation generation(model());
    const scene::Scene world(generation);
    std::vector<uint32_t> batch;
    engine::RenderState render;
    render.has_bases = true;
    render.bases.general = render.bases.surface = place();
    if (!has_two_bases()) render.bases.dynamic = render.bases.instruction = place();
    render.append_commands(model().gen, batch);
    for (const spec::CommandDesc* const each : world.commands()) {
      std::vector<uint32_t> words = world.words(*each);
      world.maker().set(*each, words, moved(each->name));
      batch.insert(batch.end(), words.begin(), words.end());
    }
    hw::_3DPRIMITIVE primitive;
    primitive.primitive_topology_type = hw::PrimitiveTopology::TRILIST;
    primitive.vertex_count_per_instance = vertices;
    primitive.instance_count = instances;
    std::vector<uint32_t> words = world.maker().command(hw::_3DPRIMITIVE::kDesc, 0);
    EXPECT_TRUE(primitive.pack(model().gen, words));
    batch.insert(batch.end(), words.begin(), words.end());
    batch.insert(batch.end(), {0x0500'0000, 0});
    batch.resize((batch.size() + 1) / 2 * 2);
    return batch;
  }
  // Submits the draw. Returns the handle of the scene.
  uint32_t draw(uint32_t vertices, uint32_t instances) {
    const std::vector<std::byte> start = memory();
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = create(scene::kBytes);
    objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
    objects[0].offset = place();
    std::memcpy(content(objects[0].handle).data(), start.data(), start.size());
    objects[1].handle = create(kBatchBytes);
    objects[1].offset = kBatchPlace;
    objects[1].flags = EXEC_OBJECT_PINNED;
    fill(objects[1].handle, commands(vertices, instances));
    EXPECT_EQ(execute(objects), 0);
    return objects[0].handle;
  }
  bool painted(uint32_t handle) {
    const std::vector<std::byte> start = memory();
    return std::memcmp(content(handle).data() + scene::kTarget, start.data() + scene::kTarget,
                       scene::kDepth - scene::kTarget) != 0;
  }
  uint32_t hangs() {
    drm_i915_reset_stats statistics{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    return statistics.batch_active;
  }
};

TEST_P(DrawHangs, CountlessPrimitivesAreReset) {
  const uint32_t good = draw(scene::kVertexCount, 1);
  ASSERT_EQ(wait(good), 0);
  ASSERT_TRUE(painted(good)) << "the scene reaches the target";
  ASSERT_EQ(hangs(), 0u);
  close(good);
  for (const uint32_t instances : {1u, 0xffff'ffffu}) {
    const uint32_t before = hangs();
    const uint32_t bad = draw(0xffff'fff0, instances);
    EXPECT_EQ(wait(bad), 0) << "a reset ends it";
    EXPECT_EQ(hangs(), before + 1);
    EXPECT_TRUE(painted(bad)) << "it had begun";
    close(bad);
    const uint32_t next = draw(scene::kVertexCount, 1);
    EXPECT_EQ(wait(next), 0);
    EXPECT_TRUE(painted(next)) << "the next draw works";
    EXPECT_EQ(hangs(), before + 1);
    close(next);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, DrawHangs, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
