#include "mmio/mmio_space.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "gen/port_rules.h"

namespace halogen::mmio {

namespace {

std::string_view verb(bool is_write) {
  return is_write ? "write" : "read";
}

constexpr std::string_view kPortOnly = "GR06 or MSR accessed as a memory-mapped register; use the I/O port";

// Returns whether an access concerns VGA registers that software may access as I/O ports only.
bool is_port_only(spec::GenId gen, const VgaState& vga, uint64_t offset, unsigned bytes, uint64_t value,
                  bool is_write) {
  constexpr uint64_t kGraphicsIndex = 0x3ce, kGraphicsData = 0x3cf, kMiscWrite = 0x3c2, kMiscRead = 0x3cc;
  constexpr uint64_t kMiscellaneous = 6;  // GR06
  if (!port_rules(gen).graphics_6_and_misc) {
    return false;
  }
  uint64_t index = vga.grx;
  for (unsigned i = 0; i < std::min(bytes, 4u); ++i) {
    const uint64_t port = offset + i;
    if (is_write && port == kGraphicsIndex) {
      index = value >> (8 * i) & 0xff;
    }
    if ((port == kGraphicsData && index == kMiscellaneous) || port == (is_write ? kMiscWrite : kMiscRead)) {
      return true;
    }
  }
  return false;
}

}  // namespace

MmioSpace::MmioSpace(const spec::DeviceModel& model, std::shared_ptr<const RegisterMap> map, SteeringConfig steering,
                     EventSink& events, std::string path)
    : generation_(model),
      rule_(generation_.register_access()),
      null_ranges_(spec::null_ranges(generation_.model().id)),
      bank_(std::move(map)),
      wake_(ForceWakeConfig::for_device(model.id)),
      steering_(steering),
      table_registers_(*this),
      events_(events),
      path_(std::move(path)) {
  attach_tables();
}

void MmioSpace::attach_tables() {
  const auto attach = [this](uint32_t offset) {
    const RegisterSlot* slot = bank_.find(offset);
    if (slot != nullptr) {
      bank_.attach(*slot, table_registers_);
    } else if (!Vga::contains(offset)) {
      only_in_tables_.push_back(offset);
    }
  };
  for (uint32_t offset = kVgaFirstPort; offset <= kVgaLastPort; offset += 4) {
    attach(offset);
  }
  if (const spec::WakeTable* table = wake_.config().wake()) {
    for (const spec::WakePort& port : table->ports) {
      attach(port.request);
      attach(port.ack);
    }
  }
  if (const spec::ReplicationTable* table = steering_.config().table) {
    for (const spec::SteeringSelector& selector : table->selectors) {
      attach(selector.offset);
    }
    for (const spec::ReplicationGroup& group : table->groups) {
      if (group.sense != spec::FuseSense::none) {
        attach(group.fuse_register);
      }
    }
  }
}

bool MmioSpace::table_read(uint32_t offset, uint32_t& value) const {
  if (wake_.is_request(offset) || wake_.is_ack(offset)) {
    value = wake_.read(offset);
    return true;
  }
  if (steering_.is_selector(offset)) {
    value = steering_.read_selector(offset);
    return true;
  }
  if (const std::optional<uint32_t> fuses = steering_.fuse_reflection(offset)) {
    value = *fuses;
    return true;
  }
  return false;
}

bool MmioSpace::table_write(uint32_t offset, uint32_t value) {
  if (wake_.is_request(offset)) {
    wake_.write_request(offset, value);
    if (power_ != nullptr) {
      power_->on_wake_request();
    }
    return true;
  }
  if (steering_.is_selector(offset)) {
    steering_.write_selector(offset, value);
    return true;
  }
  return wake_.is_ack(offset) || steering_.fuse_reflection(offset).has_value();  // read-only
}

uint32_t MmioSpace::TableRegisters::on_read(const RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (Vga::contains(slot.offset)) {
    return space_.vga_.read(slot.offset, 4, space_.vga_inputs_);
  }
  uint32_t value = stored;
  space_.table_read(slot.offset, value);
  return value;
}

uint32_t MmioSpace::TableRegisters::on_write(const RegisterWrite& write) {
  if (Vga::contains(write.slot.offset)) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      if ((write.addressed & byte_lanes(byte, 1)) != 0) {
        space_.vga_.write(write.slot.offset + byte, 1, (write.value >> (8 * byte)) & 0xff);
      }
    }
    return 0;
  }
  // A masked register uses its own mask half; others use the written bytes.
  const bool masked = write.slot.policy.masked;
  uint32_t now = 0;
  space_.table_read(write.slot.offset, now);
  space_.table_write(write.slot.offset, masked ? write.value : (now & ~write.addressed) | write.value);
  space_.table_read(write.slot.offset, now);
  return now;
}

