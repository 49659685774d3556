#include "decode/memory_image.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "base/graphics_address.h"

namespace halogen::decode {

using engine::StreamSpace;

namespace {

constexpr std::array<uint32_t, 1024> kZeros{};

}  // namespace

size_t MemoryImage::read(StreamSpace space, GpuVa address, std::span<uint32_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const auto run = dwords_at(space, address + done * sizeof(uint32_t));
    if (run.empty()) break;
    const size_t take = std::min(run.size(), out.size() - done);
    std::copy_n(run.begin(), take, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += take;
  }
  return done;
}

void FlatImage::add(GpuVa address, uint64_t bytes, std::span<const uint32_t> content) {
  const Object object{plain_address(address.value), bytes, content};
  const auto at = std::upper_bound(objects_.begin(), objects_.end(), object,
                                   [](const Object& a, const Object& b) { return a.first < b.first; });
  objects_.insert(at, object);
}

std::span<const uint32_t> FlatImage::dwords_at(StreamSpace, GpuVa address) {
  const uint64_t at = align_down(plain_address(address.value), sizeof(uint32_t));
  auto it = std::upper_bound(objects_.begin(), objects_.end(), at,
                             [](uint64_t value, const Object& object) { return value < object.first; });
  if (it == objects_.begin()) return {};
  const Object& object = *--it;
  const uint64_t offset = at - object.first;
  if (offset >= object.bytes) return {};
  const uint64_t index = offset / sizeof(uint32_t);
  const uint64_t left = (object.bytes - offset) / sizeof(uint32_t);
  if (index < object.content.size()) {
    const auto rest = object.content.subspan(index);
    return rest.first(std::min<uint64_t>(rest.size(), left));
  }
  return std::span(kZeros).first(std::min<uint64_t>(kZeros.size(), left));
}

std::byte* WrittenFrames::frame(uint64_t number) {
  const auto it = frames_.find(number);
  return it == frames_.end() ? nullptr : it->second->bytes.data();
}

std::byte* WrittenFrames::make(uint64_t number) {
  auto& frame = frames_[number];
  if (!frame) frame = std::make_unique<Frame>();
  return frame->bytes.data();
}

PagedImage::PagedImage(const spec::DeviceModel& device)
    : formats_(device, kHostAddressBits),
      objects_(formats_),
      has_local_memory_(device.has(spec::Feature::local_memory)) {
  for (auto& frames : pools_) frames = std::make_unique<WrittenFrames>();
  constexpr uint64_t kAll = uint64_t{1} << kHostAddressBits;
  memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, kAll, &pool(Pool::system)});
  memory_.add({memory::MemorySpace::local, memory::MemoryKind::local, 0, kAll, &pool(Pool::local)});
  global_table_.add({memory::MemorySpace::system, memory::MemoryKind::gtt_stolen, 0, kAll, &pool(Pool::global_table)});
  ggtt_.format = formats_.find(memory::WalkMode::ggtt);
  ggtt_.local_memory = has_local_memory_;
}

void PagedImage::set_root(const PageTableRoot& root) {
  root_ = root;
  ppgtt_ = {};
  // Other modes need tables that traces do not contain: a PASID table, or a directory in the global table.
  const bool supported = root.mode == memory::WalkMode::legacy32 || root.mode == memory::WalkMode::legacy48;
  ppgtt_.format = supported ? formats_.find(root.mode) : nullptr;
  ppgtt_.local_memory = has_local_memory_;
  ppgtt_.table_space = tables_in_local_memory_ ? memory::MemorySpace::local : memory::MemorySpace::system;
  std::copy(root.pointers.begin(), root.pointers.end(), std::begin(ppgtt_.roots));
}

void PagedImage::set_tables_in_local_memory(bool local) {
  tables_in_local_memory_ = local && has_local_memory_;
  set_root(root_);
}

