#include "pipe3d/pixel/pixel_replay.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "eu/isa/messages.h"
#include "hw/message_headers.h"
#include "hw/pixel_payload.h"
#include "spec/first_bit.h"
#include "spec/payload.h"

namespace halogen::pipe3d {
namespace {

constexpr size_t kMaxWrites = 16;

// Returns the byte of the thread's registers that holds the mask of live channels, from which kernels copy it.
size_t mask_of_thread(spec::GenId gen, const TargetMessage& message) {
  if (message.form == TargetMessageForm::half_by_half) {
    return spec::first_bit_of(gen, &hw::PIXEL_PRIMITIVE::mask).value_or(0) / 8;
  }
  // Channels from 16 on have a register of their own.
  const size_t grf = hw::PIXEL_SUBSPANS::kGrf + (message.first_lane >= 16 ? 1 : 0);
  return grf * eu::kGrfBytes + spec::first_bit_of(gen, &hw::PIXEL_SUBSPANS::mask).value_or(0) / 8;
}

// Records render target messages. Any other message makes the recording invalid.
class Recorder final : public eu::MessageTarget {
 public:
  Recorder(spec::GenId gen, std::vector<PixelReplay::Write>& writes) : gen_(gen), writes_(writes) {}

  eu::SendOutcome send(eu::Thread& /*thread*/, const eu::Message& sent) override {
    PixelReplay::Write write;
    write.control = eu::unpack_control(gen_, sent.function & 15u, sent.descriptor);
    const bool port =
        write.control.function == eu::SharedFunction::rc || write.control.function == eu::SharedFunction::dpwr;
    if (!port || write.control.type != eu::MessageControl::Type::render_target_write || writes_.size() == kMaxWrites) {
      return eu::SendOutcome::fault;
    }
    write.bytes.assign(sent.first.begin(), sent.first.end());
    write.bytes.insert(write.bytes.end(), sent.second.begin(), sent.second.end());
    writes_.push_back(std::move(write));
    sent_.push_back(sent);
    return eu::SendOutcome::done;
  }
  // Returns a message with the recorded payload instead of registers.
  eu::Message message(size_t index) const {
    eu::Message message = sent_[index];
    message.first = writes_[index].bytes;
    message.second = {};
    return message;
  }

 private:
  spec::GenId gen_;
  std::vector<PixelReplay::Write>& writes_;
  std::vector<eu::Message> sent_;
};

class Judge {
 public:
  Judge(spec::GenId gen, const TargetMessage& message, std::span<const eu::Origin> origins)
      : gen_(gen), message_(message), origins_(origins) {}

  // Returns whether everything that is read of the message is the same in every thread, or is the mask of the thread's
  // own channels.
  bool same_for_all() const {
    if (message_.header && !header()) {
      return false;
    }
    for (unsigned lane = 0; lane < message_.width(); ++lane) {
      if (bit(message_.lanes, lane) && !this->lane(lane)) {
        return false;
      }
    }
    return true;
  }

 private:
  eu::Origin at(size_t byte) const { return byte < origins_.size() ? origins_[byte] : eu::kFixed; }
  template <class Holds>
  bool all(size_t first, size_t count, Holds&& holds) const {
    for (size_t i = 0; i < count; ++i) {
      if (!holds(at(first + i), i)) {
        return false;
      }
    }
    return true;
  }
  bool fixed(size_t first, size_t count) const {
    return all(first, count, [](eu::Origin origin, size_t) { return origin == eu::kFixed; });
  }
  bool as_it_came(size_t first, size_t count, size_t start) const {
    return all(first, count, [&](eu::Origin origin, size_t i) { return origin == eu::kStart + start + i; });
  }
  bool of_lane(size_t first, size_t count, unsigned lane) const {
    const auto own = static_cast<eu::Origin>(eu::kChannel + message_.first_lane + lane);
    return all(first, count, [&](eu::Origin origin, size_t) { return origin == eu::kFixed || origin == own; });
  }
  bool header() const {
    constexpr size_t kDword_B = sizeof(uint32_t);
    bool same = true;
    for (const spec::FieldDesc& field : hw::RENDER_TARGET_HEADER::kDesc.layout(gen_)->fields) {
      const size_t byte = field.first_bit / 8u;
      if (field.name == "mask") {
        same = same && (fixed(byte, 2) || as_it_came(byte, 2, mask_of_thread(gen_, message_)));
      } else {
        same = same && fixed(byte / kDword_B * kDword_B, kDword_B);
      }
    }
    return same;
  }
  bool lane(unsigned lane) const {
    bool same = true;
    for (unsigned c = 0; c < 4; ++c) {
      same = same && of_lane(message_.place_of(message_.colour, c, lane), 4, lane);
      same = same && (message_.second == 0 || of_lane(message_.place_of(message_.second, c, lane), 4, lane));
    }
    return same &&
           (!message_.has_source_alpha ||
            of_lane(TargetMessage::place_of_value(message_.source_alpha, lane), 4, lane)) &&
           (message_.depth == 0 || of_lane(TargetMessage::place_of_value(message_.depth, lane), 4, lane)) &&
           (!message_.has_mask || of_lane(message_.place_of_mask(lane), 2, lane)) &&
           (message_.stencil == 0 || of_lane(message_.place_of_stencil(lane), 1, lane));
  }

