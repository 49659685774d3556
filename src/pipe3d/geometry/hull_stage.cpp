#include "pipe3d/geometry/hull_stage.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kLanes = 8;
constexpr uint32_t kMaxEntrySlots = 4096;

}  // namespace

void HullStage::begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space) {
  state_ = &state;
  unit_.set_groups(this);
  unit_.begin(generation, state, state.tessellation.hull, space);
  unit_.use_kernel(state.tessellation.hull.kernel);
}

uint32_t HullStage::patch_slots(const Tessellation& tessellation) {
  return std::clamp(tessellation.patch_slots, 2u, kMaxEntrySlots);
}

eu::Thread& HullStage::instance(uint32_t number) {
  while (threads_.size() <= number) {
    threads_.push_back(std::make_unique<eu::Thread>());
  }
  return *threads_[number];
}

void HullStage::arrive(eu::Thread& /*thread*/) {
  if (++arrived_ < running_) {
    return;
  }
  arrived_ = 0;
  released_ = true;
  for (uint32_t i = 0; i < running_; ++i) {
    ++threads_[i]->notification[0];
  }
}

// Runs the instances of a patch in turn, as long as barriers release them.
ThreadEnd HullStage::run_instances() {
  arrived_ = 0;
  std::vector<bool> ended(running_, false);
  uint32_t left = running_;
  while (left != 0) {
    released_ = false;
    const uint32_t before = left;
    for (uint32_t i = 0; i < running_; ++i) {
      if (ended[i]) {
        continue;
      }
      const ThreadEnd end = unit_.run(*threads_[i]);
      if (end == ThreadEnd::done) {
        ended[i] = true;
        --left;
      } else if (end != ThreadEnd::waiting) {
        return end;
      }
    }
    if (left == before && !released_) {
      return ThreadEnd::waiting;
    }
  }
  return ThreadEnd::done;
}

// Runs threads. With one patch per thread, r0 holds its handle, its number and the instance, and r1 to r4 hold vertex
// handles. With eight patches, r1 holds handles, then numbers follow, then a register of handles per vertex.
ThreadEnd HullStage::run(std::span<const Object> objects, EntryStore& input) {
  const Tessellation& tessellation = state_->tessellation;
  const Shader& shader = tessellation.hull;
  unit_.set_urb(&input, &patches_);
  patches_.begin(patch_slots(tessellation));
  for (size_t i = 0; i < objects.size(); ++i) {
    patches_.add();
  }
  running_ = tessellation.hull_instances;
  const auto start = [&](eu::Thread& thread, uint32_t lanes) {
    thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(lanes)));
  };
  if (tessellation.hull_dispatch == HullDispatch::eight_patch) {
    for (uint32_t number = 0; number < running_; ++number) {
      eu::Thread& thread = instance(number);
      unit_.prepare(thread, shader, shader.first_grf);
      unit_.put(thread, hw::HULL_INSTANCE{.instance = static_cast<uint8_t>(number)});
      hw::HULL_HANDLES handles;
      for (uint32_t lane = 0; lane < objects.size(); ++lane) {
        handles.patches[lane].handle = static_cast<uint16_t>(lane);
        size_t grf = hw::HULL_HANDLES::kGrf + 1;
        if (tessellation.hull_primitive_id) {
          put_dword(thread, grf++, lane, objects[lane].id);
        }
        for (size_t v = 0; tessellation.hull_handles && v < objects[lane].made.count; ++v) {
          put_dword(thread, grf++, lane, objects[lane].made.vertex[v] | ShaderUnit::kInputHandles);
        }
      }
      unit_.put(thread, handles);
      start(thread, static_cast<uint32_t>(objects.size()));
    }
    return run_instances();
  }
  for (uint32_t patch = 0; patch < objects.size(); ++patch) {
    const Object& object = objects[patch];
    for (uint32_t number = 0; number < running_; ++number) {
      eu::Thread& thread = instance(number);
      unit_.prepare(thread, shader, shader.first_grf);
      unit_.put(thread, hw::HULL_PATCH{.handle = static_cast<uint16_t>(patch),
                                       .primitive_id = object.id,
                                       .instance = static_cast<uint8_t>(number)});
      for (size_t v = 0; tessellation.hull_handles && v < object.made.count; ++v) {
        put_dword(thread, 1 + v / kLanes, v % kLanes, object.made.vertex[v] | ShaderUnit::kInputHandles);
      }
      start(thread, kLanes);
    }
    const ThreadEnd end = run_instances();
    if (end != ThreadEnd::done) {
      return end;
    }
  }
  return ThreadEnd::done;
}

TessellationFactors HullStage::factors(const Tessellation& state, std::span<const Slot> header) {
  constexpr size_t kLast = 7;
  if (header.size() * 4 <= kLast) {
    return {};
  }
  const bool separate = state.layout == PatchLayout::reversed_inside_separate;
  const bool reversed = separate || state.layout == PatchLayout::reversed;
  const auto at = [&](size_t dword) {
    const size_t index = reversed ? kLast - dword : dword;
    return std::bit_cast<float>(header[index / 4][index % 4]);
  };
  switch (state.domain) {
    case TessellationDomain::quad:
      return {.outer = {at(7), at(6), at(5), at(4)}, .inner = {at(3), at(2)}};
    case TessellationDomain::triangle:
      return {.outer = {at(7), at(6), at(5), 0}, .inner = {at(separate ? 3 : 4), 0}};
    case TessellationDomain::line:
      break;
  }
  return {.outer = {at(6), at(7), 0, 0}, .inner = {}};
}

}  // namespace halogen::pipe3d
