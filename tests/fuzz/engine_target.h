// Command streamers with a hostile guest: random rings, batches, context images and descriptors on every chip, whole
// draws and dispatches, memory that a host thread changes during the work. Nothing may crash or run without end, and a
// run that continues from a snapshot in another device ends like the uninterrupted run. The other device has one host
// thread, and the settings of the first one are part of the input.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "fuzz/input.h"
#include "fuzz/memory_host.h"
#include "fuzz/racing_writer.h"
#include "fuzz/reach.h"
#include "fuzz/stream_maker.h"

namespace halogen::fuzz {

// A chip whose memory is mapped in the global table and, from Gen8 on, at the same addresses in per-process tables at
// the end of memory.
class EngineFuzz final : private Input {
 public:
  // Settings of programs (no read-ahead) and of hardware (eight lines, and the pre-parser), with one host thread and
  // with several.
  struct Setting {
    unsigned prefetch_lines;
    unsigned threads;
  };
  static constexpr std::array<Setting, 4> kSettings{{{0, 1}, {8, 1}, {0, 3}, {3, 2}}};

  EngineFuzz(const spec::DeviceModel& model, const Setting& setting)
      : model_(model),
        streams_(Generation(model)),
        chip_(create(host_, setting.prefetch_lines, setting.threads)),
        twin_(create(twin_host_, setting.prefetch_lines, 1)) {
    std::copy(streams_.memory().begin(), streams_.memory().end(), host_.memory().begin());
    chip_->config_write(4, 2, 7);
    const unsigned entry = Generation(model).ggtt_format() == GgttFormat::pte64 ? 8 : 4;
    if (const mmio::RegisterSlot* const control = chip_->mmio().bank().map().find("PGTBL_CTL")) {
      chip_->bar_write(0, control->offset, 4, chip_->bar_read(0, control->offset, 4) | 1);
    }
    for (uint32_t page = 0; page < kPages; ++page) {
      chip_->bar_write(0, model.gtt_offset + uint64_t{page} * entry, entry, page * kPage | 1);
    }
    build_tables();
    fresh_ = chip_->snapshot();
    fresh_memory_ = copy_of(host_);
  }

  void run(std::span<const uint8_t> data) {
    put_back(*chip_, host_, fresh_, fresh_memory_);
    start(data);
    unsigned more = kOperations;
    while (!empty() && more-- != 0) operate();
    // The rest runs twice. The second run moves to another device with another memory after each step. The first of
    // those devices has not seen the earlier steps.
    device::DeviceState state = chip_->snapshot();
    std::vector<std::byte> memory = copy_of(host_);
    for (unsigned i = 0; i < kSteps; ++i) chip_->advance(kStep);
    const device::DeviceState end = chip_->snapshot();
    const std::vector<std::byte> end_memory = copy_of(host_);
    for (unsigned i = 0; i < kSteps; ++i) {
      device::Device& device = i % 2 == 0 ? *twin_ : *chip_;
      MemoryHost& host = i % 2 == 0 ? twin_host_ : host_;
      put_back(device, host, state, memory);
      if (!(device.snapshot() == state)) std::abort();
      device.advance(kStep);
      state = device.snapshot();
      memory = copy_of(host);
    }
    if (!(state == end) || memory != end_memory) std::abort();
    reach().input();
    reach().place(0, std::memcmp(memory.data() + scene::kTarget, fresh_memory_.data() + scene::kTarget,
                                 scene::kDepth - scene::kTarget) != 0);
  }

 private:
  static Reach& reach() {
    static Reach all{"target written", "streams", "races"};
    return all;
  }

  static constexpr uint32_t kPage = 4096;
  static constexpr uint32_t kHostBytes = 1 << 20;
  static constexpr uint32_t kPages = kHostBytes / kPage;
  static constexpr uint32_t kTables = kHostBytes - 4 * kPage;  // PML4, PDP, PD, PT
  static constexpr uint32_t kRing = 0x8'f000;                  // of streams
  static constexpr uint32_t kStream = 0x9'0000;
  static constexpr uint32_t kStreamBytes = 0x4000;
  static constexpr uint32_t kImage = 0xa'0000;  // their context
  static constexpr unsigned kOperations = 64;
  static constexpr unsigned kSteps = 4;
  static constexpr uint64_t kStep = 3000;

  void build_tables() {
    const auto put = [this](uint32_t at, uint64_t value) { std::memcpy(host_.memory().data() + at, &value, 8); };
    for (uint32_t level = 0; level < 3; ++level) put(kTables + level * kPage, kTables + (level + 1) * kPage + 3);
    for (uint32_t page = 0; page < kPages; ++page) put(kTables + 3 * kPage + page * 8, page * kPage + 3);
  }

