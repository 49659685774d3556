// Registers of a new context: whatever batches of other files wrote, the first batch reads the values of a device that
// has just started.
#include <algorithm>
#include <utility>

#include "door.h"
#include "mmio/privilege.h"
#include "mmio/register_map.h"

namespace halogen::driver {
namespace {

class ContextRegisters : public Door {
 protected:
  // Returns the first engine of each class to which EXECBUFFER2 can submit, with the flag that names it.
  std::vector<std::pair<const spec::EngineModel*, uint64_t>> engines() const {
    std::vector<std::pair<const spec::EngineModel*, uint64_t>> all;
    constexpr std::pair<spec::EngineClass, uint64_t> kFlags[] = {{spec::EngineClass::render, I915_EXEC_RENDER},
                                                                 {spec::EngineClass::blit, I915_EXEC_BLT},
                                                                 {spec::EngineClass::video, I915_EXEC_BSD},
                                                                 {spec::EngineClass::vebox, I915_EXEC_VEBOX}};
    for (const auto& [engine_class, flag] : kFlags) {
      const auto found = std::ranges::find_if(model().engines, [&, wanted = engine_class](const auto& engine) {
        return engine.engine_class == wanted && engine.instance == 0;
      });
      if (found != model().engines.end()) all.emplace_back(&*found, flag);
    }
    return all;
  }
  // Returns the registers that a user batch of the engine may write.
  std::vector<uint32_t> offsets(const spec::EngineModel& engine) const {
    const mmio::Privilege privilege(model().id, engine);
    std::vector<mmio::ForceToNonPriv> opened;
    for (const uint32_t slot : mmio::slots_of_driver(model().id, engine)) {
      opened.push_back(mmio::ForceToNonPriv::decode(model().gen, slot));
    }
    std::vector<uint32_t> all;
    const std::shared_ptr<const mmio::RegisterMap> map = mmio::RegisterMap::for_device(model());
    for (const mmio::RegisterSlot& slot : map->slots()) {
      if (slot.policy.writable() != 0 && privilege.allows(slot.offset, mmio::RegisterAccess::write, opened)) {
        all.push_back(slot.offset);
      }
    }
    return all;
  }
  void open_other_file() {
    driver->close(file);
    file = driver->open({.render = true});
  }
  static constexpr uint32_t kResults = 0x10'0000, kReads = 0x20'0000, kWrites = 0x30'0000, kBytes = 0x1'0000;

