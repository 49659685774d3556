#include "eu/exec/general/operands.h"

#include <cmath>
#include <cstring>
#include <span>

namespace halogen::eu {

namespace {

uint32_t channel_enables(const Thread& thread) {
  return thread.active | ~thread.dispatch_mask;
}

template <class T, size_t N>
void put(std::array<std::byte, ir::kComputedBytes>& out, const std::array<T, N>& words) {
  static_assert(sizeof(words) <= ir::kComputedBytes);
  std::memcpy(out.data(), words.data(), sizeof(words));
}

// Fills `out` with the content of a computed file.
void compute_file(const Thread& thread, const Prepared& prepared, ir::File file,
                  std::array<std::byte, ir::kComputedBytes>& out) {
  const MaskStacks& masks = thread.masks;
  std::array<uint16_t, 32> words{};
  const auto stack = [&](const std::array<uint32_t, kMaskStack>& from) {
    for (size_t i = 0; i < from.size(); ++i) {
      words[i] = static_cast<uint16_t>(from[i]);
    }
    put(out, words);
  };
  out.fill(std::byte{0});
  switch (file) {
    case ir::File::channel_enable:
      put(out, std::array{channel_enables(thread) >> prepared.lowered.mask.first_channel});
      break;
    case ir::File::masks:
      words = {static_cast<uint16_t>(masks.active & masks.if_mask & masks.loop_mask & masks.continue_mask),
               static_cast<uint16_t>(masks.if_mask), static_cast<uint16_t>(masks.loop_mask),
               static_cast<uint16_t>(masks.continue_mask)};
      put(out, words);
      break;
    case ir::File::if_stack:
      stack(masks.if_stack);
      break;
    case ir::File::loop_stack:
      stack(masks.loop_stack);
      break;
    case ir::File::stack_depth:
      words[0] = masks.if_depth;
      words[1] = masks.loop_depth;
      put(out, words);
      break;
    case ir::File::ip:
      put(out, std::array{prepared.offset});
      break;
    case ir::File::timestamp:
      put(out,
          std::array{static_cast<uint32_t>(thread.instructions), static_cast<uint32_t>(thread.instructions >> 32)});
      break;
    case ir::File::flow_control:
      put(out, std::array{thread.active});
      break;
    default:
      break;
  }
}

}  // namespace

void FileView::open(Frame& frame, const Prepared& prepared, ir::File file, const ir::Access& access, Type type) {
  lowered_ = &prepared.lowered;
  access_ = &access;
  thread_ = &frame.thread;
  size_ = traits(type).bytes;
  const ir::FileBytes bytes = ir::file_bytes(file);
  bytes_ = static_cast<int32_t>(bytes.bytes);
  first_ = static_cast<int32_t>(bytes.first);
  if (ir::is_in_thread(file)) {
    data_ = reinterpret_cast<std::byte*>(&frame.thread) + bytes.first;
  } else if (ir::is_computed(file)) {
    compute_file(frame.thread, prepared, file, computed_);
    data_ = computed_.data();
  } else {
    data_ = nullptr;
  }
}

int32_t FileView::offset(unsigned lane) const {
  if (access_->kind == ir::Access::Kind::indirect) {
    const ir::LaneTable& table = lowered_->table(*access_);
    const int32_t at = thread_->address[table.word[lane]] + table.offset[lane];
    return at >= 0 && at + size_ <= bytes_ ? at : -1;
  }
  const int16_t at = ir::lane_offset(*lowered_, *access_, lane);
  return at == ir::kOutside ? -1 : at - first_;
}

uint64_t FileView::load(unsigned lane) const {
  const int32_t at = offset(lane);
  uint64_t bits = 0;
  if (at >= 0 && data_ != nullptr) {
    std::memcpy(&bits, data_ + at, size_);
  }
  return bits;
}

void FileView::store(unsigned lane, uint64_t bits) {
  const int32_t at = offset(lane);
  if (at >= 0 && data_ != nullptr) {
    std::memcpy(data_ + at, &bits, size_);
  }
}

uint16_t FileView::word(size_t index) const {
  uint16_t value = 0;
  std::memcpy(&value, computed_.data() + 2 * index, sizeof(value));
  return value;
}

uint32_t FileView::dword() const {
  uint32_t value = 0;
  std::memcpy(&value, computed_.data(), sizeof(value));
  return value;
}

bool commit(Frame& frame, const ir::Target& target, const FileView& view) {
  MaskStacks& masks = frame.thread.masks;
  const auto stack = [&](std::array<uint32_t, kMaskStack>& to) {
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = view.word(i);
    }
  };
  switch (target.file) {
    case ir::File::control:
      frame.mode = float_mode(frame.thread, frame.rules);
      break;
    case ir::File::masks:
      // The AMask that is read is the intersection of four masks. A write to it sets only masks.active.
      if (target.access.base == 0) {
        masks.active = view.word(0);
      }
      masks.if_mask = view.word(1);
      masks.loop_mask = view.word(2);
      masks.continue_mask = view.word(3);
      break;
    case ir::File::if_stack:
      stack(masks.if_stack);
      break;
    case ir::File::loop_stack:
      stack(masks.loop_stack);
      break;
    case ir::File::stack_depth:
      masks.if_depth = static_cast<uint8_t>(view.word(0) % (kMaskStack + 1));
      masks.loop_depth = static_cast<uint8_t>(view.word(1) % (kMaskStack + 1));
      break;
    case ir::File::ip:
      frame.thread.ip = view.dword();
      return true;
    default:
      break;
  }
  return false;
}

