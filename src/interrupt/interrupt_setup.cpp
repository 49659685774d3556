// Finds the interrupt registers of one device once, by the names of registers and fields.
#include "base/check.h"
#include "interrupt/interrupt_unit.h"

namespace halogen::interrupt {

using interrupt::Bank;
using interrupt::field_bits;

namespace {

constexpr uint32_t kLowHalf = 0x0000'ffff;
constexpr std::string_view kSyncStatus = "sync_status";
constexpr std::string_view kThermal = "thermal_sensor_event";

uint32_t half_bits(interrupt::Half half) {
  switch (half) {
    case interrupt::Half::both:
      return ~uint32_t{0};
    case interrupt::Half::low:
      return kLowHalf;
    case interrupt::Half::high:
      return ~kLowHalf;
  }
  return 0;
}

}  // namespace

InterruptUnit::InterruptUnit(const spec::DeviceModel& model, mmio::MmioSpace& mmio, InterruptListener& listener,
                             EventSink& events, std::string path)
    : model_(model),
      gen_(model.gen),
      kind_(mmio.generation().interrupts()),
      registers_(mmio.bank()),
      listener_(listener),
      events_(events),
      path_(std::move(path)),
      collapsed_(mmio.bank(), model.gen, events, path_),
      hooks_(mmio.bank().map().slot_count()),
      levels_(model.engines.size()) {
  find_banks();
  find_summaries();
  find_feeds();
  for (const spec::EngineModel& engine : model.engines) {
    engines_.push_back(find_engine(engine));
  }
  if (collapsed_.exists() && !engines_.empty()) {
    const uint32_t fault = engines_.front().bits[static_cast<size_t>(EngineCause::page_fault)];
    collapsed_.set_page_fault_bits(static_cast<uint16_t>(fault));
  }
  find_display();
  attach_all();
}

void InterruptUnit::find_banks() {
  for (const interrupt::BankNames& names : interrupt::bank_names()) {
    for (unsigned index = 0;; ++index) {
      std::optional<Bank> bank = Bank::find(registers_, names, index);
      if (!bank) {
        break;
      }
      uint32_t falling = 0;
      for (const spec::FieldDesc& field : bank->status_slot().desc->layout(gen_)->fields) {
        if (field.name.ends_with(interrupt::kFlipPending)) {
          falling |= field_bits(&bank->status_slot(), gen_, field.name);
        }
      }
      bank->set_falling(falling);
      never_enable_.push_back(field_bits(&bank->enable_slot(), gen_, kSyncStatus));
      banks_.push_back(*bank);
    }
  }
}

std::optional<size_t> InterruptUnit::bank_of(std::string_view status, unsigned index) const {
  for (size_t i = 0; i < banks_.size(); ++i) {
    const mmio::RegisterSlot& slot = banks_[i].status_slot();
    if (slot.desc->name == status && slot.index == index) {
      return i;
    }
  }
  return std::nullopt;
}

void InterruptUnit::find_summaries() {
  for (const interrupt::SummaryNames& names : interrupt::summary_names()) {
    if (const mmio::RegisterSlot* slot = registers_.use(names.name)) {
      summaries_.push_back({slot, field_bits(slot, gen_, interrupt::kEnableField), std::nullopt, 0});
    }
  }
  for (const interrupt::SummaryNames& names : interrupt::summary_names()) {
    for (Summary& below : summaries_) {
      for (size_t above = 0; below.slot->desc->name == names.name && above < summaries_.size(); ++above) {
        if (summaries_[above].slot->desc->name == names.above) {
          check(&summaries_[above] > &below, "lower summaries precede upper ones");
          below.above = above;
          below.field = field_bits(summaries_[above].slot, gen_, names.field);
        }
      }
    }
  }
  gate_ = mmio::Register<hw::DEIER>(registers_);
  tile_ = mmio::Register<hw::MSTR_TILE_INTR>(registers_);
  for (unsigned dword = 0; dword < interrupt::kDwords; ++dword) {
    dword_fields_[dword] = field_bits(registers_.map().find(interrupt::kMaster), gen_, interrupt::kMasterDword[dword]);
  }
}

void InterruptUnit::find_feeds() {
  std::vector<bool> fed(banks_.size());
  for (const interrupt::FeedNames& names : interrupt::feed_names()) {
    const std::optional<size_t> below = bank_of(names.status, names.index);
    if (!below) {
      continue;
    }
    Feed feed{*below, half_bits(names.half), bank_of(names.above, 0), 0, 0};
    if (feed.into_bank) {
      feed.field = field_bits(&banks_[*feed.into_bank].status_slot(), gen_, names.field);
    }
    for (size_t i = 0; i < summaries_.size(); ++i) {
      if (summaries_[i].slot->desc->name == names.above) {
        feed.summary = i;
        feed.field = field_bits(summaries_[i].slot, gen_, names.field);
      }
    }
    if (feed.field != 0) {
      feeds_.push_back(feed);
      fed[*below] = true;
    }
  }
  for (size_t i = 0; i < banks_.size(); ++i) {
    if (!fed[i]) {
      direct_.push_back(i);
    }
  }
}

uint32_t InterruptUnit::find_cause(const interrupt::CauseNames& cause, const spec::EngineModel& engine,
                                   EnginePlace& place) const {
  if (place.message_class) {
    const mmio::RegisterSlot* vector = registers_.map().find(hw::IMR::kDesc.name, engine.name);
    const uint32_t bits = field_bits(vector, gen_, cause.fields[0]);
    return bits != 0 ? bits : field_bits(vector, gen_, cause.fields[1]);
  }
  for (const std::string_view prefix : interrupt::engine_prefixes(kind_, engine.name)) {
    for (const std::string_view field : cause.fields) {
      for (size_t i = 0; !field.empty() && i < banks_.size(); ++i) {
        const uint32_t bits = field_bits(&banks_[i].status_slot(), gen_, std::string(prefix) + std::string(field));
        if (bits != 0) {
          check(place.bank.value_or(i) == i, "an engine has one bank");
          place.bank = i;
          return bits;
        }
      }
    }
  }
  return 0;
}

InterruptUnit::EnginePlace InterruptUnit::find_engine(const spec::EngineModel& engine) const {
  const bool own_status = kind_ != InterruptKind::one_bank;
  EnginePlace place;
  if (collapsed_.exists()) {
    place.message_class = interrupt::interrupt_class(engine.engine_class);
  }
  for (const interrupt::CauseNames& cause : interrupt::cause_names()) {
    if (cause.cause == EngineCause::l3_parity && engine.engine_class != spec::EngineClass::render) {
      continue;  // all vectors have the bit, but only one engine uses it
    }
    const uint32_t bits = find_cause(cause, engine, place);
    place.bits[static_cast<size_t>(cause.cause)] = bits;
    place.all |= bits;
    if (cause.kind == interrupt::CauseKind::event) {
      place.events |= bits;
    }
    if (own_status && !cause.reported) {
      place.unreported |= bits;
    }
  }
  // On Gen4 one mask and one status serve all engines; both belong to the render engine. The collapsed banks have their
  // own masks, and drivers that never write the engine's mask get interrupts, so the engine's mask is ignored.
  if (own_status && place.bank) {
    place.mask = mmio::Register<hw::IMR>(registers_, engine.name);
  }
  if (own_status || engine.engine_class == spec::EngineClass::render) {
    place.status_mask = mmio::Register<hw::HWSTAM>(registers_, engine.name);
  }
  place.keep_masked = place.unreported;
  if (!own_status && place.bank) {
    place.keep_masked = field_bits(&banks_[*place.bank].status_slot(), gen_, kThermal);
  }
  return place;
}

void InterruptUnit::find_display() {
  for (size_t cause = 0; cause < interrupt::kDisplayCauseCount; ++cause) {
    for (unsigned pipe = 0; pipe < interrupt::kPipes; ++pipe) {
      for (unsigned plane = 0; plane < interrupt::kPlanes; ++plane) {
        for (const interrupt::DisplayPlace& place :
             interrupt::display_places(static_cast<DisplayCause>(cause), pipe, plane)) {
          if (const std::optional<InterruptSource> found = source(place.status, place.field, place.index)) {
            display_[cause][pipe][plane] = *found;
            break;
          }
        }
      }
    }
  }
}

std::optional<InterruptSource> InterruptUnit::source(std::string_view status, std::string_view field,
                                                     unsigned index) const {
  const std::optional<size_t> bank = bank_of(status, index);
  const uint32_t bits = bank ? field_bits(&banks_[*bank].status_slot(), gen_, field) : 0;
  return bits == 0 ? std::nullopt : std::optional(InterruptSource{*bank, bits});
}

void InterruptUnit::attach(const mmio::RegisterSlot& slot, Role role, size_t number) {
  hooks_[registers_.map().number_of(slot)] = {role, static_cast<uint16_t>(number)};
  registers_.attach(slot, *this);
}

void InterruptUnit::attach_all() {
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (engines_[i].mask.exists()) {
      attach(*engines_[i].mask.slot(), Role::engine_mask, i);
    }
    if (engines_[i].status_mask.exists()) {
      attach(*engines_[i].status_mask.slot(), Role::status_mask, i);
    }
  }
  for (size_t i = 0; i < banks_.size(); ++i) {
    attach(banks_[i].mask_slot(), Role::bank_mask, i);
    attach(banks_[i].identity_slot(), Role::bank_identity, i);
    attach(banks_[i].enable_slot(), Role::bank_enable, i);
  }
  for (size_t i = 0; i < summaries_.size(); ++i) {
    attach(*summaries_[i].slot, Role::summary, i);
  }
  if (tile_.exists()) {
    attach(*tile_.slot(), Role::tile, 0);
  }
  for (unsigned dword = 0; collapsed_.exists() && dword < interrupt::kDwords; ++dword) {
    attach(*collapsed_.pending_slots()[dword], Role::pending, dword);
    attach(*collapsed_.selector_slots()[dword], Role::selector, dword);
    attach(*collapsed_.identity_slots()[dword], Role::identity, dword);
  }
  for (const mmio::RegisterSlot* slot : collapsed_.mask_slots()) {
    attach(*slot, Role::instance_mask, 0);
  }
}

}  // namespace halogen::interrupt
