#include "memory/tlb_set.h"

#include <map>
#include <utility>

namespace halogen::memory {
namespace {

using enum TlbClient;
using spec::EngineClass;

constexpr TlbClient kRender[] = {l3, dc, tx, gatr, z, c, ff};
constexpr TlbClient kVideo0[] = {mfx0, vlf};
constexpr TlbClient kVideo1[] = {mfx1, vlf};
constexpr TlbClient kVebox[] = {gav};
constexpr TlbClient kBlit[] = {blt};

}  // namespace

TlbSet::TlbSet(const spec::DeviceModel& model, L3TlbSplit split) {
  const auto add = [&](TlbRange range) {
    tlbs_.push_back(std::make_unique<Tlb>(range.entries()));
    return static_cast<uint8_t>(tlbs_.size() - 1);
  };
  const std::span<const TlbRange> parts = l3_tlb_parts(model, split);
  std::map<std::pair<unsigned, unsigned>, uint8_t> by_range;
  for (const TlbRange& part : parts) {
    const auto [at, is_new] = by_range.try_emplace({part.first, part.last}, uint8_t{0});
    if (is_new) {
      at->second = add(part);
    }
    index_[static_cast<size_t>(part.client)] = at->second;
  }
  for (const TlbRange& range : tlb_sizes(model)) {
    index_[static_cast<size_t>(range.client)] = add(range);
  }
}

std::span<const TlbClient> TlbSet::clients_of(EngineClass engine, unsigned number) {
  switch (engine) {
    case EngineClass::render:
    case EngineClass::compute:
    case EngineClass::posh:
      return kRender;
    case EngineClass::video:
      return number == 0 ? std::span<const TlbClient>(kVideo0) : std::span<const TlbClient>(kVideo1);
    case EngineClass::vebox:
      return kVebox;
    case EngineClass::blit:
      return kBlit;
  }
  return {};
}

void TlbSet::invalidate_all() {
  for (const auto& tlb : tlbs_) {
    tlb->invalidate_all();
  }
}

void TlbSet::invalidate_space(SpaceTag space) {
  for (const auto& tlb : tlbs_) {
    tlb->invalidate_space(space);
  }
}

void TlbSet::invalidate_engine(EngineClass engine, unsigned number) {
  for (const TlbClient client : clients_of(engine, number)) {
    of(client).invalidate_all();
  }
}

}  // namespace halogen::memory