void PagedImage::write(Pool which, uint64_t address, std::span<const std::byte> data) {
  while (!data.empty()) {
    const uint64_t in_page = address % kPageBytes;
    const size_t take = std::min<size_t>(data.size(), kPageBytes - in_page);
    std::byte* frame = pool(which).frame(address / kPageBytes);
    size_t pages = 0;
    for (const auto& frames : pools_) pages += frames->size();
    if (frame == nullptr && pages < kMaxPages) frame = pool(which).make(address / kPageBytes);
    if (frame != nullptr) {
      std::memcpy(frame + in_page, data.data(), take);
    } else {
      dropped_bytes_ += take;
    }
    data = data.subspan(take);
    address += take;
  }
}

void PagedImage::write_ggtt(uint64_t address, std::span<const std::byte> data) {
  while (!data.empty()) {
    const size_t take = std::min<size_t>(data.size(), kPageBytes - address % kPageBytes);
    const memory::WalkResult found = walk(StreamSpace::ggtt, GpuVa{address});
    if (found.fault) {
      write(Pool::ggtt_virtual, address, data.first(take));
    } else {
      const uint64_t physical = found.mapping.address + address % kPageBytes;
      write(pool_of(StreamSpace::ggtt, found.mapping, physical), physical, data.first(take));
    }
    data = data.subspan(take);
    address += take;
  }
}

void PagedImage::write_ggtt_entries(uint64_t offset, std::span<const std::byte> data) {
  write(Pool::global_table, offset, data);
  objects_.note_global_entries(data);
}

void PagedImage::write_local(uint64_t address, std::span<const std::byte> data) {
  write(objects_.take_local_write(address, data) ? Pool::ggtt_object : Pool::local, address, data);
}

std::span<const uint32_t> PagedImage::rest_of_frame(Pool which, uint64_t address) const {
  // The frames are only read through this pointer.
  const std::byte* frame = pools_[static_cast<size_t>(which)]->frame(address / kPageBytes);
  if (frame == nullptr) return {};
  return std::span(reinterpret_cast<const uint32_t*>(frame), kPageDwords).subspan(address % kPageBytes / 4);
}

PagedImage::Pool PagedImage::pool_of(StreamSpace space, const memory::Mapping& mapping, uint64_t physical) const {
  const bool object = space == StreamSpace::ggtt && !rest_of_frame(Pool::ggtt_object, physical).empty();
  if (object) return Pool::ggtt_object;
  return mapping.space == memory::MemorySpace::local ? Pool::local : Pool::system;
}

const memory::WalkContext& PagedImage::context(StreamSpace space) const {
  return space == StreamSpace::ggtt ? ggtt_ : ppgtt_;
}

memory::WalkResult PagedImage::walk(StreamSpace space, GpuVa address, memory::WalkRecorder* recorder) const {
  const memory::WalkContext& rules = context(space);
  memory::WalkResult result;
  if (rules.format == nullptr) {
    result.fault = {.reason = rules.unusable, .address = address.value};
    return result;
  }
  const uint64_t at = rules.format->canonical ? wrapped_address(address.value).value : address.value;
  const memory::PhysicalMemory& tables = space == StreamSpace::ggtt ? global_table_ : memory_;
  return memory::walk(tables, rules, at, {}, recorder, false);
}

std::span<const uint32_t> PagedImage::dwords_of(StreamSpace space, const memory::Mapping& mapping,
                                                GpuVa address) const {
  const uint64_t physical = mapping.address + (address.value & low_mask(mapping.page_bits));
  if (mapping.null) return std::span(kZeros).subspan(physical % kPageBytes / sizeof(uint32_t));
  return rest_of_frame(pool_of(space, mapping, physical), physical);
}

std::span<const uint32_t> PagedImage::dwords_at(StreamSpace space, GpuVa address) {
  const GpuVa at{align_down(plain_address(address.value), sizeof(uint32_t))};
  if (space == StreamSpace::ppgtt && !root_.valid) space = StreamSpace::ggtt;
  const memory::WalkResult found = walk(space, at);
  if (!found.fault) {
    const auto dwords = dwords_of(space, found.mapping, at);
    // The tables map a page that the trace never wrote, so the global table has no memory for it.
    if (!dwords.empty() || space == StreamSpace::ggtt) return dwords;
  }
  return rest_of_frame(space == StreamSpace::ggtt ? Pool::ggtt_virtual : Pool::ppgtt_virtual, at.value);
}

}  // namespace halogen::decode
