// Contexts for execlist engines, built and submitted as a kernel driver does: status pages, context images, rings and
// page tables in memory, submissions through the engine's registers. Everything is written from the manual (DG1 PRM
// vol. 13, Logical Contexts, seed 000) and from the known behaviour of i915, independent of the model's own tables.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/engine_bench.h"

namespace halogen {

struct ContextBench : EngineBench {
  using EngineBench::emit;  // for rings, with execlists disabled
  // Registers, from an engine's base.
  static constexpr uint32_t kStatusPageAddress = 0x80, kMode = 0x29c, kPort = 0x230, kListStatus = 0x234,
                            kSubmitQueue = 0x510, kQueueControl = 0x550, kStatusPointer = 0x3a0, kStatusBuffer = 0x370,
                            kStatusBufferUpper = 0x3c0, kStatusMask = 0x218, kContextId = 0x180, kContextTime = 0x3a8,
                            kActiveHead = 0x74, kGpr = 0x600;
  // Dword indices of the values in an image, the same on every chip; the register offset is one dword before.
  static constexpr unsigned kImageControl = 0x03, kImageHead = 0x05, kImageTail = 0x07, kImageStart = 0x09,
                            kImageRingControl = 0x0b, kImageBatchHigh = 0x0d, kImageBatch = 0x0f, kImageTime = 0x23,
                            kImagePdp0High = 0x31, kImagePdp0 = 0x33;
  // Bits of CTXT_SR_CTL, for masked writes.
  static constexpr uint32_t kRestoreInhibit = 1u << 0, kSaveInhibit = 1u << 2, kNoSwitchOnWait = 1u << 3;

  // A status page and an image; drivers allocate 14 pages or more for the render engine.
  static constexpr size_t kContextPages = 14;

  struct Context {
    std::string_view engine;
    uint64_t address = 0;  // of its status page, in the global table; the image follows
    uint64_t ring = 0;
    uint64_t ring_bytes = 0;
    uint64_t tail = 0;
    uint32_t id = 0;                  // upper dword of the descriptor
    uint32_t bits = 0;                // further bits of the lower dword
    uint64_t tables = 0;              // page of the root table, as a host address
    std::vector<uint64_t> all{};      // every table page
    std::map<uint64_t, uint64_t> at;  // (level, index path) -> table page
  };