  drm_i915_gem_exec_object2 pinned(uint32_t place, uint64_t flags = 0) {
    drm_i915_gem_exec_object2 object{};
    object.handle = create(kBytes);
    object.offset = place;
    object.flags = EXEC_OBJECT_PINNED | flags;
    return object;
  }
  // Starts a batch that stores the registers. Returns the buffer of the values.
  uint32_t start_read(const std::vector<uint32_t>& registers, uint64_t engine = 0) {
    std::vector<drm_i915_gem_exec_object2> objects{pinned(kResults, EXEC_OBJECT_WRITE), pinned(kReads)};
    std::vector<uint32_t> batch;
    for (uint32_t i = 0; i < registers.size(); ++i) {  // MI_STORE_REGISTER_MEM
      batch.insert(batch.end(), {0x1200'0002, registers[i], kResults + 4 * i, 0});
    }
    batch.insert(batch.end(), {0x0500'0000, 0});
    fill(objects[1].handle, batch);
    EXPECT_EQ(execute(objects, engine), 0);
    return objects[0].handle;
  }
  std::vector<uint32_t> finish_read(const std::vector<uint32_t>& registers, uint32_t results) {
    EXPECT_EQ(wait(results), 0);
    std::vector<uint32_t> values(registers.size());
    std::memcpy(values.data(), content(results).data(), values.size() * 4);
    return values;
  }
  // Stores the registers in a batch of a new file.
  std::vector<uint32_t> read(const std::vector<uint32_t>& registers, uint64_t engine) {
    open_other_file();
    return finish_read(registers, start_read(registers, engine));
  }
  // Starts a batch that loads the registers, and that then ends or jumps to its last command forever. Returns the
  // batch.
  uint32_t start_write(const std::vector<uint32_t>& registers, uint32_t value, bool ends, uint64_t engine = 0) {
    std::vector<uint32_t> batch;
    for (const uint32_t offset : registers) {  // MI_LOAD_REGISTER_IMM
      batch.insert(batch.end(), {0x1100'0001, offset, value});
    }
    const uint32_t last = kWrites + 4 * static_cast<uint32_t>(batch.size());
    batch.insert(batch.end(), {ends ? 0x0500'0000u : 0x1880'0101u, ends ? 0 : last, 0, 0});
    std::vector<drm_i915_gem_exec_object2> objects{pinned(kWrites)};
    fill(objects[0].handle, batch);
    EXPECT_EQ(execute(objects, engine), 0);
    return objects[0].handle;
  }
  void write(const std::vector<uint32_t>& registers, uint32_t value, uint64_t engine) {
    open_other_file();
    EXPECT_EQ(wait(start_write(registers, value, true, engine)), 0);
  }
};

TEST_P(ContextRegisters, NewContextHasNoValueOfOtherFiles) {
  size_t looked_at = 0;
  for (const auto& [engine, flag] : engines()) {
    SCOPED_TRACE(engine->name);
    const std::vector<uint32_t> registers = offsets(*engine);
    if (registers.empty()) continue;
    ++looked_at;
    const std::vector<uint32_t> start = read(registers, flag);
    for (const uint32_t value : {0x0000'ffffu, 0x1234'5678u}) {
      write(registers, value, flag);
      const std::vector<uint32_t> later = read(registers, flag);
      for (size_t i = 0; i < registers.size(); ++i) {
        EXPECT_EQ(later[i], start[i]) << std::hex << registers[i] << " after " << value;
      }
    }
  }
  // On Gen8, batches of the video engines may write no register.
  EXPECT_EQ(looked_at, is("bdw") || is("chv") ? 2 : engines().size());
  EXPECT_GT(offsets(model().engines.front()).size(), 32u);
}

// The requests of the hung context were in its ring when the reset came. Before they start, the batch of another file
// writes the registers.
TEST_P(ContextRegisters, RequestsBehindAHangStartWithTheValuesOfANewContext) {
  const std::vector<uint32_t> registers = offsets(model().engines.front());
  const std::vector<uint32_t> start = read(registers, 0);
  open_other_file();
  start_write(registers, 0x1234'5678, false);
  const std::shared_ptr<File> other = driver->open({.render = true});
  const std::shared_ptr<File> hung = std::exchange(file, other);
  start_write(registers, 0x0000'ffff, true);
  file = hung;
  const std::vector<uint32_t> later = finish_read(registers, start_read(registers));
  for (size_t i = 0; i < registers.size(); ++i) {
    EXPECT_EQ(later[i], start[i]) << std::hex << registers[i];
  }
  // Values that the context sets afterwards are its own again.
  start_write(registers, 0x0000'0055, true);
  const std::vector<uint32_t> own = finish_read(registers, start_read(registers));
  EXPECT_NE(own, start);
  driver->close(other);
}

// Registers of the cache, of the memory unit and of reports, which belong to no context (igt-gpu-tools,
// gem_ctx_isolation.c, marks those that it knows with NOCTX), commands in the form of a register, and registers of the
// engine for positions, which has no contexts of its own here.
bool has_no_context(uint32_t offset) {
  constexpr uint32_t kAlone[] = {0x2094, 0x23bc, 0x2b00, 0x91b8, 0x91bc, 0x91c0, 0x91c4, 0x2248, 0x20d8,
                                 0x2090, 0xb100, 0xb118, 0xb138, 0xb158, 0xb15c, 0x4208, 0x2968, 0x2aa0};
  return std::ranges::find(kAlone, offset) != std::end(kAlone) || (offset >= 0x1'8000 && offset < 0x1'9000);
}

TEST_P(ContextRegisters, ContextsThatTakeTurnsKeepTheirValues) {
  std::vector<uint32_t> registers = offsets(model().engines.front());
  std::erase_if(registers, has_no_context);
  write(registers, 0x1234'5554, 0);
  const std::vector<uint32_t> before = finish_read(registers, start_read(registers));
  const std::shared_ptr<File> one = std::exchange(file, driver->open({.render = true}));
  EXPECT_EQ(wait(start_write(registers, 0x0f0f'2aab, true)), 0);
  const std::vector<uint32_t> other = finish_read(registers, start_read(registers));
  const std::shared_ptr<File> two = std::exchange(file, one);
  const std::vector<uint32_t> later = finish_read(registers, start_read(registers));
  for (size_t i = 0; i < registers.size(); ++i) {
    EXPECT_EQ(later[i], before[i]) << std::hex << registers[i] << ", the other context has " << other[i];
  }
  driver->close(two);
}

INSTANTIATE_TEST_SUITE_P(Chips, ContextRegisters, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         chip_name);

}  // namespace
}  // namespace halogen::driver