void SourceReader::open(Frame& frame, const Prepared& prepared, const ir::Source& source) {
  source_ = &source;
  lowered_ = &prepared.lowered;
  thread_ = &frame.thread;
  view_.open(frame, prepared, source.file, source.access, source.type);
}

uint64_t SourceReader::bits(unsigned lane) const {
  if (source_->file != ir::File::immediate) {
    return view_.load(lane);
  }
  const uint64_t element = source_->access.table == ir::Access::kNoTable
                               ? source_->immediate
                               : lowered_->table(source_->access).constant[lane];
  const unsigned bytes = traits(source_->type).bytes;
  return bytes == 8 ? element : element & ((uint64_t{1} << (8 * bytes)) - 1);
}

Value SourceReader::value(unsigned lane) const {
  const ir::Modifier modifier = source_->modifier;
  const Type type = source_->type;
  const uint64_t raw = bits(lane);
  Value value;
  if (is_float()) {
    value.real = float_from_bits(type, raw);
    if (modifier.absolute) {
      value.real = std::fabs(value.real);
    }
    if (modifier.negate) {
      value.real = -value.real;
    }
    return value;
  }
  // Integers in accumulators have bits above their element.
  const bool is_accumulator =
      source_->file == ir::File::accumulator && source_->access.kind != ir::Access::Kind::indirect;
  value.integer = is_accumulator ? accumulator_integer(*thread_, view_.offset(lane), type) : int_from_bits(type, raw);
  if (modifier.invert) {
    value.integer = wrap(type, ~value.integer);
    return value;
  }
  const bool exact = is_accumulator || !traits(type).is_signed;
  if (modifier.absolute && traits(type).is_signed && value.integer < 0) {
    value.integer = exact ? -value.integer : wrap(type, -value.integer);
  }
  if (modifier.negate) {
    value.integer = exact ? -value.integer : wrap(type, -value.integer);
  }
  return value;
}

Wide accumulator_integer(const Thread& thread, int32_t offset, Type type) {
  const unsigned bytes = traits(type).bytes;
  uint64_t bits = 0;
  if (offset < 0 || offset + static_cast<int32_t>(bytes) > static_cast<int32_t>(thread.accumulator.size())) {
    return 0;
  }
  std::memcpy(&bits, thread.accumulator.data() + offset, bytes);
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (which < thread.extension.size() && bytes <= 4) {
    const Thread::Extension& extension = thread.extension[which];
    const size_t lane = static_cast<size_t>(offset) % kGrfBytes / bytes;
    if (extension.element == bytes && lane < extension.upper.size() && ((extension.valid >> lane) & 1) != 0) {
      return static_cast<Wide>(extension.upper[lane]) * (static_cast<Wide>(1) << (8 * bytes)) + static_cast<Wide>(bits);
    }
  }
  return int_from_bits(type, bits);
}

void set_accumulator_bits(Thread& thread, int32_t offset, unsigned bytes, uint64_t bits) {
  if (offset < 0 || offset + static_cast<int32_t>(bytes) > static_cast<int32_t>(thread.accumulator.size())) {
    return;
  }
  std::memcpy(thread.accumulator.data() + offset, &bits, bytes);
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (which < thread.extension.size()) {
    Thread::Extension& extension = thread.extension[which];
    const size_t first = static_cast<size_t>(offset) % kGrfBytes / extension.element;
    const size_t last = (static_cast<size_t>(offset) % kGrfBytes + bytes - 1) / extension.element;
    for (size_t lane = first; lane <= last && lane < extension.upper.size(); ++lane) {
      extension.valid = static_cast<uint16_t>(extension.valid & ~(1u << lane));
    }
  }
}

void set_accumulator_integer(Thread& thread, int32_t offset, Type type, Wide value) {
  const unsigned bytes = traits(type).bytes;
  set_accumulator_bits(thread, offset, bytes, static_cast<uint64_t>(value));
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (offset < 0 || which >= thread.extension.size() || (bytes != 2 && bytes != 4)) {
    return;
  }
  Thread::Extension& extension = thread.extension[which];
  if (extension.element != bytes) {
    extension.element = static_cast<uint8_t>(bytes);
    extension.valid = 0;
  }
  const size_t lane = static_cast<size_t>(offset) % kGrfBytes / bytes;
  extension.upper[lane] = static_cast<int64_t>(value >> (8 * bytes));
  extension.valid = static_cast<uint16_t>(extension.valid | (1u << lane));
}

}  // namespace halogen::eu
