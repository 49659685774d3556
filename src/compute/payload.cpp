#include "compute/payload.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bits.h"
#include "compute/media_walk.h"
#include "hw/thread_payloads.h"
#include "message/thread_payload.h"

namespace halogen::compute {
namespace {

constexpr size_t kPayloadGrf = 1;  // after r0
constexpr uint32_t kKib = 1024;

using message::put_payload;

void put_header(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                eu::Thread& thread) {
  const size_t offset = job.shared_grfs * eu::kGrfBytes + group[0] * sizeof(MediaPosition);
  if (job.media &&
      offset + sizeof(MediaPosition) <= job.constants.size()) {  // a walk has its positions after the constants
    std::memcpy(thread.grf.data() + hw::MEDIA_POSITION::kDword * sizeof(uint32_t), job.constants.data() + offset,
                sizeof(MediaPosition));
  } else if (job.media) {
    put_payload(thread, hw::MEDIA_POSITION{.x = static_cast<uint16_t>(job.position[0]),
                                           .y = static_cast<uint16_t>(job.position[1])});
  } else {
    put_payload(thread, hw::COMPUTE_GROUP_X{.x = group[0]});
    put_payload(thread, hw::COMPUTE_GROUP_YZ{.y = group[1], .z = group[2]});
  }
  if (job.descriptor != 0) {
    put_payload(thread, hw::MEDIA_DESCRIPTOR{.pointer = static_cast<uint32_t>(job.descriptor)});
  }
  put_payload(thread,
              hw::THREAD_STATE{.scratch_size = static_cast<uint8_t>(settings.scratch_code),
                               .sampler_table = job.sampler_table,
                               .binding_table = job.binding_table,
                               .thread = static_cast<uint16_t>(slot),
                               .scratch = settings.scratch_base + (uint64_t{slot} * kKib << settings.scratch_code)});
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
  auto mask = static_cast<uint32_t>(low_mask(job.simd));  // all channels of a media thread are enabled
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
  thread.number = number;
  const uint32_t mask = mask_of(job, number);
  start_thread(settings, job, job.media ? slot : 0, mask, thread);
  return mask;
}

void start_thread(const Settings& settings, const KernelState& kernel_state, uint32_t slot, uint32_t mask,
                  eu::Thread& thread) {
  thread.control[0] = kernel_state.control;
  thread.control[1] = kernel_state.exceptions;
  thread.state[0] = slot;
  if (settings.system_routine != 0) {
    thread.sip = static_cast<uint32_t>(settings.system_routine);
  }
  thread.start(static_cast<uint32_t>(kernel_state.kernel), mask);
}

}  // namespace halogen::compute
