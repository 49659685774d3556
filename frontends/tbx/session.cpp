#include "tbx/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bits.h"

namespace halogen::tbx {

using trace::Simulator;
using trace::aub::RegisterSpace;

namespace {

constexpr uint32_t kAllOnes = 0xffff'ffff;
constexpr unsigned kGraphicsDevice = 2;  // bus 0, device 2, function 0

bool is_size(unsigned bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

uint8_t size_code(unsigned bytes) {
  return static_cast<uint8_t>(bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0);
}

}  // namespace

const std::array<Session::Row, 28> Session::kRows{{
    {MessageType::mmio_request, "MMIO", 12, 16, &Session::on_mmio},
    {MessageType::gtt_request, "GTT", 12, 16, &Session::on_gtt},
    {MessageType::write_data, "WRITE_DATA", 12, 16, &Session::on_write_data},
    {MessageType::read_data, "READ_DATA", 12, 16, &Session::on_read_data},
    {MessageType::marker, "MARKER", 0, 64, &Session::on_marker},
    {MessageType::render_end, "REPORT_REND_END", 4, 4, &Session::on_render_end},
    {MessageType::control, "CONTROL", 4, 4, &Session::on_control},
    {MessageType::params, "PARAMS", 0, kMaxBody, nullptr},
    {MessageType::pci_config, "PCICFG", 12, 12, &Session::on_pci_config},
    {MessageType::gtt_params, "GTT_PARAMS", 8, 8, nullptr},
    {MessageType::event, "EVENT", 8, 12, nullptr},
    {MessageType::inner_variable, "INNER_VAR", 12, 12, &Session::on_inner_variable},
    {MessageType::inner_variable_list, "INNER_VAR_LIST", 0, 64, &Session::on_inner_variable_list},
    {MessageType::funny_io, "FUNNY_IO", 12, 12, &Session::on_funny_io},
    {MessageType::io, "IO", 12, 12, &Session::on_io},
    {MessageType::rpc, "RPC", 4, kMaxBody, &Session::on_rpc},
    {MessageType::cache_flush, "CL_FLUSH", 12, 16, &Session::on_cache_flush},
    {MessageType::sync_all_pages, "SYNC_ALL_PAGES", 0, 64, &Session::on_sync_all_pages},
    {MessageType::gd2, "GD2", 0, kMaxBody, nullptr},
    {MessageType::simulation_time, "SIMTIME", 0, 64, nullptr},
    {MessageType::run_list_status, "RL_STATUS", 0, 64, nullptr},
    {MessageType::lock_page, "LOCK_PAGE", 8, 8, nullptr},
    {MessageType::unlock_pages, "UNLOCK_PAGES", 0, 64, nullptr},
    {MessageType::set_untiling, "SET_UNTILING_REORDER", 20, 20, nullptr},
    {MessageType::reset_untiling, "RESET_UNTILING_REORDER", 4, 4, nullptr},
    {MessageType::mmio2_request, "MMIO2", 16, 20, &Session::on_mmio2},
    {MessageType::sideband, "IOSF_SB_DATA", 20, 20, &Session::on_sideband},
    {MessageType::compare_data, "COMPARE_DATA", 12, kMaxCompare + 12, &Session::on_compare_data},
}};

void Session::run() {
  while (next()) ++messages_;
  if (fault_.empty()) fault_ = parts_.channel.fault();
  if (!fault_.empty()) parts_.log(fault_);
}

bool Session::next() {
  parts_.channel.expect_message();
  const size_t got = parts_.channel.read(std::as_writable_bytes(std::span(&header_, 1)));
  if (got == 0) return false;
  if (got != sizeof header_) return lost("the peer closed the connection inside a message header");
  const auto type = static_cast<MessageType>(header_.type);
  const auto row = std::ranges::find(kRows, type, &Row::type);
  if (row == kRows.end()) {
    if (header_.size > kMaxBody) {
      return lost(fmt::format("message {} of type {} claims a body of {} bytes: the stream is out of sync", header_.id,
                              header_.type, header_.size));
    }
    once(fmt::format("type {}", header_.type),
         fmt::format("messages of type {} are unknown and skipped", header_.type));
    return skip(header_.size);
  }
  if (header_.size < row->least || header_.size > row->most) {
    return lost(fmt::format("{} message {} has a body of {} bytes; expected {} to {}", row->name, header_.id,
                            header_.size, row->least, row->most));
  }
  if (!read_body(header_.size)) {
    return lost(fmt::format("the peer closed the connection inside a {} message", row->name));
  }
  if (row->handle == nullptr) {
    once(row->name, fmt::format("{} messages are accepted and have no effect", row->name));
    return true;
  }
  return (this->*row->handle)(body_);
}

bool Session::skip(uint64_t bytes) {
  data_.resize(kPart);
  while (bytes != 0) {
    const auto part = std::span(data_).first(std::min<uint64_t>(bytes, kPart));
    if (parts_.channel.read(part) != part.size()) return lost("the peer closed the connection inside a message");
    bytes -= part.size();
  }
  return true;
}

bool Session::read_body(uint32_t bytes) {
  body_.assign((bytes + 3) / 4, 0);
  return parts_.channel.read(std::as_writable_bytes(std::span(body_)).first(bytes)) == bytes;
}

bool Session::reply(MessageType type, std::span<const uint32_t> body) {
  std::array<uint32_t, 8> words{static_cast<uint32_t>(type), header_.id, static_cast<uint32_t>(body.size_bytes())};
  std::ranges::copy(body, words.begin() + 3);
  return parts_.channel.write(std::as_bytes(std::span(words).first(3 + body.size())));
}

bool Session::lost(std::string sentence) {
  const std::string_view known = parts_.channel.fault();
  fault_ = known.empty() ? std::move(sentence) : std::string(known);
  return false;
}

void Session::once(std::string_view key, std::string_view sentence) {
  if (said_.size() > kMaxNotes || !said_.emplace(key).second) return;
  parts_.log(said_.size() <= kMaxNotes ? sentence : "further notes about its messages are left out");
}

bool Session::use(const std::function<void(Simulator&)>& what) {
  const std::lock_guard lock(parts_.guard);
  if (simulator_ == nullptr) {
    const Result<Simulator*> made = parts_.simulator();
    if (!made) return lost(made.message());
    simulator_ = *made;
  }
  if (parts_.waiting != nullptr) parts_.waiting->end();
  what(*simulator_);
  return true;
}

bool Session::slow_down(uint64_t what, uint64_t found) {
  if (what != repeated_what_ || found != repeated_found_) {
    repeated_what_ = what;
    repeated_found_ = found;
    repeats_ = 0;
    return true;
  }
  ++repeats_;
  const bool is_register = (what & kRegisterRead) != 0;
  use([is_register](Simulator& simulator) {
    if (is_register || simulator.busy()) simulator.advance(kPollTime);
  });
  if (repeats_ <= kFreeRepeats) return true;
  return parts_.channel.pause(std::chrono::milliseconds(std::min(repeats_ / kFreeRepeats, 10u)));
}

// ---- registers

bool Session::access_register(bool write, RegisterSpace space, unsigned device, uint32_t offset, unsigned bytes,
                              uint64_t& value) {
  if (device != 0 || !is_size(bytes)) {
    once("register access", fmt::format("an access of {} bytes to device {} is skipped", bytes, device));
    value = ~uint64_t{0};
    return true;
  }
  if (write) {
    repeated_what_ = ~uint64_t{0};
    return use([&](Simulator& simulator) { simulator.write_register(space, offset, bytes, value); });
  }
  uint64_t found = 0;
  const auto look = [&](Simulator& simulator) {
    const auto read = simulator.read_register(space, offset, bytes);
    found = read.value_or(~uint64_t{0});
    simulator.note(trace::aub::RegisterCompare{offset, !read, size_code(bytes), space, low_mask(8 * bytes), found});
  };
  if (!use(look)) return false;
  value = found;
  return slow_down(kRegisterRead | static_cast<uint64_t>(space) << 40 | offset, found);
}

bool Session::on_mmio(Body body) {
  constexpr std::array kKinds{RegisterSpace::mmio, RegisterSpace::io};
  const uint32_t kind = field(body[0], 8, 6);
  const bool write = bit(body[0], 0);
  uint64_t value = body[2];
  if (kind >= kKinds.size()) {
    once("register kind", fmt::format("accesses to registers of kind {} are skipped", kind));
    value = kAllOnes;
  } else if (!access_register(write, kKinds[kind], field(body[0], 5, 4), body[1], field(body[0], 3, 1), value)) {
    return false;
  }
  return write || reply(MessageType::mmio_reply, std::array{static_cast<uint32_t>(value)});
}

bool Session::on_mmio2(Body body) {
  const bool write = bit(body[0], 0);
  uint64_t value = body[2] | uint64_t{body[3]} << 32;
  if (field(body[0], 10, 8) != 0 || field(body[0], 13, 11) != 0) {
    once("register kind", "accesses to registers of another kind or function are skipped");
    value = ~uint64_t{0};
  } else if (!access_register(write, RegisterSpace::mmio, field(body[0], 7, 6), body[1], field(body[0], 5, 1), value)) {
    return false;
  }
  return write ||
         reply(MessageType::mmio2_reply, std::array{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
}

bool Session::on_pci_config(Body body) {
  const bool write = bit(body[0], 0);
  const bool ours =
      field(body[0], 11, 4) == 0 && field(body[0], 16, 12) == kGraphicsDevice && field(body[0], 19, 17) == 0;
  uint64_t value = body[2];
  const unsigned bytes = field(body[0], 3, 1);
  if (!ours || bytes > 4) {
    value = kAllOnes;
  } else if (!access_register(write, RegisterSpace::pci_config, 0, body[1], bytes, value)) {
    return false;
  }
  return write || reply(MessageType::pci_config_reply, std::array{static_cast<uint32_t>(value)});
}

bool Session::on_io(Body body) {
  const bool write = bit(body[0], 0);
  uint64_t value = body[2];
  if (!access_register(write, RegisterSpace::io, field(body[0], 2, 1), body[1], field(body[0], 31, 29), value)) {
    return false;
  }
  return write || reply(MessageType::io_reply, std::array{static_cast<uint32_t>(value)});
}

bool Session::on_funny_io(Body body) {
  once("FUNNY_IO", "FUNNY_IO messages read all ones");
  return bit(body[0], 0) || reply(MessageType::funny_io_reply, std::array{kAllOnes});
}

// ---- the simulator

bool Session::on_marker(Body /*body*/) {
  return reply(MessageType::marker_reply, {});
}

bool Session::on_render_end(Body /*body*/) {
  bool settled = false;
  if (!use([&](Simulator& simulator) { settled = simulator.finish(); })) return false;
  return reply(MessageType::render_end_reply, std::array{uint32_t{!settled}});
}

bool Session::on_control(Body body) {
  const uint32_t set = body[0] & body[0] >> 16;
  if ((set & (kControlReset | kControlFullReset)) != 0) {
    return use([&](Simulator& simulator) { simulator.reset(); });
  }
  if ((set & kControlFlush) != 0 && !use([](Simulator& simulator) { simulator.finish(); })) return false;
  return (set & kControlQuit) == 0;
}

bool Session::on_inner_variable(Body body) {
  once("INNER_VAR", "INNER_VAR messages read zero: there are no variables");
  return bit(body[0], 0) || reply(MessageType::inner_variable_reply, std::array{0u});
}

bool Session::on_inner_variable_list(Body /*body*/) {
  return reply(MessageType::inner_variable_list_reply, std::array{0u});
}

bool Session::on_rpc(Body /*body*/) {
  return lost("an RPC message: remote procedure calls are not supported");
}

bool Session::on_cache_flush(Body /*body*/) {
  return reply(MessageType::cache_flush_reply, std::array{0u});
}

bool Session::on_sync_all_pages(Body /*body*/) {
  return reply(MessageType::sync_all_pages_reply, {});
}

bool Session::on_sideband(Body body) {
  once("IOSF_SB_DATA", "IOSF_SB_DATA messages read zero: no sideband device is modelled");
  return reply(MessageType::sideband_reply, std::array{body[0], body[1], 0u, 0u, body[4]});
}

}  // namespace halogen::tbx
