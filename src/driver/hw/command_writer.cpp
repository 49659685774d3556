#include "driver/hw/command_writer.h"

#include "hw/common.h"
#include "hw/mi_flow.h"
#include "hw/mi_memory.h"
#include "hw/mi_register.h"
#include "hw/mi_video.h"
#include "hw/predicate.h"

namespace halogen::driver {

void CommandWriter::start_batch(uint64_t address, bool secure) {
  if (has<hw::MI_BATCH_BUFFER_START_VCE>()) {
    hw::MI_BATCH_BUFFER_START_VCE start;
    start.buffer_security_indicator = secure ? hw::MI_BATCH_BUFFER_START_VCE::BufferSecurityIndicator::secure
                                             : hw::MI_BATCH_BUFFER_START_VCE::BufferSecurityIndicator::non_secure;
    start.batch_buffer_start_address = GpuVa(address);
    add(start);
    return;
  }
  using Start = hw::MI_BATCH_BUFFER_START;
  Start start;
  if (has_field<Start>("memory_space_select")) {
    start.memory_space_select = Start::MemorySpaceSelect::graphics_memory;
  }
  if (has_field<Start>("buffer_security_indicator")) {
    start.buffer_security_indicator =
        secure ? Start::BufferSecurityIndicator::secure : Start::BufferSecurityIndicator::non_secure;
  }
  if (has_field<Start>("address_space_indicator")) {
    start.address_space_indicator = secure ? Start::AddressSpaceIndicator::ggtt : Start::AddressSpaceIndicator::ppgtt;
  }
  // The first chips start batches at whole cache lines, whatever the program passes.
  if (has_field<Start>("batch_buffer_start_address_extension")) address &= ~uint64_t{63};
  start.batch_buffer_start_address = GpuVa(address);
  add(start);
}

void CommandWriter::flush(bool invalidate) {
  if (has<hw::MI_FLUSH_DW>()) {
    hw::MI_FLUSH_DW flush;
    flush.tlb_invalidate = invalidate && has_field<hw::MI_FLUSH_DW>("tlb_invalidate");
    // An invalidation requires a write after it; it goes to the status page.
    flush.store_data_index = flush.tlb_invalidate;
    if (flush.tlb_invalidate) {
      flush.post_sync_operation = hw::PostSyncOperation::WRITE_IMMEDIATE_DATA;
      flush.address = GpuVa(0x80);
    }
    add(flush);
  } else if (has<hw::MI_FLUSH>()) {
    hw::MI_FLUSH flush;
    flush.state_instruction_cache_invalidate = true;
    add(flush);
  } else if (has<hw::MI_FLUSH_VCE>()) {
    add(hw::MI_FLUSH_VCE{});
  } else {
    hw::PIPE_CONTROL control;
    control.command_streamer_stall_enable = true;
    control.render_target_cache_flush_enable = true;
    control.depth_cache_flush_enable = true;
    control.dc_flush_enable = true;
    if (invalidate) {
      control.instruction_cache_invalidate_enable = true;
      control.state_cache_invalidation_enable = true;
      control.constant_cache_invalidation_enable = true;
      control.vf_cache_invalidation_enable = true;
      control.texture_cache_invalidation_enable = true;
      control.tlb_invalidate = true;
    }
    add(control);
  }
}

void CommandWriter::store_status(uint32_t offset, uint32_t value) {
  hw::MI_STORE_DATA_INDEX store;
  store.offset = offset;
  store.data_dword_0 = value;
  add(store);
}

void CommandWriter::store_global(uint64_t address, uint32_t value) {
  hw::MI_STORE_DATA_IMM store;
  store.use_global_gtt = true;
  store.address = GpuVa(address);
  add(store);
  dwords_.back() = value;
}

void CommandWriter::load_register(uint32_t offset, uint32_t value) {
  using Load = hw::MI_LOAD_REGISTER_IMM;
  add(Load{});
  const Load::Pairs pair{.register_offset = offset, .data_dword = value};
  check(Load::pack_pairs(gen_, std::span(dwords_).last(3), 0, pair).ok(), "the offset fits its field");
}

void CommandWriter::load_register_from(uint32_t offset, uint64_t address) {
  hw::MI_LOAD_REGISTER_MEM load;
  load.use_global_gtt = true;
  load.register_address = offset;
  load.memory_address = GpuVa(address);
  add(load);
}

void CommandWriter::set_context(uint64_t address, bool inhibit) {
  using Context = hw::MI_SET_CONTEXT;
  Context context;
  context.restore_inhibit = inhibit;
  if (has_field<Context>("memory_space_select")) {
    context.memory_space_select = Context::MemorySpaceSelect::global_graphics_memory;
  }
  context.extended_state_restore_enable = !inhibit && has_field<Context>("extended_state_restore_enable");
  context.extended_state_save_enable = has_field<Context>("extended_state_save_enable");
  context.logical_context_address = GpuVa(address);
  add(context);
}

void CommandWriter::interrupt() {
  add(hw::MI_USER_INTERRUPT{});
}

void CommandWriter::arbitrate() {
  add(hw::MI_ARB_CHECK{});
}

void CommandWriter::pad() {
  if (dwords_.size() % 2 != 0) dwords_.push_back(0);
}

}  // namespace halogen::driver
