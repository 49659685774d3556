// Stores to memory: immediate data, status pages, copies, page table entries, counter reports. A write is done when its
// command is parsed, so posted writes are never late.
#include <array>

#include "engine/engine.h"
#include "engine/mi/mi_access.h"
#include "hw/mi_memory.h"
#include "hw/mi_urb.h"
#include "hw/mi_video.h"
#include "hw/oa_report.h"
#include "hw/struct_sizes.h"
#include "spec/structure_size.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

constexpr uint64_t kQword = 8;

void undefined(const Engine& engine, const Command& command, uint64_t value, std::string_view what) {
  engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value, value,
               std::string(what));
}

Next store_dwords(Engine& engine, const Command& command, const CommandAddress& target, size_t count, bool qword) {
  if (qword && target.address % kQword != 0) {
    undefined(engine, command, target.address, "qword not aligned to 8 bytes");
  }
  const std::span<const uint32_t> data = command.dwords.last(count);
  return engine.after(target.write(engine, std::as_bytes(data)));
}

Next store_data_imm(Engine& engine, const Command& command) {
  using Store = hw::MI_STORE_DATA_IMM;
  const auto store = command.as<Store>(engine.gen());
  const size_t count = Store::count_data(engine.gen(), command.dwords);
  const Generation& generation = engine.generation();
  const bool qword = store.store_qword || (generation.has(spec::Feature::length_selects_qword) && count == 2);
  if (generation.has(spec::Feature::stores_to_physical_memory) &&
      store.memory_address_type == Store::MemoryAddressType::physical_address) {
    const uint64_t address = store.address.value | uint64_t{store.physical_start_address_extension} << 32;
    if (command.permit.drop_write) {
      // G45 PRM vol. 1b 5.3.7.6 (seed 003): a hang until reset. GM45 only drops the write.
      engine.errors().raise(ErrorKind::instruction);
      return engine.hang("store to a physical address in a non-secure batch");
    }
    if (command.permit.restricted) {
      engine.privilege().violation();
    }
    return store_dwords(engine, command, physical_target(command, address), count, qword);
  }
  return store_dwords(engine, command, graphics_target(engine, command, store.use_global_gtt, store.address), count,
                      qword);
}

// Handles the video streamer of GM45, which has graphics addresses only.
Next store_data_imm_vce(Engine& engine, const Command& command) {
  using Store = hw::MI_STORE_DATA_IMM_VCE;
  const auto store = command.as<Store>(engine.gen());
  const size_t count = Store::count_data(engine.gen(), command.dwords);
  CommandAddress target = graphics_target(engine, command, store.use_global_gtt, store.address);
  if (!store.use_global_gtt && !command.permit.restricted) {
    target.space = &engine.data_space(memory::TableKind::per_process);
  }
  return store_dwords(engine, command, target, count, count == 2);
}

// Earlier dwords of the page are reserved for hardware.
constexpr unsigned kFirstFreeDword = 16;

Next store_data_index(Engine& engine, const Command& command) {
  const auto store = command.as<hw::MI_STORE_DATA_INDEX>(engine.gen());
  const bool qword = command.dwords.size() > 3;
  const auto first = static_cast<unsigned>(store.offset / sizeof(uint32_t)) & (qword ? ~1u : ~0u);
  if (first < kFirstFreeDword) {
    undefined(engine, command, store.offset, "offset in the reserved part of the status page");
  }
  if (store.surface_probe_list) {
    undefined(engine, command, store.offset, "surface probe list selected; only hardware may write it");
    return Next::advance();
  }
  bool process = store.use_per_process_hardware_status_page || command.permit.per_process_page;
  if (engine.lacks_process_space()) {
    if (command.permit.per_process_page) {
      engine.privilege().violation();
      return Next::advance();
    }
    process = false;
  }
  const std::array<uint32_t, 2> data{store.data_dword_0, store.data_dword_1};
  for (unsigned i = 0; i < (qword ? 2u : 1u); ++i) {
    StatusPage& page = engine.status_page();
    const memory::AccessResult result =
        process ? page.write_process(first + i, data[i]) : page.write(first + i, data[i]);
    if (!ok(result)) {
      return engine.stopped_by_fault(result);
    }
  }
  return Next::advance();
}

Next copy_mem_mem(Engine& engine, const Command& command) {
  const auto copy = command.as<hw::MI_COPY_MEM_MEM>(engine.gen());
  const auto from = graphics_target(engine, command, copy.use_global_gtt_source, copy.source_memory_address);
  const auto to = graphics_target(engine, command, copy.use_global_gtt_destination, copy.destination_memory_address);
  uint32_t value = 0;
  const memory::AccessResult result = from.load(engine, value);
  return engine.after(ok(result) ? to.store(engine, value) : result);
}

