#include "driver/gem/foreign_call.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "driver/gem/user_memory.h"

namespace halogen::driver {
namespace {

constinit thread_local ForeignCall* the_call = nullptr;

}  // namespace

ForeignCall::ForeignCall(const ForeignCaller& caller, uint64_t argument, std::vector<Piece> pieces,
                         std::span<const Passed> passed)
    : before_(the_call), caller_(caller), argument_(argument), pieces_(std::move(pieces)), passed_(passed) {
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& one, const Piece& two) {
    return std::pair(one.address, one.bytes.size()) < std::pair(two.address, two.bytes.size());
  });
  the_call = this;
}

ForeignCall::~ForeignCall() {
  the_call = before_;
  forget_results();
}

ForeignCall* ForeignCall::current() {
  return the_call;
}

// Looks in one piece only: the last that starts at or before the address. A range that overlapping pieces hide counts
// as missing and then comes as a piece of its own.
std::byte* ForeignCall::find(uint64_t address, uint64_t bytes) {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                      [](uint64_t wanted, const Piece& piece) { return wanted < piece.address; });
  if (after == pieces_.begin()) return nullptr;
  const Piece& piece = *std::prev(after);
  const uint64_t start = address - piece.address;
  if (start > piece.bytes.size() || bytes > piece.bytes.size() - start) return nullptr;
  return piece.bytes.data() + start;
}

bool ForeignCall::has(uint64_t address, uint64_t bytes) {
  if (bytes == 0 || find(address, bytes) != nullptr) return true;
  if (missing_.size() < kMaxMissing) missing_.push_back({address, bytes});
  return false;
}

bool ForeignCall::read(uint64_t address, void* into, size_t bytes) {
  if (!has(address, bytes)) return false;
  if (bytes != 0) std::memcpy(into, find(address, bytes), bytes);
  return true;
}

bool ForeignCall::write(uint64_t address, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  if (writes_.size() >= kMaxWrites || bytes > kMaxWrittenBytes - written_.size()) return false;
  const auto* const start = static_cast<const std::byte*>(from);
  writes_.push_back({{address, bytes}, written_.size()});
  written_.insert(written_.end(), start, start + bytes);
  if (std::byte* const copy = find(address, bytes)) std::memcpy(copy, from, bytes);
  return true;
}

int ForeignCall::descriptor(int number) {
  if (number < 0) return -1;
  for (const Passed& each : passed_) {
    if (each.number == number) return each.descriptor;
  }
  if (wanted_.size() < kMaxMissing) wanted_.push_back(number);
  return -1;
}

bool ForeignCall::give(int descriptor, uint64_t position) {
  if (made_.size() >= kMaxMade) return false;
  made_.push_back({descriptor, position});
  return true;
}

void ForeignCall::forget_results() {
  for (const Made& each : made_) close(each.descriptor);
  made_.clear();
  writes_.clear();
  written_.clear();
  missing_.clear();
  wanted_.clear();
}

int descriptor_of_program(int number) {
  return the_call != nullptr ? the_call->descriptor(number) : number;
}

int give_in_argument(int descriptor, size_t position) {
  if (the_call == nullptr || descriptor < 0) return descriptor;
  if (the_call->give(descriptor, the_call->argument() + position)) return 0;  // the caller inserts its own number
  close(descriptor);
  return -EMFILE;
}

int give_at(int descriptor, uint64_t address) {
  if (descriptor < 0) return descriptor;
  if (the_call != nullptr) {
    if (the_call->give(descriptor, address)) return 0;
  } else if (write_user(address, &descriptor, sizeof descriptor)) {
    return 0;
  }
  close(descriptor);
  return the_call != nullptr ? -EMFILE : -EFAULT;
}

int give_as_result(int descriptor) {
  constexpr uint64_t kResult = 0;  // no address
  return the_call == nullptr ? descriptor : give_at(descriptor, kResult);
}

void take_back(int descriptor, uint64_t address) {
  if (the_call != nullptr) return;  // the front end closes the descriptors of a call that failed
  const int none = -1;
  static_cast<void>(write_user(address, &none, sizeof none));
  close(descriptor);
}

}  // namespace halogen::driver
