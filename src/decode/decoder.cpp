#include "decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/field_visitor.h"

namespace halogen::decode {

using engine::CommandPlace;
using engine::Next;
using engine::StreamLevel;
using engine::StreamSpace;
using engine::StreamStop;

void Counts::add(const Counts& other) {
  commands += other.commands;
  unknown += other.unknown;
  leftover_dwords += other.leftover_dwords;
  unknown_records += other.unknown_records;
  records += other.records;
  streams += other.streams;
  bad_length += other.bad_length;
  reserved += other.reserved;
  unmapped += other.unmapped;
  runaway += other.runaway;
}

Decoder::Decoder(const spec::DeviceModel& device, spec::EngineClass engine, MemoryImage& memory, Output* output)
    : gen_(device.gen),
      table_(spec::CommandTable::get(device.id, engine)),
      memory_(memory),
      output_(output),
      stream_(table_, memory),
      follower_(device.gen, memory),
      batch_end_(spec::find_command("MI_BATCH_BUFFER_END")) {
  if (const spec::CommandDesc* start = spec::find_command("MI_BATCH_BUFFER_START")) {
    batch_start_ = {start, spec::find_field(*start, gen_, "batch_buffer_start_address"),
                    spec::find_field(*start, gen_, "address_space_indicator"),
                    spec::find_field(*start, gen_, "second_level_batch_buffer")};
  }
}

inline bool Decoder::count(const spec::CommandDesc& desc, size_t dwords) {
  ++counts_.commands;
  const spec::LengthRule& rule = desc.length_of_gen[static_cast<size_t>(gen_)];
  if (dwords >= rule.min && dwords <= rule.max) [[likely]] {
    return true;
  }
  ++counts_.bad_length;
  return false;
}

inline Next Decoder::route(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& place) {
  if (&desc == batch_start_.desc) [[unlikely]] {
    return start_batch(dwords, place);
  }
  return &desc == batch_end_ ? Next::leave() : Next::advance();
}

// Small enough to be inlined into the walker's loop.
struct Decoder::Counter {
  static constexpr bool kReadsInPlace = true;

  Decoder& self;

  Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& place) {
    self.count(desc, dwords.size());
    return self.route(desc, dwords, place);
  }
  Next on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place) {
    return self.on_unknown(dwords, place);
  }
  void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                    const CommandPlace& place) {
    self.on_truncated(desc, present, total, place);
  }
};

void Decoder::walk(const StreamLevel& start, bool is_ring) {
  ++counts_.streams;
  is_ring_ = is_ring;
  jumps_.clear();
  stream_.start(start);
  const uint64_t first_command = counts_.commands + counts_.unknown;
  for (;;) {
    const uint64_t done = counts_.commands + counts_.unknown - first_command;
    const uint64_t budget = command_limit_ - std::min(done, command_limit_);
    Counter counter{*this};
    const bool listening = output_ != nullptr || events_ != nullptr;
    const StreamStop reason = listening ? stream_.run(*this, budget) : stream_.run(counter, budget);
    switch (reason) {
      case StreamStop::exhausted:
        return;
      case StreamStop::left:
        return count_leftover(start);
      case StreamStop::budget:
      case StreamStop::stopped:
      case StreamStop::held:
      case StreamStop::too_deep:
        ++counts_.runaway;
        return;
      case StreamStop::unmapped:
        report_unmapped(stream_.level());
        break;
      case StreamStop::truncated:
        break;
    }
    // An error in a batch does not end the ring that called it.
    if (!is_ring_ || stream_.state().depth == 0) return;
    engine::StreamState state = stream_.state();
    state.depth = 0;
    stream_.restore(state);
  }
}

Next Decoder::on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& place) {
  const bool good_length = count(desc, dwords.size());
  examine(desc, dwords, place, !good_length);
  return route(desc, dwords, place);
}

Next Decoder::start_batch(std::span<const uint32_t> dwords, const CommandPlace& place) {
  if (batch_start_.address == nullptr) return Next::advance();
  const auto read = [&](const spec::FieldDesc* field) {
    return field == nullptr ? 0 : spec::field_value(*field, spec::read_field(*field, dwords));
  };
  const GpuVa target{read(batch_start_.address)};
  const StreamSpace space = read(batch_start_.space) != 0 ? StreamSpace::ppgtt : StreamSpace::ggtt;
  if (seen_before(place, target)) {
    return Next::stop();
  }
  const bool from_ring = is_ring_ && place.level == 0;
  return from_ring || read(batch_start_.second_level) != 0 ? Next::call(space, target) : Next::jump(space, target);
}

