// The memory that a trace describes, as far as needed to follow pointers: nothing is executed and nothing faults. Pages
// are found by the device's page walker (src/memory). Addresses without tables, as in old traces, are used directly.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/strong.h"
#include "engine/stream/command_stream.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/walker.h"
#include "spec/device_model.h"
#include "trace/ggtt_objects.h"

namespace halogen::decode {

class MemoryImage : public engine::CommandMemory {
 public:
  // Copies mapped dwords from `address` on to `out`. Returns the number of dwords that were readable.
  size_t read(engine::StreamSpace space, GpuVa address, std::span<uint32_t> out);
};

// Separate objects at fixed addresses, equal in every space: an execbuffer capture, or a file of raw dwords.
class FlatImage final : public MemoryImage {
 public:
  // The caller keeps ownership of `content`. The object reads as zero after `content`, up to `bytes`.
  void add(GpuVa address, uint64_t bytes, std::span<const uint32_t> content);

  std::span<const uint32_t> dwords_at(engine::StreamSpace space, GpuVa address) override;

 private:
  struct Object {
    uint64_t first;
    uint64_t bytes;
    std::span<const uint32_t> content;
  };
  std::vector<Object> objects_;  // sorted by address
};

// Root of a per-process address space, as given by a context.
struct PageTableRoot {
  bool valid = false;
  memory::WalkMode mode = memory::WalkMode::legacy48;
  std::array<uint64_t, 4> pointers{};  // legacy32 has four, the others one
};

// The frames that a trace wrote. All others are holes.
class WrittenFrames final : public memory::FrameSource {
 public:
  std::byte* frame(uint64_t number) override;
  std::byte* make(uint64_t number);
  size_t size() const { return frames_.size(); }

 private:
  struct alignas(uint64_t) Frame {
    std::array<std::byte, memory::kFrameBytes> bytes{};
  };
  std::unordered_map<uint64_t, std::unique_ptr<Frame>> frames_;
};

// System memory, local memory and the page tables in them, built from the writes of an AUB trace. The device's own page
// walker translates graphics addresses.
class PagedImage final : public MemoryImage {
 public:
  static constexpr uint64_t kPageBytes = memory::kFrameBytes;
  static constexpr size_t kPageDwords = kPageBytes / sizeof(uint32_t);
  static constexpr size_t kMaxPages = 1u << 20;     // 4 GiB; pages beyond are dropped and counted
  static constexpr unsigned kHostAddressBits = 46;  // simulators use wide physical addresses on every device

  enum class Pool : uint8_t { system, local, ggtt_object, ggtt_virtual, ppgtt_virtual, global_table };

  explicit PagedImage(const spec::DeviceModel& device);
  PagedImage(const PagedImage&) = delete;
  PagedImage& operator=(const PagedImage&) = delete;

  void write(Pool pool, uint64_t address, std::span<const std::byte> data);
  // Writes through the global table where it maps the page; otherwise stores by graphics address.
  void write_ggtt(uint64_t address, std::span<const std::byte> data);
  // `offset`: in bytes, in the global table.
  void write_ggtt_entries(uint64_t offset, std::span<const std::byte> data);
  // Writes to local memory. Some writers give global objects and other pages the same local addresses; the page table
  // entry that precedes an ordinary page tells them apart.
  void write_local(uint64_t address, std::span<const std::byte> data);

  void set_root(const PageTableRoot& root);
  const PageTableRoot& root() const { return root_; }
  // Selects local memory for per-process tables, on devices that have it.
  void set_tables_in_local_memory(bool local);

  // Returns the walk context of a space. Without a format there are no tables to walk.
  const memory::WalkContext& context(engine::StreamSpace space) const;
  memory::WalkResult walk(engine::StreamSpace space, GpuVa address, memory::WalkRecorder* recorder = nullptr) const;
  // Returns the target of a walk, from `address` to the end of its frame. Empty: the trace wrote nothing there.
  std::span<const uint32_t> dwords_of(engine::StreamSpace space, const memory::Mapping& mapping, GpuVa address) const;

  std::span<const uint32_t> dwords_at(engine::StreamSpace space, GpuVa address) override;

  uint64_t dropped_bytes() const { return dropped_bytes_; }

 private:
  WrittenFrames& pool(Pool which) { return *pools_[static_cast<size_t>(which)]; }
  const WrittenFrames& pool(Pool which) const { return *pools_[static_cast<size_t>(which)]; }
  // Returns the dwords from an address to the end of its frame.
  std::span<const uint32_t> rest_of_frame(Pool which, uint64_t address) const;
  Pool pool_of(engine::StreamSpace space, const memory::Mapping& mapping, uint64_t physical) const;

  memory::PageFormats formats_;
  trace::GgttObjects objects_;
  bool has_local_memory_;
  bool tables_in_local_memory_ = false;
  std::array<std::unique_ptr<WrittenFrames>, 6> pools_;
  memory::PhysicalMemory memory_;        // system and local
  memory::PhysicalMemory global_table_;  // the global table has its own memory, because traces do not place it
  memory::WalkContext ggtt_;
  memory::WalkContext ppgtt_;
  PageTableRoot root_;
  uint64_t dropped_bytes_ = 0;
};

}  // namespace halogen::decode