  explicit ContextBench(std::string_view name, device::DeviceOptions options = {})
      : EngineBench(name, tables_in_system_memory(std::move(options))) {
    for (const spec::EngineModel& each : model.engines) {
      status_pages_[each.name] = allocate(1);
      set_reg(each.name, kStatusPageAddress, static_cast<uint32_t>(status_pages_[each.name]));
      set_reg(each.name, kMode, 0x8000'8000);  // execlist enable, masked
    }
    host.log.clear();
  }

  // ---- the chip

  bool has_queue() const { return model.gen == spec::GenId::gen11 || model.gen == spec::GenId::gen12; }
  bool status_names_both() const { return model.gen == spec::GenId::gen12; }
  bool relative_images() const { return has_queue(); }
  bool has_wide_tables() const { return model.has(spec::Feature::ppgtt_4level); }
  unsigned status_entries() const { return has_queue() ? 12 : 6; }
  unsigned status_index_dword() const { return has_queue() ? 0x2f : 0x1f; }
  unsigned image_restore_batch() const { return model.gen == spec::GenId::gen12 ? 0x13 : 0x19; }
  unsigned image_indirect() const { return image_restore_batch() + 2; }
  unsigned image_indirect_offset() const { return image_restore_batch() + 4; }

  // ---- contexts

  // Software context ids: bits 20:0 of the upper dword on Gen8 and Gen9, 15:5 since Gen11 (with class and instance).
  uint32_t upper_dword(std::string_view engine, uint32_t id) const {
    if (!has_queue()) {
      return id;
    }
    const spec::EngineModel& each = engine_model(engine);
    static constexpr std::pair<spec::EngineClass, uint32_t> kClasses[] = {
        {spec::EngineClass::render, 0}, {spec::EngineClass::video, 1},   {spec::EngineClass::vebox, 2},
        {spec::EngineClass::blit, 3},   {spec::EngineClass::compute, 5}, {spec::EngineClass::posh, 6}};
    uint32_t number = 0;
    for (const auto& [engine_class, as_number] : kClasses) {
      number = each.engine_class == engine_class ? as_number : number;
    }
    return number << 29 | uint32_t{each.instance} << 16 | id << 5;
  }

  Context create(std::string_view engine, uint32_t id, uint32_t control = kRestoreInhibit | kNoSwitchOnWait,
                 size_t ring_pages = 1) {
    Context context;
    context.engine = engine;
    context.address = allocate(kContextPages);
    context.ring = allocate(ring_pages);
    context.ring_bytes = ring_pages * kPage;
    context.id = upper_dword(engine, id);
    write_image(context);
    set_image(context, kImageControl, 0xffff'0000 | control);
    set_image(context, kImageStart, static_cast<uint32_t>(context.ring));
    set_image(context, kImageRingControl, static_cast<uint32_t>((ring_pages - 1) << 12 | 1));
    return context;
  }

  // Every image starts with the registers of the ring, then page directory pointers.
  void write_image(const Context& context) {
    const uint32_t base = relative_images() ? 0 : engine_model(context.engine).mmio_base;
    const uint32_t bits = relative_images() ? 0x1108'1000 : 0x1100'1000;
    std::vector<uint32_t> ring = {0x244, 0x34, 0x30, 0x38, 0x3c, 0x168, 0x140, 0x110};
    const auto rest = model.gen == spec::GenId::gen12 ? std::vector<uint32_t>{0x1c0, 0x1c4, 0x1c8, 0x180, 0x2b4}
                                                      : std::vector<uint32_t>{0x11c, 0x114, 0x118, 0x1c0, 0x1c4, 0x1c8};
    ring.insert(ring.end(), rest.begin(), rest.end());
    write_load(context, 0x01, bits, base, ring);
    write_load(context, 0x21, bits, base, {0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270});
  }
  void write_load(const Context& context, unsigned at, uint32_t bits, uint32_t base,
                  const std::vector<uint32_t>& offsets) {
    set_image(context, at, bits | static_cast<uint32_t>(2 * offsets.size() - 1));
    for (const uint32_t offset : offsets) {
      set_image(context, ++at, base + offset);
      set_image(context, ++at, 0);
    }
  }
  void set_image(const Context& context, unsigned dword, uint32_t value) {
    poke(context.address + kPage + dword * 4, value);
  }
  uint32_t image(const Context& context, unsigned dword) { return peek(context.address + kPage + dword * 4); }
  uint32_t process_page(const Context& context, unsigned dword) { return peek(context.address + dword * 4); }

  // Adds commands at the end of the context's ring, padded to a qword, and updates the tail in the image.
  void emit(Context& context, std::span<const uint32_t> dwords) {
    for (const uint32_t dword : dwords) {
      push(context, dword);
    }
    if (context.tail % 8 != 0) {
      push(context, 0);
    }
    set_image(context, kImageTail, static_cast<uint32_t>(context.tail));
  }
  void emit(Context& context, std::initializer_list<uint32_t> dwords) { emit(context, std::span(dwords)); }

  // Returns MI_STORE_DATA_IMM of one dword through the global table.
  static std::vector<uint32_t> store(uint64_t global, uint32_t value) {
    return {0x1040'0002, static_cast<uint32_t>(global), 0, value};
  }

  // Returns MI_SEMAPHORE_WAIT until a dword of the global table equals `value`; it polls, or waits for a signal.
  std::vector<uint32_t> wait_for(uint64_t global, uint32_t value, bool polls = true) const {
    const bool token = model.gen == spec::GenId::gen12;
    std::vector<uint32_t> out{0x0e40'4002 | (polls ? 0x8000u : 0u) | (token ? 1u : 0u), value,
                              static_cast<uint32_t>(global), 0};
    if (token) {
      out.push_back(0);
    }
    return out;
  }

  // ---- per-process tables

  // Maps a page of the process to one of allocate().
  void map_process(Context& context, uint64_t address, uint64_t global) {
    const bool wide = has_wide_tables();
    if (context.tables == 0) {
      context.tables = wide ? table(context, 0) : 0;
      if (wide) {
        set_image(context, kImagePdp0, static_cast<uint32_t>(context.tables));
        set_image(context, kImagePdp0High, static_cast<uint32_t>(context.tables >> 32));
      }
    }
    uint64_t directory = 0;
    if (wide) {
      const uint64_t pointers = below(context, context.tables, address >> 39 & 0x1ff);
      directory = below(context, pointers, address >> 30 & 0x1ff);
    } else {
      const auto number = static_cast<unsigned>(address >> 30 & 3);
      directory = table(context, 1 + number);
      set_image(context, kImagePdp0 - 4 * number, static_cast<uint32_t>(directory));
      context.tables = directory;
    }
    const uint64_t leaves = below(context, directory, address >> 21 & 0x1ff);
    host.put<uint64_t>(leaves + (address >> 12 & 0x1ff) * 8, host_address(global) | 3);
    context.bits = wide ? 0x118 : 0x108;  // legacy addressing of 48 or 32 bits, own tables
  }

  // ---- submission and status

  uint64_t descriptor(const Context& context, uint32_t more = 0) const {
    return uint64_t{context.id} << 32 | context.address | context.bits | more | 1;
  }
  void submit_raw(std::string_view engine, std::vector<uint64_t> descriptors) {
    if (!has_queue()) {
      descriptors.resize(2);
      for (const size_t element : {size_t{1}, size_t{0}}) {
        set_reg(engine, kPort, static_cast<uint32_t>(descriptors[element] >> 32));
        set_reg(engine, kPort, static_cast<uint32_t>(descriptors[element]));
      }
      return;
    }
    descriptors.resize(8);
    for (size_t element = 0; element < 8; ++element) {
      const auto at = static_cast<uint32_t>(kSubmitQueue + 8 * element);
      set_reg(engine, at, static_cast<uint32_t>(descriptors[element]));
      set_reg(engine, at + 4, static_cast<uint32_t>(descriptors[element] >> 32));
    }
    set_reg(engine, kQueueControl, 1);
  }
  void submit(std::initializer_list<const Context*> contexts, uint32_t more = 0) {
    std::vector<uint64_t> descriptors;
    for (const Context* const context : contexts) {
      descriptors.push_back(descriptor(*context, more));
    }
    submit_raw((*contexts.begin())->engine, std::move(descriptors));
  }
  void run(const Context& context) {
    submit({&context});
    EXPECT_TRUE(device->settle());
  }

  // Unmasks context switch interrupts of the render engine, up to the registers below the master.
  void unmask_context_switches() {
    if (has_queue()) {
      write(0x190030, 0x100u << 16);
      write(0x190090, ~(0x100u << 16));
    } else {
      write(0x20a8, ~0x100u);
      write(0x44304, ~0x100u);
      write(0x4430c, 0x100);
    }
  }
  // Returns whether an interrupt came since the last call.
  bool take_context_switch() {
    if (!has_queue()) {
      const uint32_t identity = read(0x44308) & 0x100;
      write(0x44308, identity);
      return identity != 0;
    }
    if ((read(0x190018) & 1) == 0) {
      return false;
    }
    write(0x190070, 1);
    const uint32_t identity = read(0x190060);
    write(0x190060, 1u << 31);
    write(0x190018, 1);
    return (identity & 0x8000'0100) == 0x8000'0100;
  }

  uint64_t status_page(std::string_view engine) { return status_pages_[engine]; }
  // Returns what the engine has reported since the last call.
  std::vector<uint64_t> statuses(std::string_view engine) {
    std::vector<uint64_t> out;
    const uint64_t page = status_pages_[engine];
    unsigned& seen = seen_.try_emplace(engine, status_entries() - 1).first->second;
    const uint32_t pointer = reg(engine, kStatusPointer) & (has_queue() ? 0xfu : 7u);
    if (pointer >= status_entries()) {
      return out;  // nothing since reset
    }
    const uint32_t last = peek(page + status_index_dword() * 4);
    while (seen != last) {
      seen = (seen + 1) % status_entries();
      const uint64_t entry = page + 0x40 + 8 * seen;
      out.push_back(peek(entry) | uint64_t{peek(entry + 4)} << 32);
    }
    return out;
  }
  // After a reset the buffer starts over, so drivers set their own index and the one in the page to the last entry.
  void forget_statuses(std::string_view engine) {
    seen_.erase(engine);
    poke(status_pages_[engine] + status_index_dword() * 4, status_entries() - 1);
  }
  // Entries in this chip's format (docs/requirements/dg1.md, CSB-03 and CSB-04).
  static constexpr uint32_t kIdle = 0x7ff;
  uint64_t new_form(bool new_queue, const Context* away, const Context* to, uint32_t detail = 0,
                    bool polls = false) const {
    const auto name = [](const Context* context) {
      return context == nullptr ? kIdle << 15 : (context->id >> 5 & 0x7ff) << 15 | (context->id >> 23 & 0x3f) << 26;
    };
    const Context* const known = away != nullptr ? away : to;
    const uint32_t engine = known == nullptr ? 0 : (known->id >> 29 & 7) << 3 | (known->id >> 16 & 0x3f) << 6;
    return uint64_t{name(away) | detail} << 32 | name(to) | engine | (polls ? 4u : 0u) | (new_queue ? 1u : 0u);
  }
  static uint64_t old_form(uint32_t flags, const Context* away = nullptr) {
    return uint64_t{away == nullptr ? 0 : away->id} << 32 | flags;
  }
  uint64_t idle_to_active(const Context& to) const {
    return status_names_both() ? new_form(true, nullptr, &to) : old_form(0x1);
  }
  uint64_t complete_to_idle(const Context& away) const {
    return status_names_both() ? new_form(false, &away, nullptr) : old_form(0x18, &away);
  }
  uint64_t complete_to_element(const Context& away, const Context& to) const {
    return status_names_both() ? new_form(false, &away, &to) : old_form(0x14, &away);
  }
  uint64_t complete_to_queue(const Context& away, const Context& to) const {
    return status_names_both() ? new_form(true, &away, &to) : old_form(0x12, &away);
  }
  uint64_t preempted(const Context& away, const Context& to) const {
    return status_names_both() ? new_form(true, &away, &to, 5) : old_form(0x2, &away);
  }
  uint64_t lite_restore(const Context& context) const {
    return status_names_both() ? new_form(true, &context, &context) : old_form(0x8002, &context);
  }

 private:
  static device::DeviceOptions tables_in_system_memory(device::DeviceOptions options) {
    options.local_tables = false;
    return options;
  }
  void push(Context& context, uint32_t dword) {
    poke(context.ring + context.tail, dword);
    context.tail = (context.tail + 4) % context.ring_bytes;
  }
  // Returns the table page for a position in the tree, created at the first use.
  uint64_t table(Context& context, uint64_t place) {
    const auto [found, made] = context.at.try_emplace(place, 0);
    if (made) {
      found->second = host_address(allocate(1));
    }
    return found->second;
  }
  uint64_t below(Context& context, uint64_t above, uint64_t index) {
    const uint64_t page = table(context, above + index * 8);
    host.put<uint64_t>(above + index * 8, page | 3);
    return page;
  }

  std::map<std::string_view, uint64_t> status_pages_;
  std::map<std::string_view, unsigned> seen_;
};

}  // namespace halogen
