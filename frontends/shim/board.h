// A page shared by the process with the device and a calling process. Calls and replies without descriptors go through
// it, so that neither needs a system call while the other is awake. A side that does not see its counterpart within a
// short time sets a flag, sleeps in the channel's socket and is woken by a message of one byte.
//
// The caller copies its argument beside the call, so that it need not be read from its memory. The content is never
// trusted.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "driver/hw/known_memory.h"

namespace halogen::shim {

enum class Ask : uint32_t { ioctl, map, map_buffer, board };

struct RemoteCall {
  Ask ask = Ask::ioctl;
  uint32_t handle = 0;    // map_buffer
  uint64_t request = 0;   // ioctl; map: bytes
  uint64_t argument = 0;  // map: offset
  uint32_t no_wait = 0;   // ioctl: the node has O_NONBLOCK
};
struct RemoteAnswer {
  int64_t result = 0;
  uint64_t offset = 0;  // map
};

struct Board {
  static constexpr size_t kBytes = 4096;
  static constexpr size_t kPieceBytes = 3584;  // bytes of the caller's memory, for all pieces

  // Creates a page in an anonymous file, whose descriptor the caller closes, or maps the page of a descriptor. Null:
  // the host refused.
  static Board* create(int& descriptor);
  static Board* open(int descriptor);
  static void close(Board* board);

  // Used by the caller: adds a part of its memory, makes the call. False: the process with the device has exited.
  void add_piece(uint64_t address, size_t bytes);
  bool ask(int channel, const RemoteCall& call, RemoteAnswer& answer);
  void note_message() { messages.fetch_add(1); }  // a call was sent through the socket
  // Used by the process with the device. Empty: a message is in the channel, or the channel is closed.
  std::optional<RemoteCall> next(int channel, uint32_t& calls, uint32_t& seen_messages);
  std::array<driver::KnownMemory, 2> pieces_now() const;
  bool reply(int channel, const RemoteAnswer& given);

  std::atomic<uint32_t> asked = 0;  // number of calls so far
  std::atomic<uint32_t> answered = 0;
  std::atomic<uint32_t> messages = 0;
  std::atomic<uint32_t> server_sleeps = 0;
  std::atomic<uint32_t> caller_sleeps = 0;
  uint32_t piece_count = 0;
  struct Piece {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  std::array<Piece, 2> pieces{};
  RemoteCall call{};
  RemoteAnswer answer{};
  std::array<std::byte, kPieceBytes> content{};  // of the pieces, consecutive
};
static_assert(sizeof(Board) <= Board::kBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr char kWake = 'w';  // the wake-up message

}  // namespace halogen::shim