Next update_gtt(Engine& engine, const Command& command) {
  using Update = hw::MI_UPDATE_GTT;
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kTableReach = 1024 * kPage;  // addresses that one page of entries below a directory maps
  const auto update = command.as<Update>(engine.gen());
  const size_t narrow = Update::count_entries(engine.gen(), command.dwords);
  const size_t wide = Update::count_wide_entries(engine.gen(), command.dwords);
  const bool process = update.entry_type == Update::EntryType::ppgtt;
  if (command.permit.drop_write) {
    return Next::advance();
  }
  if (process && narrow != 0 &&
      update.entry_address / kTableReach != (update.entry_address + (narrow - 1) * kPage) / kTableReach) {
    undefined(engine, command, update.entry_address, "entries cross a page table boundary");
  }
  const std::span<const uint32_t> entries = command.dwords.last(wide != 0 ? 2 * wide : narrow);
  if ((process && engine.lacks_process_space()) ||
      !engine.services().write_entries(process ? memory::TableKind::per_process : memory::TableKind::global,
                                       GpuVa{update.entry_address}, entries)) {
    undefined(engine, command, update.entry_address, "page table not present");
  }
  engine.stream().invalidate();
  return Next::advance();
}

// The model has no caches whose content can differ from memory.
Next clflush(Engine& /*engine*/, const Command& /*command*/) {
  return Next::advance();
}

// Protected content is not modelled: all sessions see the same data.
Next set_appid(Engine& engine, const Command& command) {
  engine.approximate(command.desc, "sessions of protected content not distinguished");
  return Next::advance();
}

// The resource streamer never runs, so stopping it has no effect.
Next rs_control(Engine& engine, const Command& command) {
  using Control = hw::MI_RS_CONTROL::ResourceStreamerControl;
  if (command.as<hw::MI_RS_CONTROL>(engine.gen()).resource_streamer_control != Control::stop) {
    engine.unsupported(command.desc);
  }
  return Next::advance();
}

// Makes the report of a chip without an observation unit. No source that the model uses names its counters.
size_t plain_report(Engine& engine, uint32_t id, std::span<uint32_t, oa::kMaxReportDwords> into) {
  const mmio::RegisterSlot* const timestamp = engine.registers().slot(spec::RegisterId::TIMESTAMP);
  const hw::OA_REPORT_HEADER header{.report_id = id,
                                    .timestamp = timestamp == nullptr ? 0 : engine.read_register(timestamp->offset)};
  const size_t dwords = spec::bytes_of<hw::PERF_COUNT_REPORT>(engine.gen()) / sizeof(uint32_t);
  static_cast<void>(header.pack(engine.gen(), into.first<hw::kMaxDwords<hw::OA_REPORT_HEADER>>()));
  return dwords;
}

Next report_perf_count(Engine& engine, const Command& command) {
  const auto report = command.as<hw::MI_REPORT_PERF_COUNT>(engine.gen());
  const oa::CommandReport request{
      .report_id = report.report_id,
      .context_id = static_cast<uint32_t>(engine.state().execlist.running.value_or(0) >> 32)};
  std::array<uint32_t, oa::kMaxReportDwords> dwords{};
  engine.report_time(oa::EngineTime::works);
  engine.services().set_time(engine.now());
  size_t count = engine.services().counter_report(request, dwords);
  if (count == 0) {
    engine.approximate(command.desc, "counters reported as zero");
    count = plain_report(engine, report.report_id, dwords);
  } else {
    engine.approximate(command.desc, "counters of caches, of signals and of EU pipes are not the chip's");
  }
  const auto target = graphics_target(engine, command, report.use_global_gtt, report.memory_address);
  return engine.after(target.write(engine, std::as_bytes(std::span(dwords)).first(count * sizeof(uint32_t))));
}

}  // namespace

void add_store_handlers(HandlerTable& table) {
  table.add(CommandId::MI_STORE_DATA_IMM, store_data_imm);
  table.add(CommandId::MI_STORE_DATA_IMM_VCE, store_data_imm_vce);
  table.add(CommandId::MI_STORE_DATA_INDEX, store_data_index);
  table.add(CommandId::MI_COPY_MEM_MEM, copy_mem_mem);
  table.add(CommandId::MI_UPDATE_GTT, update_gtt);
  table.add(CommandId::MI_CLFLUSH, clflush);
  table.add(CommandId::MI_SET_APPID, set_appid);
  table.add(CommandId::MI_RS_CONTROL, rs_control);
  table.add(CommandId::MI_REPORT_PERF_COUNT, report_perf_count);
}

}  // namespace halogen::engine
