#include "serve_call.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "call_shapes.h"
#include "protocol.h"

namespace halogen::shim {
namespace {

// Writes the results of a call. Returns the number of bytes, or 0 if they do not fit.
size_t encode(std::span<std::byte> area, AnswerHead head, const driver::ForeignCall* call) {
  PartWriter writer(area);
  const bool incomplete = call != nullptr && call->is_incomplete();
  const bool failed = head.result < 0;
  if (call != nullptr && !incomplete) head.writes = static_cast<uint32_t>(call->writes().size());
  if (call != nullptr && !incomplete && !failed) head.made = static_cast<uint32_t>(call->made().size());
  if (incomplete) head.missing = static_cast<uint32_t>(call->missing().size());
  if (incomplete) head.wanted = static_cast<uint32_t>(call->wanted().size());
  bool fits = writer.add(head);
  if (call == nullptr) {
    if (head.made != 0) fits = fits && writer.add(MadeHead{});  // the file of a mapping
    return fits ? writer.used() : 0;
  }
  for (uint32_t i = 0; i < head.made; ++i) {
    const auto& [descriptor, position] = call->made()[i];
    const int flags = fcntl(descriptor, F_GETFD);
    fits = fits && writer.add(MadeHead{position, flags >= 0 && (flags & FD_CLOEXEC) == 0 ? 1u : 0u});
  }
  if (incomplete) {
    for (const int number : call->wanted()) fits = fits && writer.add(int32_t{number});
    for (const auto& [address, bytes] : call->missing()) fits = fits && writer.add(PartHead{address, bytes});
    return fits ? writer.used() : 0;
  }
  for (const auto& [place, start] : call->writes()) {
    const std::span<std::byte> into = writer.add_part(place.address, place.bytes);
    fits = fits && into.size() == place.bytes;
    if (!fits) return 0;
    std::memcpy(into.data(), call->written_bytes().data() + start, place.bytes);
  }
  return fits ? writer.used() : 0;
}

// Reads a stream of performance counters, or performs an ioctl on it. EIO: it is not a stream of this device.
int perform_on_stream(driver::Driver& driver, const RequestHead& head, int stream) {
  constexpr unsigned kStreamIoctls = 'i';
  if (head.ask == Ask::read_stream) return driver.read_stream(stream, head.argument, head.request);
  if (_IOC_TYPE(head.request) != kStreamIoctls) return -ENOTTY;
  return driver.descriptor_ioctl(stream, head.request, head.argument).value_or(-EIO);
}

std::vector<driver::ForeignCall::Piece> pieces_of(const Request& request) {
  std::vector<driver::ForeignCall::Piece> pieces;
  pieces.reserve(request.pieces.size());
  for (const Part& part : request.pieces) pieces.push_back({part.address, part.bytes});
  return pieces;
}

// Pairs the client's numbers with the received descriptors. No value: their counts differ.
std::optional<std::vector<driver::ForeignCall::Passed>> passed_with(const Request& request,
                                                                    std::span<const int> received) {
  std::vector<driver::ForeignCall::Passed> passed;
  size_t next = 0;
  for (uint32_t i = 0; i < request.head.passed; ++i) {
    const PassedNumber& each = request.head.numbers[i];
    if (each.is_open != 0 && next == received.size()) return std::nullopt;
    passed.push_back({each.number, each.is_open != 0 ? received[next++] : -1});
  }
  return next == received.size() ? std::optional(std::move(passed)) : std::nullopt;
}

}  // namespace

ServedCall::~ServedCall() {
  if (file_ >= 0) close(file_);
}

void ServedCall::fail(int error, std::span<std::byte> answer) {
  call_.reset();
  made_.clear();
  bytes_ = encode(answer, {.result = error}, nullptr);
}

bool ServedCall::perform(driver::Driver& driver, driver::File& file, const driver::ForeignCaller& caller,
                         std::span<std::byte> request, std::span<const int> received, std::span<std::byte> answer) {
  const std::optional<Request> decoded = decode_request(request);
  if (!decoded) return false;
  auto passed = passed_with(*decoded, received);
  if (!passed) return false;
  passed_ = std::move(*passed);
  const RequestHead& head = decoded->head;
  AnswerHead result;
  if (head.ask == Ask::ioctl) {
    if (!has_known_shape(head.request)) {
      fail(-EINVAL, answer);
      return true;
    }
    call_.emplace(caller, head.argument, pieces_of(*decoded), passed_);
    result.result = driver.ioctl(file, head.request, head.argument, head.no_wait != 0);
    if (result.result >= 0 && !call_->is_incomplete()) {
      for (const auto& each : call_->made()) made_.push_back(each.descriptor);
    }
  } else if (head.ask == Ask::read_stream || head.ask == Ask::stream_ioctl) {
    if (passed_.size() != 1 || passed_[0].descriptor < 0) {
      fail(-EBADF, answer);
      return true;
    }
    call_.emplace(caller, head.argument, pieces_of(*decoded), passed_);
    result.result = perform_on_stream(driver, head, passed_[0].descriptor);
  } else {
    driver::Mapping mapping;
    const driver::ForeignCall of_client(caller, head.argument, {}, {});
    result.result = head.ask == Ask::map ? driver.map(file, head.argument, head.request, mapping)
                                         : driver.map_buffer(file, head.handle, head.argument, head.request, mapping);
    result.offset = mapping.offset;
    if (result.result >= 0) {
      file_ = mapping.descriptor;
      made_.push_back(file_);
      result.made = 1;
    }
  }
  bytes_ = encode(answer, result, call_ ? &*call_ : nullptr);
  if (bytes_ == 0) fail(-ENOMEM, answer);
  return true;
}

}  // namespace halogen::shim
