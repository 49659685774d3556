#include "device/gtt_port.h"

#include <span>
#include <utility>

#include <fmt/format.h>

namespace halogen::device {

GttPort::GttPort(const Generation& generation, const memory::PhysicalMemory& memory, EventSink& events,
                 std::string path, Changed changed)
    : rule_(generation.gtt_access()),
      entry_bytes_(generation.ggtt_entry_bytes()),
      memory_(memory),
      events_(events),
      path_(std::move(path)),
      changed_(std::move(changed)) {}

// Reports an access that breaks the size rule or lies beyond the end of the table. False: it lies beyond the end.
bool GttPort::check_access(uint64_t offset, unsigned bytes, uint64_t value, std::string_view verb) {
  if (!rule_.allows(offset, bytes)) {
    events_.on_event({EventKind::bad_access,
                      {},
                      path_,
                      offset,
                      value,
                      fmt::format("{} of {} bytes not aligned to an entry", verb, bytes)});
  }
  if (offset < place_.bytes && bytes <= place_.bytes - offset) {
    return true;
  }
  events_.on_event(
      {EventKind::bad_access, {}, path_, offset, value, fmt::format("{} beyond the end of the table", verb)});
  return false;
}

uint64_t GttPort::read(uint64_t offset, unsigned bytes) {
  uint64_t value = 0;
  if (check_access(offset, bytes, 0, "read")) {
    memory_.read(place_.space, PhysAddr(place_.base + offset),
                 std::as_writable_bytes(std::span(&value, 1)).first(bytes));
  }
  return value;
}

void GttPort::write(uint64_t offset, unsigned bytes, uint64_t value) {
  if (!check_access(offset, bytes, value, "write")) {
    return;
  }
  memory_.write(place_.space, PhysAddr(place_.base + offset), std::as_bytes(std::span(&value, 1)).first(bytes));
  changed_(offset / entry_bytes_, (offset + bytes - 1) / entry_bytes_);
}

bool GttPort::write_block(uint64_t offset, std::span<const std::byte> from) {
  if (offset % entry_bytes_ != 0 || from.size() % entry_bytes_ != 0 || offset > place_.bytes ||
      from.size() > place_.bytes - offset) {
    events_.on_event({EventKind::bad_access,
                      {},
                      path_,
                      offset,
                      from.size(),
                      "block not made of whole entries, or beyond the end of the table"});
    return false;
  }
  if (from.empty()) return true;
  memory_.write(place_.space, PhysAddr(place_.base + offset), from);
  changed_(offset / entry_bytes_, (offset + from.size() - 1) / entry_bytes_);
  return true;
}

}  // namespace halogen::device
