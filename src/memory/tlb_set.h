// All TLBs of a chip, one per stream, with the sizes of the manual, and the TLBs that each engine fills. If the L3 TLB
// of a chip is divided, its parts are separate TLBs; parts with the same range of entries are one TLB.
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

  // Returns the TLB that serves a stream. Streams without their own part use the L3 TLB.
  Tlb& of(TlbClient client) { return *tlbs_[index_[static_cast<size_t>(client)]]; }
  std::span<const std::unique_ptr<Tlb>> all() const { return tlbs_; }

  // Returns the streams of an engine. Render, compute and POSH share theirs.
  static std::span<const TlbClient> clients_of(spec::EngineClass engine, unsigned number);

  void invalidate_all();
  void invalidate_space(SpaceTag space);
  // Drops all entries of the TLBs that an engine fills. `number` is its number in the class.
  void invalidate_engine(spec::EngineClass engine, unsigned number);

 private:
  std::vector<std::unique_ptr<Tlb>> tlbs_;
  std::array<uint8_t, kTlbClients> index_{};
};

}  // namespace halogen::memory