  spec::GenId gen_;
  const TargetMessage& message_;
  std::span<const eu::Origin> origins_;
};

// Returns whether all lanes have the same bits.
bool one_colour(const TargetMessage& message) {
  for (unsigned lane = 1; lane < message.width(); ++lane) {
    for (unsigned c = 0; c < 4; ++c) {
      if (message.component(message.colour, c, lane) != message.component(message.colour, c, 0)) {
        return false;
      }
    }
  }
  return true;
}

void take_colours(const TargetMessage& message, GroupColours& colours) {
  for (unsigned c = 0; c < 4; ++c) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
      colours.component[c][lane] =
          lane < message.width() ? std::bit_cast<float>(message.component(message.colour, c, lane)) : 0.0f;
    }
  }
}

}  // namespace

const std::vector<eu::SentBytes>* FollowedKernels::find(const eu::Kernel& kernel, const Way& way) {
  auto known = std::ranges::find(list_, way, &Followed::way);
  if (known == list_.end()) {
    if (list_.size() == kMax) {
      list_.clear();
    }
    eu::ThreadStarts starts{.enabled = way.enabled};
    for (size_t i = 0; i < std::min(way.payload_end, eu::kGrfs) * eu::kGrfBytes; ++i) {
      starts.varying[i] = i >= eu::kGrfBytes || (way.mask_first && i < 4);
    }
    list_.push_back({way, eu::origins_of_messages(kernel, starts)});
    known = list_.end() - 1;
  }
  return known->sent ? &*known->sent : nullptr;
}

bool PixelReplay::rehearse(const PipelineState& state, const PixelGroup& group, spec::GenId gen,
                           std::span<const eu::SentBytes> sent, ShaderUnit& unit, eu::Thread& thread) {
  known_ = Known::refused;
  writes_.clear();
  Recorder recorder(gen, writes_);
  if (unit.rehearse(thread, recorder) != ThreadEnd::done || thread.ran_unprepared || writes_.size() != sent.size() ||
      thread.instructions != unit.kernel()->instruction_count()) {
    return false;
  }
  for (size_t i = 0; i < writes_.size(); ++i) {
    Write& write = writes_[i];
    const eu::Message kept = recorder.message(i);
    write.payload.emplace(kept);
    write.message = read_target_message(state, gen, group.raster->smooth(), kept, write.control, *write.payload);
    write.instructions = sent[i].instructions;
    write.sent_channels = kept.channels;
    write.always = sent[i].always;
    if (!Judge(gen, write.message, sent[i].bytes).same_for_all()) {
      return false;
    }
    take_colours(write.message, write.colours);
    write.message.colours = &write.colours;
    const TargetMessage& message = write.message;
    write.whole = !message.null && !message.has_mask && message.second == 0 && message.first_lane == 0 &&
                  message.width() == group.width && (message.lanes & low_mask(group.width)) == low_mask(group.width) &&
                  one_colour(message);
  }
  known_ = Known::stands;
  return true;
}

bool PixelReplay::fills() const {
  return std::ranges::all_of(writes_, &Write::whole);
}

bool PixelReplay::same_colours(const PixelReplay& other) const {
  return std::ranges::equal(writes_, other.writes_, [](const Write& a, const Write& b) {
    bool same = a.message.index == b.message.index && a.message.blend == b.message.blend;
    for (unsigned c = 0; c < 4; ++c) {
      same = same && a.message.component(a.message.colour, c, 0) == b.message.component(b.message.colour, c, 0);
    }
    return same;
  });
}

}  // namespace halogen::pipe3d
