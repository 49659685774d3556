// Addresses in tiled surfaces, and fences, with hostile numbers.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "fuzz/input.h"
#include "surface/fence.h"
#include "surface/surface_rules.h"

namespace {

using namespace halogen;
using namespace halogen::surface;

class Numbers : public fuzz::Input {
 public:
  using Input::Input;
  // Returns a number: mostly small, sometimes any value.
  uint64_t number(uint64_t usual) {
    const auto kind = take<uint8_t>();
    return kind < 0xf0 ? take<uint32_t>() % usual : kind < 0xf8 ? take<uint32_t>() : take<uint64_t>();
  }
};

void offsets(Numbers& in) {
  const auto patterns = tile_patterns();
  const size_t kind = in.take<uint8_t>() % (patterns.size() + 1);
  SurfaceLayout layout;
  layout.pattern = kind == patterns.size() ? nullptr : patterns[kind];
  layout.pitch_B = in.number(5) * (layout.pattern == nullptr ? 100 : layout.pattern->pitch_width_B);
  layout.layer_rows = in.number(64);
  layout.swizzle = static_cast<SwizzleMode>(in.take<uint8_t>() % 7);
  const SurfacePoint point{in.take<uint64_t>(), in.take<uint64_t>(), in.take<uint64_t>()};
  check(offset_of(layout, point) == generic_offset_of(layout, point), "the two offset functions differ");
  const uint64_t offset = in.take<uint64_t>() >> 8;
  check(layout.pitch_B == 0 || offset_of(layout, point_at(layout, offset)) == offset,
        "point_at is not the inverse of offset_of");
}

void fence(Numbers& in) {
  const auto models = spec::device_models();
  const spec::DeviceModel& model = models[in.take<uint8_t>() % models.size()];
  FenceSet fences(model);
  EventLog log;
  for (unsigned i = 0; i < 8; ++i) {
    fences.write(in.take<uint8_t>(), in.take<uint64_t>(), &log);
    const GgttOffset at(in.take<uint32_t>());
    if (const Fence* found = fences.find(at)) {
      const uint64_t run = found->run_at(at);
      check(found->contains(at + (run - 1)), "a run stays in its fence");
      check(found->translate(at + (run - 1)).value == found->translate(at).value + run - 1, "a run stays together");
    }
    const SurfaceUse use{.client = static_cast<MemoryClient>(in.take<uint8_t>() % kMemoryClients),
                         .tiling = static_cast<Tiling>(in.take<uint8_t>() % 6),
                         .element_bits = in.take<uint32_t>(),
                         .async_flip = (in.take<uint8_t>() & 1) != 0,
                         .base = GpuVa(in.take<uint64_t>()),
                         .pitch_B = in.take<uint64_t>(),
                         .width_B = in.take<uint64_t>()};
    const Fence* const met = fences.meeting(at, at + use.width_B % 0x1'0000);
    check(met != nullptr || fences.find(at) == nullptr, "a range that starts in a fence meets one");
    for (unsigned index = 0; index < fences.count(); ++index) {
      check(!name_of(check_shared(model.gen, use, fences.fence(index), at, (i & 1) != 0)).empty(),
            "no name for the result");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Numbers in({data, size});
  in.take<uint8_t>() % 4 != 0 ? offsets(in) : fence(in);
  return 0;
}