bool MmioSpace::reachable(const RegisterSlot& slot, bool is_write, Origin origin) const {
  if (!slot.endpoint) {
    return false;
  }
  if (origin == Origin::command_streamer) {
    return true;  // a running streamer keeps the GT awake; the message network wakes the addressed domain
  }
  for (uint32_t left = is_write ? slot.write_domains : slot.read_domains; left != 0; left &= left - 1) {
    if (!wake_.awake(WakeDomain{static_cast<uint8_t>(std::countr_zero(left))})) {
      return false;
    }
  }
  return true;
}

bool MmioSpace::in_null_range(uint64_t offset) const {
  return std::ranges::any_of(
      null_ranges_, [offset](const spec::MmioRange& range) { return offset >= range.start && offset <= range.end; });
}

uint64_t MmioSpace::read(uint64_t offset, unsigned bytes, Origin origin) {
  if (Vga::contains(static_cast<uint32_t>(std::min<uint64_t>(offset, 0xffff'ffff)))) {
    if (is_port_only(generation_.id(), vga_.state(), offset, bytes, 0, false)) {
      raise(EventKind::undefined_behaviour, "VGA", offset, 0, kPortOnly);
    }
    return vga_.read(static_cast<uint32_t>(offset), std::min(bytes, 4u), vga_inputs_);
  }
  if (bytes == 4 && offset % 4 == 0 && offset <= 0xffff'fffc) [[likely]] {
    return read_dword(static_cast<uint32_t>(offset), origin);
  }
  check_rule(offset, bytes, 0, false);
  uint64_t value = 0;
  for (unsigned done = 0; done < bytes;) {
    const auto in_dword = static_cast<unsigned>((offset + done) % 4);
    const unsigned take = std::min(4 - in_dword, bytes - done);
    const uint64_t dword = read_dword(static_cast<uint32_t>(offset + done - in_dword), origin);
    const uint64_t part = (dword & byte_lanes(in_dword, take)) >> (8 * in_dword);
    value |= part << (8 * done);
    done += take;
  }
  return value;
}

void MmioSpace::write(uint64_t offset, unsigned bytes, uint64_t value, Origin origin) {
  if (Vga::contains(static_cast<uint32_t>(std::min<uint64_t>(offset, 0xffff'ffff)))) {
    if (is_port_only(generation_.id(), vga_.state(), offset, bytes, value, true)) {
      raise(EventKind::undefined_behaviour, "VGA", offset, value, kPortOnly);
    }
    vga_.write(static_cast<uint32_t>(offset), std::min(bytes, 4u), static_cast<uint32_t>(value));
    return;
  }
  if (bytes == 4 && offset % 4 == 0 && offset <= 0xffff'fffc) [[likely]] {
    write_dword(static_cast<uint32_t>(offset), static_cast<uint32_t>(value), kAllLanes, origin);
    return;
  }
  check_rule(offset, bytes, value, true);
  for (unsigned done = 0; done < bytes;) {
    const auto in_dword = static_cast<unsigned>((offset + done) % 4);
    const unsigned take = std::min(4 - in_dword, bytes - done);
    const auto part = static_cast<uint32_t>((value >> (8 * done)) << (8 * in_dword));
    write_dword(static_cast<uint32_t>(offset + done - in_dword), part, byte_lanes(in_dword, take), origin);
    done += take;
  }
}

void MmioSpace::check_rule(uint64_t offset, unsigned bytes, uint64_t value, bool is_write) {
  const bool crosses = bytes <= 4 && offset % 4 + bytes > 4;
  if (!rule_.allows(offset, bytes) || crosses) {
    raise(EventKind::bad_access, {}, offset, value,
          fmt::format("{} of {} bytes split into dwords", verb(is_write), bytes));
  }
}

uint32_t MmioSpace::read_dword(uint32_t offset, Origin origin) {
  const RegisterSlot* slot = bank_.find(offset);
  if (slot == nullptr) [[unlikely]] {
    if (in_null_range(offset)) {
      return 0;
    }
    uint32_t value = 0;
    if (!is_only_in_tables(offset) || !table_read(offset, value)) {
      unclaimed(offset, 0, false);
    }
    return value;
  }
  if (!reachable(*slot, false, origin)) {
    terminated(*slot, 0, false);
    return kTerminatedRead;
  }
  tell_access(*slot);
  if (slot->copies == 1) {
    return bank_.read(*slot);
  }
  const SteeringTargets targets = steering_.targets(offset, false, origin);
  if (targets.terminated()) {
    terminated(*slot, 0, false);
    return kTerminatedRead;
  }
  return bank_.read(*slot, std::min(targets.first(), slot->copies - 1u));
}

void MmioSpace::write_dword(uint32_t offset, uint32_t value, uint32_t lanes, Origin origin) {
  const RegisterSlot* slot = bank_.find(offset);
  if (slot == nullptr) [[unlikely]] {
    if (!in_null_range(offset) && !(is_only_in_tables(offset) && table_write(offset, value & lanes))) {
      unclaimed(offset, value & lanes, true);
    }
    return;
  }
  if (!reachable(*slot, true, origin)) {
    terminated(*slot, value & lanes, true);
    return;
  }
  tell_access(*slot);
  if (slot->policy.writable() == 0) [[unlikely]] {
    raise(EventKind::read_only_write, slot->desc->name, offset, value & lanes, {});
  } else if (const uint32_t wrong = reserved_violation(slot->policy, value, lanes); wrong != 0) [[unlikely]] {
    raise(EventKind::reserved_bits, slot->desc->name, offset, wrong, "write");
  }
  if (slot->copies == 1) {
    bank_.write(*slot, value, lanes);
    return;
  }
  const SteeringTargets targets = steering_.targets(offset, true, origin);
  if (targets.terminated()) {
    terminated(*slot, value & lanes, true);
    return;
  }
  bank_.write(*slot, value, lanes, targets.copies);
}

void MmioSpace::unclaimed(uint32_t offset, uint32_t value, bool is_write) {
  ++unclaimed_[offset];
  const bool reached = wake_.reach(offset, is_write) == Reach::ok;
  raise(reached ? EventKind::unclaimed_register : EventKind::terminated_access, {}, offset, value, verb(is_write));
}

void MmioSpace::terminated(const RegisterSlot& slot, uint32_t value, bool is_write) {
  raise(EventKind::terminated_access, slot.desc->name, slot.offset, value, verb(is_write));
}

void MmioSpace::raise(EventKind kind, std::string_view item, uint64_t offset, uint64_t value, std::string_view detail) {
  events_.on_event({kind, item, path_, offset, value, std::string(detail)});
}

void MmioSpace::reset() {
  bank_.reset();
  wake_.reset();
  steering_.reset();
  vga_.reset();
}

MmioState MmioSpace::state() const {
  return {bank_.state(), wake_.state(), steering_.state(), vga_.state()};
}

void MmioSpace::restore(const MmioState& state) {
  bank_.restore(state.registers);
  wake_.state() = state.wake;
  steering_.state() = state.steering;
  vga_.state() = state.vga;
}

void MmioSpace::report(FidelityReport& report) const {
  bank_.report(report);
  for (const auto& [offset, count] : unclaimed_) {
    report.touch(FidelityKind::reg, fmt::format("{:#x}", offset), FidelityClass::unsupported, "no description", count);
  }
}

}  // namespace halogen::mmio
