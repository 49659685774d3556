// What every pixel thread of a kernel writes for one primitive, when all of them write the same: kernels that look at
// nothing but constants and attributes of the primitive, as those of clears and of plain fills do. That is found in the
// code (eu/exec/analysis/origins.h), then one thread is rehearsed with all of its channels. The others need not run:
// their messages are known, and go to targets by the same rules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eu/exec/analysis/origins.h"
#include "pipe3d/output/target_message.h"
#include "pipe3d/pixel/pixel_thread.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

// Lately followed kernels.
class FollowedKernels {
 public:
  struct Way {
    uint64_t kernel = 0;      // its number
    size_t payload_end = 0;   // registers from r1 to before it differ from thread to thread
    bool mask_first = false;  // Gen4: so does the mask in r0
    uint32_t enabled = 0;     // channels that every thread has
    bool operator==(const Way&) const = default;
  };
  // Null: no answer.
  const std::vector<eu::SentBytes>* find(const eu::Kernel& kernel, spec::GenId gen, const Way& way);

 private:
  struct Followed {
    Way way;
    std::optional<std::vector<eu::SentBytes>> sent;
  };
  static constexpr size_t kMax = 16;
  std::vector<Followed> list_;
};

class PixelReplay {
 public:
  struct Write {
    TargetMessage message;  // its lanes: of a thread with all channels
    eu::MessageControl control;
    size_t instructions = 0;  // of the thread, up to this message
    uint32_t sent_channels = 0;
    bool always = false;  // sent even if no channel is enabled
    bool whole = false;   // one colour for all channels of the thread, and nothing else
    GroupColours colours{};
    std::vector<std::byte> bytes;
    std::optional<message::PayloadView> payload;
  };

  void forget() { known_ = Known::nothing; }
  bool asked() const { return known_ != Known::nothing; }
  bool stands() const { return known_ == Known::stands; }
  // The thread is ready to start with all channels of the group. True: all threads do as it does.
  bool rehearse(const PipelineState& state, const PixelGroup& group, spec::GenId gen,
                std::span<const eu::SentBytes> sent, ShaderUnit& unit, eu::Thread& thread);
  void refuse() { known_ = Known::refused; }

  std::span<const Write> writes() const { return writes_; }
  size_t instructions() const { return writes_.back().instructions; }
  // Nothing but whole colours, and the same of the same targets as the other.
  bool fills() const;
  bool same_colours(const PixelReplay& other) const;

 private:
  enum class Known : uint8_t { nothing, stands, refused };
  Known known_ = Known::nothing;
  std::vector<Write> writes_;
};

}  // namespace halogen::pipe3d