  std::unique_ptr<device::Device> create(MemoryHost& host, unsigned lines, unsigned threads) const {
    device::DeviceOptions options;
    options.power_gating = false;
    options.local_tables = false;
    options.prefetch_lines = lines;
    options.threads = threads;
    options.gtt_bytes = 0x80000;  // the minimum, because every snapshot reads the device's own memory
    if (model_.local_bytes != 0) {
      options.local_bytes = 0x1000'0000;
      options.stolen_bytes = 0x100'0000;
    }
    auto created = device::Device::create(model_, host, options);
    if (!created) std::abort();
    return std::move(*created);
  }
  static std::vector<std::byte> copy_of(MemoryHost& host) { return {host.memory().begin(), host.memory().end()}; }
  static void put_back(device::Device& device, MemoryHost& host, const device::DeviceState& state,
                       std::span<const std::byte> memory) {
    std::memcpy(host.memory().data(), memory.data(), memory.size());
    device.restore(state);
  }

  const spec::EngineModel& take_engine() { return model_.engines[take<uint8_t>() % model_.engines.size()]; }
  void write(const spec::EngineModel& engine, uint32_t offset, uint32_t value) {
    chip_->bar_write(0, engine.mmio_base + offset, 4, value);
  }

  // Copies dwords from the input to memory.
  void fill(uint32_t address) {
    const size_t count = take<uint8_t>() % 64;
    for (size_t i = 0; i < count && !empty(); ++i, address += 4) {
      const auto value = take<uint32_t>();
      host_.write_memory(PhysAddr{address % (kHostBytes - 4)}, std::as_bytes(std::span(&value, 1)));
    }
  }

  // Writes a command header that the chip knows, so that not everything is a parse error; the rest comes from the
  // input.
  void command(uint32_t address) {
    const auto all = spec::commands();
    const spec::CommandDesc& desc = *all[take<uint16_t>() % all.size()];
    const spec::MatchRule& rule = desc.match_of_gen[static_cast<size_t>(model_.gen)];
    const uint32_t header = (take<uint32_t>() & ~rule.mask) | rule.value;
    host_.write_memory(PhysAddr{address % (kHostBytes - 4)}, std::as_bytes(std::span(&header, 1)));
    fill(address + 4);
  }

  void start_ring() {
    const spec::EngineModel& engine = take_engine();
    write(engine, 0x3c, 0);
    write(engine, 0x38, take<uint8_t>() % 16u * kPage);
    write(engine, 0x34, take<uint8_t>() % 64u * 4u);
    write(engine, 0x30, take<uint16_t>());
    write(engine, 0x3c, (take<uint8_t>() % 4u << 12) | 1u);
  }

