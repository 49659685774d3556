// The clients of graphics memory and the tables that they use. On Gen4 a bit of PGTBL_STR2 selects the table of each
// internal stream (G45 PRM vol. 1b 4.6.1, seed 003); later parts select it with each access. The CPU and the
// display use the global table on every part (Ice Lake PRM vol. 6, page table modes, seed 001).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gen/translation_rules.h"
#include "memory/fault_unit.h"
#include "spec/device_model.h"

namespace halogen::memory {

enum class Stream : uint8_t {
  ring,
  batch,
  indirect_state,  // unit states, instructions
  constants,       // CURBE; through the table of the command that names them
  media_data,      // indirect data of media objects; through the table of the command
  vertex,
  sampler,
  render_cache,  // color, data port
  depth,
  blit,
  store_data,  // MI_STORE_DATA and similar commands; through the table of the command
  post_sync,   // PIPE_CONTROL writes; the command says which table
  display_a,
  display_b,
  overlay,
  cursor,
  vga,
  host,         // the processor, through the aperture
  observation,  // reports of performance counters
};
inline constexpr unsigned kStreams = 19;
std::string_view name_of(Stream stream);

enum class TableKind : uint8_t { global, per_process };

// Returns the table that an access must use. `asked`: the table that the command names, or that it was fetched through.
// `select`: PGTBL_STR2, if the device has it.
TableKind table_of(Stream stream, TableKind asked, std::optional<uint32_t> select);

// Returns whether the stream has no command streamer and uses only the global table: displays, overlay, cursor, VGA,
// CPU, observation.
bool is_external(Stream stream);
// Returns whether the stream may access snooped pages (Gen4).
bool may_snoop(Stream stream);
// Returns whether the stream works while PGTBL_CTL disables the table (Gen4). For the CPU: its reads.
bool works_without_table(Stream stream);

FaultStream fault_stream(Stream stream);
// Returns the TLB that an engine's stream uses. `number` is the engine's number in its class.
TlbClient tlb_client(spec::EngineClass engine, unsigned number, Stream stream);

}  // namespace halogen::memory
