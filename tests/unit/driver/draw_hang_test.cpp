// Draws that never end in practice, submitted through ioctls on every generation: the program continues, a reset
// removes the batch and blames its context, and later batches work.
#include "door.h"
#include "engine/backend/render_state.h"
#include "fuzz/draw_scene.h"
#include "hw/3d_vertex.h"

namespace halogen::driver {
namespace {

namespace scene = fuzz::scene;

constexpr uint32_t kBatchPlace = 0x100'0000;
constexpr uint32_t kBatchBytes = 0x1'0000;

class DrawHangs : public Door {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.hang_after = std::chrono::milliseconds(80);
    options.run_time = time_of_calls(std::chrono::milliseconds(20));
    boot(options);
  }
  // Returns a batch that draws the scene with this many vertices, in this many instances.
  std::vector<uint32_t> commands(uint32_t vertices, uint32_t instances) const {
    const Generation generation(model());
    const scene::Scene world(generation);
    std::vector<uint32_t> batch;
    engine::RenderState render;
    render.has_bases = true;
    render.append_commands(model().gen, batch);
    for (const spec::CommandDesc* const each : world.commands()) {
      const std::vector<uint32_t> words = world.words(*each);
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
  // Submits the draw. The scene lies at address 0, as its commands say. Returns its handle.
  uint32_t draw(uint32_t vertices, uint32_t instances) {
    const scene::Scene world{Generation(model())};
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = create(scene::kBytes);
    objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
    std::memcpy(content(objects[0].handle).data(), world.memory().data(), world.memory().size());
    objects[1].handle = create(kBatchBytes);
    objects[1].offset = kBatchPlace;
    objects[1].flags = EXEC_OBJECT_PINNED;
    fill(objects[1].handle, commands(vertices, instances));
    EXPECT_EQ(execute(objects), 0);
    return objects[0].handle;
  }
  bool painted(uint32_t handle) {
    const scene::Scene world{Generation(model())};
    return std::memcmp(content(handle).data() + scene::kTarget, world.memory().data() + scene::kTarget,
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
