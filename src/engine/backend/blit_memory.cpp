#include "engine/backend/blit_memory.h"

#include "engine/engine.h"
#include "memory/page_format.h"
#include "memory/walker.h"

namespace halogen::engine {

void check_cacheable_operands(Engine& engine, const Command& command, const blit::BlitJob& job,
                              const memory::AddressSpace& space) {
  const memory::PageFormat* const format = space.context().format;
  if (format == nullptr || format->levels.empty() || format->levels.back().table.snooped == 0) {
    return;
  }
  const auto cacheable = [&](uint64_t address) {
    const uint64_t wrapped = wrapped_address(address & job.address_mask).value;
    const memory::WalkResult page = memory::walk(space.memory(), space.context(), wrapped, {}, nullptr, false);
    return !page.fault && page.mapping.snooped;
  };
  const auto report = [&](std::string_view detail) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 std::string(detail));
  };
  const bool to_cacheable = cacheable(job.destination.base);
  const bool has_source = job.source == blit::SourceKind::color;
  const bool from_cacheable = has_source && cacheable(job.source_surface.base);
  if ((to_cacheable && job.destination.tile != nullptr) || (from_cacheable && job.source_surface.tile != nullptr)) {
    report("tiled surface in cacheable memory");
  }
  if (to_cacheable && from_cacheable) {
    report("source and destination in cacheable memory");
  }
  if (job.source == blit::SourceKind::mono && !job.mono.is_immediate && cacheable(job.mono.address)) {
    report("monochrome source in cacheable memory");
  }
  if (job.pattern.kind == blit::PatternKind::color && !job.pattern.is_immediate && cacheable(job.pattern.address)) {
    report("pattern in cacheable memory");
  }
}

}  // namespace halogen::engine
