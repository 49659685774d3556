// Frame buffer compression as the display and its neighbours see it: one compressor at most, that of GM965 (fbc.h) or
// that of GM45 (dpfc.h). It works in the display's virtual time, is told of flips and of writes to memory, and gives
// lines back for scan-out.
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

// Memory as a compressor reaches it.
class CompressionMemory {
 public:
  virtual ~CompressionMemory() = default;
  // Stolen memory; empty where firmware reserved none.
  virtual PhysAddr stolen_base() const = 0;
  virtual uint64_t stolen_bytes() const = 0;
  // Physical addresses. False, with an Event, where there is nothing.
  virtual bool read(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write(PhysAddr address, std::span<const std::byte> from) = 0;
  // Graphics memory as a display plane reads it.
  virtual void read_surface(unsigned plane, GgttOffset address, std::span<std::byte> into) = 0;
};

// What a compressor asks of the display around it.
class CompressionHost {
 public:
  virtual ~CompressionHost() = default;
  virtual CompressionSource source(unsigned plane) const = 0;
  virtual uint64_t time_ns() const = 0;
  // Lines of the frame that the beam has passed at that time; in the vertical blank none of the next one.
  virtual unsigned scanned_lines(unsigned pipe, uint64_t nanoseconds) const = 0;
  virtual uint64_t vblanks(unsigned pipe) const = 0;
};

enum class FlipKind : uint8_t { command_sync, register_sync, async };

class FrameCompressor : public mmio::RegisterHandler, public LineProvider {
 public:
  void connect(CompressionMemory* memory) { memory_ = memory; }

  // Time. run_until comes before each edge and at the end of each step; on_vblank after the flips of its moment.
  virtual void run_until(uint64_t nanoseconds) = 0;
  virtual void on_vblank(unsigned pipe) = 0;

  // What may change the picture. Lines count from the start of the fence's region, or of the surface.
  virtual void on_flip(unsigned plane, FlipKind kind) = 0;
  virtual void on_pan(unsigned plane) = 0;
  virtual void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) = 0;
  virtual void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) = 0;

  // Scan-out: a line of the screen as it lies in memory, `into` is all of it. False: read it from the surface.
  virtual bool read_line(unsigned plane, unsigned line, std::span<std::byte> into) = 0;

  // The pipe ran empty.
  virtual void on_underrun(unsigned /*pipe*/) {}

  // The processor left C0, or came back (seed 003 6.5).
  virtual void set_processor_idle(bool idle) = 0;
  // Nothing: idle. Else when to look again.
  virtual std::optional<uint64_t> busy_until() const = 0;

  virtual void refresh() = 0;  // registers or state changed behind our back

  bool provide(const PlaneLines& plane, uint32_t line, std::span<std::byte> out) override {
    return out.size() == plane.line_B() && read_line(plane.plane, line, out);
  }

 protected:
  CompressionMemory* memory_ = nullptr;  // null: none yet
};

// Everything outside lives longer. Null: the device has none.
struct CompressionParts {
  const spec::DeviceModel& model;
  mmio::RegisterBank& bank;
  CompressionHost& host;
  EventSink& events;
  std::string path;
};
std::unique_ptr<FrameCompressor> make_compressor(CompressionParts parts, DisplayState& state);

}  // namespace halogen::display
