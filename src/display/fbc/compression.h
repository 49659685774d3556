// Frame buffer compression as the display and other units see it: at most one compressor, that of GM965 (fbc.h) or that
// of GM45 (dpfc.h). It works in the display's virtual time, is notified of flips and of writes to memory, and supplies
// lines for scan-out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/event.h"
#include "base/strong.h"
#include "display/fbc/compression_source.h"
#include "display/plane_source.h"
#include "mmio/register_bank.h"
#include "spec/device_model.h"

namespace halogen::display {

struct DisplayState;

// Memory accesses of a compressor.
class CompressionMemory {
 public:
  virtual ~CompressionMemory() = default;
  // Return the base and size of stolen memory. Size zero: firmware reserved none.
  virtual PhysAddr stolen_base() const = 0;
  virtual uint64_t stolen_bytes() const = 0;
  // Accesses physical addresses. False, with an Event: no memory there.
  virtual bool read(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write(PhysAddr address, std::span<const std::byte> from) = 0;
  // Reads graphics memory as a display plane does.
  virtual void read_surface(unsigned plane, GgttOffset address, std::span<std::byte> into) = 0;
};

// Display state that a compressor reads.
class CompressionHost {
 public:
  virtual ~CompressionHost() = default;
  virtual CompressionSource source(unsigned plane) const = 0;
  virtual uint64_t time_ns() const = 0;
  // Returns the number of lines of the frame that the beam has passed at that time. In the vertical blank it is zero,
  // because the next frame counts.
  virtual unsigned scanned_lines(unsigned pipe, uint64_t nanoseconds) const = 0;
  virtual uint64_t vblanks(unsigned pipe) const = 0;
};

enum class FlipKind : uint8_t { command_sync, register_sync, async };

class FrameCompressor : public mmio::RegisterHandler, public LineProvider {
 public:
  void connect(CompressionMemory* memory) { memory_ = memory; }

  // run_until is called before each edge and at the end of each step; on_vblank after the flips of that vertical blank.
  virtual void run_until(uint64_t nanoseconds) = 0;
  virtual void on_vblank(unsigned pipe) = 0;

  // Changes of the picture. Lines are counted from the start of the fence's region, or of the surface.
  virtual void on_flip(unsigned plane, FlipKind kind) = 0;
  virtual void on_pan(unsigned plane) = 0;
  virtual void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) = 0;
  virtual void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) = 0;

  // Fills `into` with a line of the screen as it is in memory, for scan-out. False: the caller reads the line from the
  // surface.
  virtual bool read_line(unsigned plane, unsigned line, std::span<std::byte> into) = 0;

  // Called when the pipe has had an underrun.
  virtual void on_underrun(unsigned /*pipe*/) {}

  // Called when the CPU leaves C0 or returns to it (G45 PRM vol. 1b 6.5, seed 003).
  virtual void set_processor_idle(bool idle) = 0;
  // Returns the next time at which the compressor may be idle. No value: it is idle now.
  virtual std::optional<uint64_t> busy_until() const = 0;

  virtual void refresh() = 0;  // registers or state were changed by another unit

  bool provide(const PlaneLines& plane, uint32_t line, std::span<std::byte> out) override {
    return out.size() == plane.line_B() && read_line(plane.plane, line, out);
  }

 protected:
  CompressionMemory* memory_ = nullptr;  // null: not connected
};

struct CompressionParts {
  const spec::DeviceModel& model;
  mmio::RegisterBank& bank;
  CompressionHost& host;
  EventSink& events;
  std::string path;
};
// Returns the compressor of a device. The arguments must outlive it. Null: the device has none.
std::unique_ptr<FrameCompressor> make_compressor(CompressionParts parts, DisplayState& state);

}  // namespace halogen::display
