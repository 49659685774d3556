// Who accesses graphics memory, and through which table. Gen4 chooses the table of each internal stream by a bit of
// PGTBL_STR2 (seed 003 4.6.1); later parts choose with each access. The processor and the display use the global table
// on every part (seed 001, page table modes).
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
  constants,       // CURBE; from the table of the command that names them
  media_data,      // indirect data of media objects; likewise
  vertex,
  sampler,
  render_cache,  // color, data port
  depth,
  blit,
  store_data,  // MI_STORE_DATA and its relatives; from the table of the command
  post_sync,   // PIPE_CONTROL writes; the command says which table
  display_a,
  display_b,
  overlay,
  cursor,
  vga,
  host,  // the processor, through the aperture
};
inline constexpr unsigned kStreams = 18;
std::string_view name_of(Stream stream);

enum class TableKind : uint8_t { global, per_process };

// What an access must use. `asked`: what the command says, or what the command itself was fetched from. `select` is
// PGTBL_STR2 where the device has it.
TableKind table_of(Stream stream, TableKind asked, std::optional<uint32_t> select);

// Display, cursor, VGA and the processor: no command streamer, only the global table.
bool is_external(Stream stream);
// May the stream access snooped pages (Gen4)?
bool may_snoop(Stream stream);
// Does the stream work while PGTBL_CTL has the table switched off (Gen4)? Of the processor: reads.
bool works_without_table(Stream stream);

FaultStream fault_stream(Stream stream);
// The TLB that an engine's stream uses; `number` counts the engines of its class.
TlbClient tlb_client(spec::EngineClass engine, unsigned number, Stream stream);

}  // namespace halogen::memory
