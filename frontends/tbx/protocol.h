// The TBX protocol with the names of Intel's public headers (compute-runtime and aubstream, tbx_proto.h): little-endian
// dwords over a stream. A message is a header and a body; only WRITE_DATA and COMPARE_DATA have a payload that the
// header's size does not count.
#pragma once

#include <cstdint>

#include "base/bits.h"

namespace halogen::tbx {

enum class MessageType : uint32_t {
  mmio_request = 0,
  mmio_reply = 1,
  gtt_request = 2,
  gtt_reply = 3,
  write_data = 4,
  read_data = 5,
  read_data_reply = 6,
  marker = 7,
  marker_reply = 8,
  render_end = 9,
  render_end_reply = 10,
  control = 11,
  params = 12,
  params_reply = 13,
  pci_config = 14,
  pci_config_reply = 15,
  gtt_params = 16,
  event = 17,
  inner_variable = 18,
  inner_variable_reply = 19,
  inner_variable_list = 20,
  inner_variable_list_reply = 21,
  funny_io = 22,
  funny_io_reply = 23,
  io = 24,
  io_reply = 25,
  rpc = 26,
  rpc_reply = 27,
  cache_flush = 28,
  cache_flush_reply = 29,
  sync_all_pages = 30,
  sync_all_pages_reply = 31,
  gd2 = 32,
  simulation_time = 33,
  run_list_status = 34,
  lock_page = 35,
  unlock_pages = 36,
  set_untiling = 37,
  reset_untiling = 38,
  mmio2_request = 39,
  mmio2_reply = 40,
  sideband = 41,
  sideband_reply = 42,
  compare_data = 43,
  compare_data_reply = 44,
};

// Returns bits of one dword of a message body.
inline uint32_t field(uint32_t word, unsigned hi, unsigned lo) {
  return static_cast<uint32_t>(bits(word, hi, lo));
}

struct Header {
  uint32_t type = 0;
  uint32_t id = 0;    // of the transaction; a reply repeats it
  uint32_t size = 0;  // of the body
};
static_assert(sizeof(Header) == 12);

// Bits of CONTROL; the same bits 16 higher are the mask.
inline constexpr uint32_t kControlReset = 1u << 0, kControlQuit = 1u << 6, kControlFullReset = 1u << 9,
                          kControlFlush = 1u << 12;

// Memory types of WRITE_DATA and READ_DATA.
inline constexpr uint32_t kSystemMemory = 0, kLocalMemory = 1;

// The address at which a client looks for local memory if its BAR reads zero (aubstream's front door).
inline constexpr uint64_t kDefaultLocalWindow = 0x000f'fff0'0000'0000;

}  // namespace halogen::tbx
