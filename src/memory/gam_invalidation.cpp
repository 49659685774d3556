#include "memory/gam_invalidation.h"

#include <algorithm>

#include "base/bits.h"
#include "memory/has_register.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using spec::EngineClass;
using spec::RegisterId;

struct Row {
  RegisterId id;
  EngineClass engine_class;
  int8_t number;  // of the engine in its class, or kByBit: bit n is instance n
};
constexpr int8_t kByBit = -1;

constexpr Row kRows[] = {
    {RegisterId::RTCR, EngineClass::render, 0},
    {RegisterId::RTCR, EngineClass::posh, 0},
    {RegisterId::M1TCR, EngineClass::video, 0},
    {RegisterId::M2TCR, EngineClass::video, 1},
    {RegisterId::BTCR, EngineClass::blit, 0},
    {RegisterId::VTCR, EngineClass::vebox, 0},
    {RegisterId::GFX_TLB_INV_CR, EngineClass::render, kByBit},
    {RegisterId::GFX_TLB_INV_CR, EngineClass::posh, kByBit},
    {RegisterId::VD_TLB_INV_CR, EngineClass::video, kByBit},
    {RegisterId::VE_TLB_INV_CR, EngineClass::vebox, kByBit},
    {RegisterId::BLT_TLB_INV_CR, EngineClass::blit, kByBit},
    {RegisterId::COMPCTX_TLB_INV_CR, EngineClass::compute, kByBit},
};

bool is_global(RegisterId id) {
  return id == RegisterId::GFX_FLSH_CNTL;
}

}  // namespace

bool TlbInvalidation::owns(RegisterId id) const {
  return (is_global(id) || std::ranges::any_of(kRows, [id](const Row& row) { return row.id == id; })) &&
         has_register(*model_, id);
}

uint32_t TlbInvalidation::engines_of(RegisterId id, uint32_t value) const {
  uint32_t engines = 0;
  for (const Row& row : kRows) {
    if (row.id != id) {
      continue;
    }
    int number = 0;
    for (unsigned i = 0; i < model_->engines.size(); ++i) {
      const spec::EngineModel& engine = model_->engines[i];
      if (engine.engine_class != row.engine_class) {
        continue;
      }
      const bool chosen = row.number == kByBit ? bit(value, engine.instance) : number == row.number && bit(value, 0);
      engines |= chosen ? 1u << i : 0u;
      ++number;
    }
  }
  return engines;
}

void TlbInvalidation::write(RegisterId id, uint32_t value) {
  if (is_global(id)) {
    gam_->flush_global();
  } else {
    const uint32_t engines = engines_of(id, value);
    for (unsigned i = 0; i < model_->engines.size(); ++i) {
      if (bit(engines, i)) {
        gam_->flush(i);
      }
    }
  }
  if (!idle() && value != 0) {
    const auto same = std::ranges::find_if(pending_, [id](const Pending& pending) { return pending.id == id; });
    if (same != pending_.end()) {
      same->bits |= value;
    } else {
      pending_.push_back({id, value});
    }
  }
}

uint32_t TlbInvalidation::read(RegisterId id) const {
  const auto at = std::ranges::find_if(pending_, [id](const Pending& pending) { return pending.id == id; });
  return at == pending_.end() ? 0 : at->bits;
}

void TlbInvalidation::end_access() {
  if (accesses_ != 0 && --accesses_ == 0) {
    pending_.clear();
  }
}

}  // namespace halogen::memory
