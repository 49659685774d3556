#include "board.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>

#include "driver/gem/user_memory.h"

namespace halogen::shim {
namespace {

constexpr std::chrono::microseconds kPollTime{50};

// Polls briefly for a condition that another processor can make true.
template <class Condition>
bool look_for(const Condition& condition) {
  static const bool alone = std::thread::hardware_concurrency() < 2;
  if (condition()) return true;
  if (alone) return false;
  constexpr unsigned kLooks = 64;  // polls between two reads of the clock
  const auto end = std::chrono::steady_clock::now() + kPollTime;
  do {
    for (unsigned look = 0; look < kLooks; ++look) {
      if (condition()) return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

bool wake(int channel) {
  ssize_t sent = -1;
  do {
    sent = send(channel, &kWake, 1, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

}  // namespace

Board* Board::create(int& descriptor) {
  descriptor = memfd_create("halogen board", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, kBytes) != 0) return nullptr;
  Board* const board = open(descriptor);
  return board == nullptr ? nullptr : new (board) Board;
}

Board* Board::open(int descriptor) {
  if (lseek(descriptor, 0, SEEK_END) != static_cast<off_t>(kBytes)) return nullptr;
  void* const place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (place == MAP_FAILED) return nullptr;
  madvise(place, kBytes, MADV_DONTFORK);  // a child has its own channels
  return static_cast<Board*>(place);
}

void Board::close(Board* board) {
  if (board != nullptr) munmap(board, kBytes);
}

void Board::add_piece(uint64_t address, size_t bytes) {
  const uint64_t used = piece_count == 0 ? 0 : pieces[0].bytes;
  if (bytes == 0 || piece_count == pieces.size() || used > kPieceBytes || bytes > kPieceBytes - used) return;
  if (driver::read_user(address, content.data() + used, bytes)) pieces[piece_count++] = {address, bytes};
}

bool Board::ask(int channel, const RemoteCall& its_call, RemoteAnswer& its_answer) {
  call = its_call;
  const uint32_t number = asked.fetch_add(1) + 1;
  if (server_sleeps.load() != 0 && !wake(channel)) return false;
  const auto is_answered = [&] { return answered.load() == number; };
  while (!look_for(is_answered)) {
    caller_sleeps.store(1);
    char word = 0;
    // Signals are handled here: the call itself cannot be interrupted.
    const ssize_t got = is_answered() ? 1 : recv(channel, &word, 1, 0);
    caller_sleeps.store(0);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
  }
  its_answer = answer;
  piece_count = 0;
  return true;
}

std::optional<RemoteCall> Board::next(int channel, uint32_t& calls, uint32_t& seen_messages) {
  const auto is_there = [&] { return asked.load() != calls || messages.load() != seen_messages; };
  while (!look_for(is_there)) {
    server_sleeps.store(1);
    char word = kWake;
    const ssize_t got = is_there() ? 1 : recv(channel, &word, 1, MSG_PEEK);
    server_sleeps.store(0);
    if (is_there()) break;
    if (got != 1 || word != kWake) {
      if (got < 0 && errno == EINTR) continue;
      return std::nullopt;
    }
    recv(channel, &word, 1, MSG_DONTWAIT);  // an old wake-up
  }
  if (asked.load() == calls) {
    seen_messages = messages.load();
    return std::nullopt;
  }
  ++calls;
  return call;
}

std::array<driver::KnownMemory, 2> Board::pieces_now() const {
  std::array<driver::KnownMemory, 2> known{};
  uint64_t used = 0;
  for (size_t i = 0; i < std::min<size_t>(piece_count, known.size()); ++i) {
    const Piece piece = pieces[i];
    if (piece.bytes > kPieceBytes - used) break;
    known[i] = {piece.address, std::span(content).subspan(used, piece.bytes)};
    used += piece.bytes;
  }
  return known;
}

bool Board::reply(int channel, const RemoteAnswer& given) {
  answer = given;
  answered.store(asked.load());
  return caller_sleeps.load() == 0 || wake(channel);
}

}  // namespace halogen::shim