// The decoder executes nothing, so reaching the same jump with the same call stack again means an endless loop.
bool Decoder::seen_before(const CommandPlace& place, GpuVa target) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value ^ (hash >> 29)) * 0x9e37'79b9'7f4a'7c15; };
  for (size_t i = 0; i < place.level; ++i) mix(stream_.state().levels[i].address.value);
  mix(place.address.value);
  mix(target.value);
  return jumps_.size() >= kJumpLimit || !jumps_.insert(hash).second;
}

Next Decoder::on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place) {
  ++counts_.unknown;
  raise(EventKind::unknown_command, {}, place.address, dwords.front(), {});
  if (output_ != nullptr) output_->node(make_node(NodeKind::unknown_command, dwords, place), gen_);
  return Next::advance();
}

void Decoder::on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                           const CommandPlace& place) {
  counts_.leftover_dwords += present.size();
  const std::string fault = fmt::format("cut off: {} of {} dwords", present.size(), total);
  raise(EventKind::bad_length, desc != nullptr ? desc->name : std::string_view{}, place.address, present.front(),
        fault);
  if (output_ == nullptr) return;
  Node node = make_node(desc != nullptr ? NodeKind::command : NodeKind::unknown_command, present, place);
  node.item = desc;
  node.faults.push_back(fault);
  output_->node(node, gen_);
}

Node Decoder::make_node(NodeKind kind, std::span<const uint32_t> dwords, const CommandPlace& place) const {
  Node node;
  node.kind = kind;
  node.address = place.address;
  node.space = place.space;
  node.level = static_cast<uint8_t>(place.level + (is_ring_ ? 0 : 1));
  node.dwords.assign(dwords.begin(), dwords.end());
  return node;
}

void Decoder::examine(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& place,
                      bool bad_length) {
  follower_.note(desc, dwords);
  Node node = make_node(NodeKind::command, dwords, place);
  node.item = &desc;
  node.fields = list_fields(desc, gen_, dwords);
  if (bad_length) {
    const spec::LengthRule& rule = desc.length_of_gen[static_cast<size_t>(gen_)];
    node.faults.push_back(fmt::format("{} dwords, not {}..{}", dwords.size(), rule.min, rule.max));
    raise(EventKind::bad_length, desc.name, place.address, dwords.front(), node.faults.back());
  }
  follower_.follow(node);
  counts_.reserved += count_reserved(node);
  if (events_ != nullptr) raise_reserved(node);
  if (output_ != nullptr) output_->node(node, gen_);
}

void Decoder::raise(EventKind kind, std::string_view item, GpuVa address, uint64_t value, std::string detail) const {
  if (events_ == nullptr) return;
  events_->on_event({kind, item, path_, address.value, value, std::move(detail)});
}

// Reports one event for each run of wrong bits. Memory that is only assumed to hold a structure is skipped.
void Decoder::raise_reserved(const Node& node) const {
  if (node.guessed) return;
  for (const ReservedValue& bits : node.fields.reserved) {
    const unsigned first = bits.first_bit % 32;
    raise(EventKind::reserved_bits, node.item->name, node.address, bits.value,
          fmt::format("dword {} bits {}:{} must be {}", bits.first_bit / 32, first + bits.width - 1, first,
                      bits.must_be_one ? "one" : "zero"));
  }
  for (const Node& child : node.children) raise_reserved(child);
}

void Decoder::count_leftover(const StreamLevel& start) {
  if (start.end == StreamLevel::kNoEnd || stream_.level().end != start.end) return;
  for (GpuVa at = stream_.level().address; at < start.end;) {
    auto rest = memory_.dwords_at(start.space, at);
    if (rest.empty()) return;
    rest = rest.first(std::min<uint64_t>(rest.size(), (start.end - at) / sizeof(uint32_t)));
    if (rest.empty()) return;
    counts_.leftover_dwords +=
        static_cast<uint64_t>(std::count_if(rest.begin(), rest.end(), [](uint32_t d) { return d != 0; }));
    at += rest.size_bytes();
  }
}

void Decoder::report_unmapped(const StreamLevel& level) {
  ++counts_.unmapped;
  raise(EventKind::unmapped_memory, {}, level.address, 0, "commands");
  if (output_ == nullptr) return;
  Node node;
  node.kind = NodeKind::missing;
  node.label = "commands";
  node.address = level.address;
  node.space = level.space;
  output_->node(node, gen_);
}

}  // namespace halogen::decode
