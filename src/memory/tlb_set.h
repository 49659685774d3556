// All TLBs of a chip: one for each stream, with the sizes of the seed, and which of them an engine fills. On a chip
// with a divided L3 TLB the parts are TLBs of their own; parts with the same range of entries are one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gen/translation_rules.h"
#include "memory/tlb.h"
#include "spec/device_model.h"

namespace halogen::memory {

class TlbSet {
 public:
  explicit TlbSet(const spec::DeviceModel& model, L3TlbSplit split = L3TlbSplit::graphics);

  // The TLB that serves a stream. Streams without a part of their own use the L3 TLB.
  Tlb& of(TlbClient client) { return *tlbs_[index_[static_cast<size_t>(client)]]; }
  std::span<const std::unique_ptr<Tlb>> all() const { return tlbs_; }

  // The streams of an engine. Render, compute and POSH share theirs.
  static std::span<const TlbClient> clients_of(spec::EngineClass engine, unsigned number);

  void invalidate_all();
  void invalidate_space(SpaceTag space);
  // Everything in the TLBs that an engine fills; `number` counts the engines of its class.
  void invalidate_engine(spec::EngineClass engine, unsigned number);

 private:
  std::vector<std::unique_ptr<Tlb>> tlbs_;
  std::array<uint8_t, kTlbClients> index_{};
};

}  // namespace halogen::memory
