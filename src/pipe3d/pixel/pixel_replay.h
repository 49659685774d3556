// Reuses the messages of one pixel thread for all pixel threads of a primitive, if all of them send the same messages.
// This holds for kernels that read only constants and attributes of the primitive, such as clears and plain fills.
// eu/exec/analysis/origins.h finds such kernels. One thread is then run with all of its channels. The other threads do
// not run, and their messages are written to the targets by the same rules.
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

// Recently analysed kernels.
class FollowedKernels {
 public:
  struct Way {
    uint64_t kernel = 0;      // number of the kernel
    size_t payload_end = 0;   // registers from r1 up to this one differ between threads
    bool mask_first = false;  // Gen4: the mask in r0 differs too
    uint32_t enabled = 0;     // channels enabled in every thread
    bool operator==(const Way&) const = default;
  };
  // Returns the messages of the kernel. Null: the analysis found no answer.
  const std::vector<eu::SentBytes>* find(const eu::Kernel& kernel, const Way& way);

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
    TargetMessage message;  // with the lanes of a thread with all channels
    eu::MessageControl control;
    size_t instructions = 0;  // instructions of the thread up to this message
    uint32_t sent_channels = 0;
    bool always = false;  // sent even if no channel is enabled
    bool whole = false;   // only one colour for all channels of the thread
    GroupColours colours{};
    std::vector<std::byte> bytes;
    std::optional<message::PayloadView> payload;
  };

  void forget() { known_ = Known::nothing; }
  bool asked() const { return known_ != Known::nothing; }
  bool stands() const { return known_ == Known::stands; }
  // Runs a thread that is ready to start with all channels of the group. True: all threads send the same messages.
  bool rehearse(const PipelineState& state, const PixelGroup& group, spec::GenId gen,
                std::span<const eu::SentBytes> sent, ShaderUnit& unit, eu::Thread& thread);
  void refuse() { known_ = Known::refused; }

  std::span<const Write> writes() const { return writes_; }
  size_t instructions() const { return writes_.back().instructions; }
  // Return whether the messages only write whole colours, and whether another replay writes the same colours to the
  // same targets.
  bool fills() const;
  bool same_colours(const PixelReplay& other) const;

 private:
  enum class Known : uint8_t { nothing, stands, refused };
  Known known_ = Known::nothing;
  std::vector<Write> writes_;
};

}  // namespace halogen::pipe3d
