#include "compute/payload.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bits.h"
#include "compute/media_walk.h"

namespace halogen::compute {
namespace {

constexpr size_t kPayloadGrf = 1;  // behind r0
constexpr uint32_t kKib = 1024;

void put(eu::Thread& thread, size_t dword, uint32_t value) {
  std::memcpy(thread.grf.data() + dword * sizeof(value), &value, sizeof(value));
}

void put_header(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                eu::Thread& thread) {
  const size_t place = job.shared_grfs * eu::kGrfBytes + group[0] * sizeof(MediaPosition);
  if (job.media && place + sizeof(MediaPosition) <= job.constants.size()) {  // of a walk: two words
    std::memcpy(thread.grf.data() + sizeof(uint32_t), job.constants.data() + place, sizeof(MediaPosition));
  } else if (job.media) {
    put(thread, 1, eu::HeaderPositionBits::kX.put(job.position[0]) | eu::HeaderPositionBits::kY.put(job.position[1]));
  } else {
    put(thread, 1, group[0]);
    put(thread, 6, group[1]);
    put(thread, 7, group[2]);
  }
  put(thread, 3,
      (job.sampler_table & eu::HeaderSamplersBits::kPointer.mask()) |
          eu::HeaderSamplersBits::kScratchSize.put(settings.scratch_code));
  put(thread, 4, job.binding_table & eu::HeaderTableBits::kPointer.mask());
  const uint64_t scratch = settings.scratch_base + (uint64_t{slot} * kKib << settings.scratch_code);
  put(thread, 5,
      (static_cast<uint32_t>(scratch) & eu::HeaderScratchBits::kPointer.mask()) |
          eu::HeaderScratchBits::kThread.put(slot));
}

void put_constants(const Job& job, uint32_t number, eu::Thread& thread) {
  constexpr size_t kRoom_B = (eu::kGrfs - kPayloadGrf) * eu::kGrfBytes;
  const std::span<const std::byte> all(job.constants);
  const size_t shared_B = job.shared_grfs * eu::kGrfBytes;
  const size_t own_B = job.thread_grfs * eu::kGrfBytes;
  const std::span shared = all.first(shared_B);
  const std::span own = all.subspan(shared_B + number * own_B, own_B);
  size_t at = 0;
  for (const std::span<const std::byte> part : {job.own_first ? own : shared, job.own_first ? shared : own}) {
    const size_t take = std::min(part.size(), kRoom_B - at);
    if (take == 0) {
      continue;
    }
    std::memcpy(thread.grf.data() + kPayloadGrf * eu::kGrfBytes + at, part.data(), take);
    at += take;
  }
}

uint32_t mask_of(const Job& job, uint32_t number) {
  auto mask = static_cast<uint32_t>(low_mask(job.simd));  // those of a media thread are all enabled
  if (number % job.threads[0] == job.threads[0] - 1) {
    mask &= job.right_mask;
  }
  if (number / job.threads[0] % job.threads[1] == job.threads[1] - 1) {
    mask &= job.bottom_mask;
  }
  return mask;
}

}  // namespace

uint32_t fill_thread(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                     uint32_t number, eu::Thread& thread) {
  thread = {};
  put_header(settings, job, group, slot, thread);
  put_constants(job, number, thread);
  thread.control[0] = job.control;
  thread.control[1] = job.exceptions;
  if (settings.system_routine != 0) {
    thread.sip = static_cast<uint32_t>(settings.system_routine);
  }
  thread.number = number;
  const uint32_t mask = mask_of(job, number);
  thread.start(static_cast<uint32_t>(job.kernel), mask);
  return mask;
}

}  // namespace halogen::compute