  // Submits a context whose image the input fills, after the required parts are written.
  void submit() {
    const spec::EngineModel& engine = take_engine();
    const uint32_t image = take<uint8_t>() % 64u * kPage;
    const uint32_t control = 0x0009'0000u | take<uint8_t>();
    const uint32_t head = take<uint8_t>() * 4u;
    const uint32_t tail = take<uint16_t>();
    write_image(engine, image, control, head, tail, take<uint8_t>() % 16u * kPage);
    fill(image + kPage + take<uint8_t>() * 4u);
    const uint32_t low = image | (0x119 ^ (take<uint8_t>() & 0xe6));
    const auto high = take<uint32_t>();
    submit(engine, low, high, (take<uint8_t>() & 1) != 0);
  }
  void write_image(const spec::EngineModel& engine, uint32_t image, uint32_t control, uint32_t head, uint32_t tail,
                   uint32_t ring) {
    const uint32_t base = engine.mmio_base;
    const uint32_t dwords[] = {
        0,           0x1100'1011, base + 0x244, control, base + 0x34,  head,    base + 0x30,  tail, base + 0x38, ring,
        base + 0x3c, 1,           base + 0x274, 0,       base + 0x270, kTables, base + 0x140, 0,    0x0500'0000};
    host_.write_memory(PhysAddr{image + kPage}, std::as_bytes(std::span(dwords)));
  }
  void submit(const spec::EngineModel& engine, uint32_t low, uint32_t high, bool by_queue) {
    write(engine, 0x29c, 0x8000'8000);
    if (!by_queue) {
      for (const uint32_t part : {0u, 0u, high, low}) write(engine, 0x230, part);
    } else {
      write(engine, 0x510, low);
      write(engine, 0x514, high);
      write(engine, 0x550, 1);
    }
  }

  // Runs a stream as a batch of an engine, from its ring or from a context.
  void stream(const spec::EngineModel& engine, StreamMaker::Stream words, uint8_t how) {
    constexpr uint32_t kEnd = 0x0500'0000;
    words.resize(std::min<size_t>(words.size(), kStreamBytes / 4 - 2));
    words.push_back(kEnd);
    std::memcpy(host_.memory().data() + kStream, words.data(), words.size() * 4);
    const Generation generation(model_);
    const bool wide = generation.ggtt_format() == GgttFormat::pte64;
    // Without privilege, mostly. On the first chips the batch is in graphics memory.
    const uint32_t batch[] = {0x1880'0000u | (wide ? 1u : 0x80u) | ((how & 0x0e) != 0 ? 0x100u : 0u), kStream, 0, 0};
    std::memcpy(host_.memory().data() + kRing, batch, sizeof batch);
    if (generation.has_execlists()) {
      write_image(engine, kImage, 0x0009'0009, 0, sizeof batch, kRing);
      submit(engine, kImage | 0x119, 1, (how & 1) != 0);
    } else {
      write(engine, 0x3c, 0);
      write(engine, 0x38, kRing);
      write(engine, 0x34, 0);
      write(engine, 0x30, sizeof batch);
      write(engine, 0x3c, 1);
    }
    reach().place(1, true);
  }
  void stream() {
    const auto how = take<uint8_t>();
    const spec::EngineModel& engine = (how & 0x80) != 0 ? take_engine() : model_.engines[0];
    StreamMaker::Stream words;
    if ((how & 0x70) < 0x30) {
      words = streams_.draw(*this);
    } else if ((how & 0x70) < 0x50) {
      words = streams_.dispatch(*this);
    }
    for (unsigned more = take<uint8_t>() % 12; more != 0 && !empty(); --more) streams_.append_any(*this, words);
    stream(engine, std::move(words), how);
  }
  // Changes a dword of a stream, of its ring or of the scene's state while the engines work.
  void race() {
    constexpr std::array<uint32_t, 4> kPlaces{kStream, kStream, kRing, scene::kTable};
    const auto which = take<uint8_t>();
    const uint32_t at = (kPlaces[which % kPlaces.size()] + take<uint16_t>() % 0x1000 / 4 * 4) % kHostBytes;
    uint32_t now = 0;
    std::memcpy(&now, host_.memory().data() + at, sizeof now);
    uint32_t other = take<uint32_t>();
    if ((which & 0x80) != 0) {
      const spec::MatchRule& rule = streams_.any(*this).match_of_gen[static_cast<size_t>(model_.gen)];
      other = (other & ~rule.mask) | rule.value;
    }
    const RacingWriter writer(host_.memory(), at, now, other);
    chip_->advance(take<uint16_t>());
    reach().place(2, true);
  }

  void operate() {
    const auto kind = take<uint8_t>();
    switch (kind % 16) {
      case 12:
      case 13:
      case 14:
        return stream();
      case 15:
        return race();
      case 0:
      case 1:
        return fill(take<uint32_t>() % kHostBytes / 4 * 4);
      case 2:
      case 3:
      case 4:
        return command(take<uint16_t>() * 4u);
      case 5:
        return start_ring();
      case 6:
        return submit();
      case 7: {  // a register of an engine
        const spec::EngineModel& engine = take_engine();
        const uint32_t offset = take<uint16_t>() % 0x800 / 4 * 4;
        return write(engine, offset, take<uint32_t>());
      }
      case 8: {  // any register
        const uint32_t offset = take<uint32_t>() % static_cast<uint32_t>(model_.mmio_bytes) / 4 * 4;
        chip_->bar_write(0, offset, 4, take<uint32_t>());
        static_cast<void>(chip_->bar_read(0, offset, 4));
        return;
      }
      case 9:
        return chip_->advance(take<uint16_t>());
      case 10:
        static_cast<void>(chip_->settle(take<uint16_t>()));
        return;
      default:
        if (take<uint8_t>() == 0) return chip_->reset(device::ResetKind::function_level), chip_->config_write(4, 2, 7);
        return chip_->reset_engine(take_engine());
    }
  }

  const spec::DeviceModel& model_;
  StreamMaker streams_;
  MemoryHost host_{kHostBytes};
  MemoryHost twin_host_{kHostBytes};
  std::unique_ptr<device::Device> chip_;
  std::unique_ptr<device::Device> twin_;
  device::DeviceState fresh_;
  std::vector<std::byte> fresh_memory_;
};

// Input: one byte for the chip and the settings, then operations.
inline void engine(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const auto models = spec::device_models();
  // Creating one takes longer than a run.
  static std::vector<std::unique_ptr<EngineFuzz>> chips(models.size() * EngineFuzz::kSettings.size());
  const size_t which = data[0] % chips.size();
  std::unique_ptr<EngineFuzz>& chip = chips[which];
  if (!chip) {
    chip = std::make_unique<EngineFuzz>(models[which % models.size()], EngineFuzz::kSettings[which / models.size()]);
  }
  chip->run(data.subspan(1));
}

}  // namespace halogen::fuzz
