// Memory shared by the owner of a device and one client. Calls and answers go through it, so that neither needs a
// system call while the other is awake. A side that does not see its counterpart within a short time sets a flag,
// sleeps in the channel's socket and is woken by a message of one byte. Descriptors travel in messages on the same
// socket.
//
// The owner creates the file and seals its size. It copies a request before it looks at it, and uses no value of the
// memory as an index, a length or an address without a bound.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "message.h"
#include "protocol.h"

namespace halogen::shim {

class Board {
 public:
  static constexpr size_t kHeadBytes = 4096;
  static constexpr size_t kBytes = kHeadBytes + kMaxRequestBytes + kMaxAnswerBytes;

  // Creates the file, whose descriptor the caller closes. Null: the host refused.
  static std::unique_ptr<Board> create(int& descriptor);
  // Maps the file of an owner. Null: not such a file, or the host refused.
  static std::unique_ptr<Board> open(int descriptor);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // ---- for the client
  std::span<std::byte> request_area() const { return {memory_ + kHeadBytes, kMaxRequestBytes}; }
  // Makes the call whose first `bytes` are in the area. `passed`: descriptors. Returns the answer, which the owner
  // could change at any time, and the descriptors that came with it. No value: the channel failed, for example because
  // the owner has exited or closed it.
  std::optional<std::span<std::byte>> ask(int channel, size_t bytes, std::span<const int> passed,
                                          Descriptors& received);

  // ---- for the owner
  // Waits for a call and receives its descriptors. False: the channel is closed or its client broke the protocol.
  bool next(int channel, const Sender& client, Descriptors& received);
  size_t request_bytes() const { return request_bytes_; }  // of that call
  void copy_request(std::vector<std::byte>& into) const;
  void drop_answer();  // frees the pages of the last answer if they are many
  std::span<std::byte> answer_area() const { return {memory_ + kHeadBytes + kMaxRequestBytes, kMaxAnswerBytes}; }
  bool reply(int channel, size_t bytes, std::span<const int> made);

 private:
  struct Head {
    std::atomic<uint32_t> asked = 0;  // number of calls so far
    std::atomic<uint32_t> answered = 0;
    std::atomic<uint32_t> server_sleeps = 0;
    std::atomic<uint32_t> caller_sleeps = 0;
    std::atomic<uint32_t> request_bytes = 0;
    std::atomic<uint32_t> request_descriptors = 0;  // in a message that was sent before
    std::atomic<uint32_t> answer_bytes = 0;
    std::atomic<uint32_t> answer_descriptors = 0;
  };
  static_assert(sizeof(Head) <= kHeadBytes);
  static_assert(std::atomic<uint32_t>::is_always_lock_free);

  explicit Board(std::byte* memory) : memory_(memory) {}
  static std::byte* map(int descriptor);
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  bool collect(int channel, uint32_t expected, const Sender* sender, Descriptors& received) const;

  std::byte* memory_;
  uint32_t seen_ = 0;  // the last call that was taken
  size_t request_bytes_ = 0;
  size_t answer_bytes_ = 0;
};

}  // namespace halogen::shim
