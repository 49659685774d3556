#include "board.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "driver/share/sealed_file.h"

namespace halogen::shim {
namespace {

constexpr std::chrono::microseconds kPollTime{50};

// Polls briefly for a condition that another CPU can make true.
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
  return send_message(channel, &kWake, sizeof kWake, {}, Wait::never);
}

}  // namespace

std::byte* Board::map(int descriptor) {
  void* const place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (place == MAP_FAILED) return nullptr;
  madvise(place, kBytes, MADV_DONTFORK);  // a child has its own channels
  return static_cast<std::byte*>(place);
}

std::unique_ptr<Board> Board::create(int& descriptor) {
  descriptor = driver::create_sealed_file("halogen board", kBytes);
  std::byte* const memory = descriptor < 0 ? nullptr : map(descriptor);
  if (memory == nullptr) return nullptr;
  new (memory) Head;
  return std::unique_ptr<Board>(new Board(memory));
}

std::unique_ptr<Board> Board::open(int descriptor) {
  struct stat info {};
  if (!driver::is_sealed_file(descriptor)) return nullptr;
  if (syscall(SYS_fstat, descriptor, &info) != 0 || info.st_size != static_cast<off_t>(kBytes)) return nullptr;
  std::byte* const memory = map(descriptor);
  return memory == nullptr ? nullptr : std::unique_ptr<Board>(new Board(memory));
}

Board::~Board() {
  munmap(memory_, kBytes);
}

// Receives the message with descriptors that belongs to a call or an answer, unless it came before. Wake-ups of former
// calls may precede it. A message from another process than the one of the channel is a violation.
bool Board::collect(int channel, uint32_t expected, const Sender* sender, Descriptors& received) const {
  while (received.size() < expected) {
    char word = 0;
    Sender from;
    if (receive_message(channel, &word, sizeof word, received, &from, Wait::sleeping) != sizeof word) return false;
    if (sender != nullptr && from.process != sender->process) return false;
    if (word == kDescriptors && received.size() != expected) return false;
    if (word != kDescriptors && received.size() != 0) return false;
  }
  return received.size() == expected;
}

std::optional<std::span<std::byte>> Board::ask(int channel, size_t bytes, std::span<const int> passed,
                                               Descriptors& received) {
  if (!passed.empty() && !send_message(channel, &kDescriptors, sizeof kDescriptors, passed, Wait::sleeping)) {
    return std::nullopt;
  }
  head().request_bytes.store(static_cast<uint32_t>(bytes));
  head().request_descriptors.store(static_cast<uint32_t>(passed.size()));
  const uint32_t number = head().asked.fetch_add(1) + 1;
  if (head().server_sleeps.load() != 0 && !wake(channel)) return std::nullopt;
  const auto is_answered = [&] { return head().answered.load() == number; };
  while (!look_for(is_answered)) {
    head().caller_sleeps.store(1);
    char word = 0;
    // Signals are handled here, because the call itself cannot be interrupted.
    const ssize_t got =
        is_answered() ? 1 : receive_message(channel, &word, sizeof word, received, nullptr, Wait::sleeping);
    head().caller_sleeps.store(0);
    if (got != 1) return std::nullopt;
  }
  if (!collect(channel, std::min<uint32_t>(head().answer_descriptors.load(), kMaxPassed), nullptr, received)) {
    return std::nullopt;
  }
  return answer_area().first(std::min<size_t>(head().answer_bytes.load(), kMaxAnswerBytes));
}

bool Board::next(int channel, const Sender& client, Descriptors& received) {
  received.close_all();
  const auto is_there = [&] { return head().asked.load() != seen_; };
  while (!look_for(is_there)) {
    head().server_sleeps.store(1);
    char word = 0;
    Sender from;
    const ssize_t got = is_there() ? 0 : receive_message(channel, &word, sizeof word, received, &from, Wait::sleeping);
    head().server_sleeps.store(0);
    if (is_there()) break;
    if (got != sizeof word || from.process != client.process || received.size() > kMaxPassed) return false;
    if (word == kWake && received.size() != 0) return false;
  }
  seen_ = head().asked.load();
  const uint32_t bytes = head().request_bytes.load(), descriptors = head().request_descriptors.load();
  if (bytes > kMaxRequestBytes || descriptors > kMaxPassed || received.size() > descriptors) return false;
  request_bytes_ = bytes;
  return collect(channel, descriptors, &client, received);
}

void Board::copy_request(std::vector<std::byte>& into) const {
  const std::span<std::byte> area = request_area().first(request_bytes_);
  into.assign(area.begin(), area.end());
}

void Board::drop_answer() {
  constexpr size_t kKept = size_t{256} << 10;
  if (answer_bytes_ > kKept) madvise(answer_area().data(), kMaxAnswerBytes, MADV_REMOVE);
  answer_bytes_ = 0;
}

bool Board::reply(int channel, size_t bytes, std::span<const int> made) {
  answer_bytes_ = bytes;
  head().answer_bytes.store(static_cast<uint32_t>(bytes));
  head().answer_descriptors.store(static_cast<uint32_t>(made.size()));
  if (!made.empty() && !send_message(channel, &kDescriptors, sizeof kDescriptors, made, Wait::never)) return false;
  head().answered.store(seen_);
  return head().caller_sleeps.load() == 0 || wake(channel);
}

}  // namespace halogen::shim
