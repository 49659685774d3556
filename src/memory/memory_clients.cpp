#include "memory/memory_clients.h"

#include <array>

#include "base/bits.h"

namespace halogen::memory {

namespace {

using spec::EngineClass;

constexpr int8_t kGlobalOnly = -1;
constexpr int8_t kAsAsked = -2;

struct Row {
  std::string_view name;
  int8_t select;  // bit of PGTBL_STR2, or one of the above
  bool snoops;
  bool without_table;
  FaultStream fault;
  TlbClient tlb;  // of the render engine
};

// In the order of Stream. G45 PRM vol. 1b, logical memory space mappings and PGTBL_ER (seed 003).
constexpr std::array<Row, kStreams> kRows{{
    {"ring", 2, false, false, FaultStream::command_fetch, TlbClient::ff},
    {"batch", 5, false, false, FaultStream::command_fetch, TlbClient::ff},
    {"indirect state", 4, false, false, FaultStream::state_cache, TlbClient::l3},
    {"constants", kAsAsked, false, false, FaultStream::cs, TlbClient::l3},
    {"media data", kAsAsked, false, false, FaultStream::cs, TlbClient::l3},
    {"vertex", 3, true, false, FaultStream::vertex_fetch, TlbClient::ff},
    {"sampler", 1, true, false, FaultStream::sampler_cache, TlbClient::tx},
    {"render cache", 0, true, false, FaultStream::render_cache, TlbClient::c},
    {"depth", 0, false, false, FaultStream::render_cache, TlbClient::z},
    {"blit", 0, true, false, FaultStream::render_cache, TlbClient::blt},
    {"store data", kAsAsked, true, false, FaultStream::cs, TlbClient::ff},
    {"post sync", kAsAsked, true, false, FaultStream::cs, TlbClient::ff},
    {"display A", kGlobalOnly, false, false, FaultStream::display_a, TlbClient::l3},
    {"display B", kGlobalOnly, false, false, FaultStream::display_b, TlbClient::l3},
    {"overlay", kGlobalOnly, false, false, FaultStream::overlay, TlbClient::l3},
    {"cursor", kGlobalOnly, false, true, FaultStream::cursor, TlbClient::l3},
    {"VGA", kGlobalOnly, false, true, FaultStream::display_a, TlbClient::l3},
    {"host", kGlobalOnly, false, true, FaultStream::host, TlbClient::l3},
    {"observation", kGlobalOnly, true, false, FaultStream::cs, TlbClient::l3},
}};

const Row& row(Stream stream) {
  return kRows[static_cast<size_t>(stream)];
}

}  // namespace

std::string_view name_of(Stream stream) {
  return row(stream).name;
}

TableKind table_of(Stream stream, TableKind asked, std::optional<uint32_t> select) {
  const int8_t rule = row(stream).select;
  if (rule == kGlobalOnly) {
    return TableKind::global;
  }
  if (rule == kAsAsked || !select) {
    return asked;
  }
  return bit(*select, static_cast<unsigned>(rule)) ? TableKind::per_process : TableKind::global;
}

bool is_external(Stream stream) {
  return row(stream).select == kGlobalOnly;
}

bool may_snoop(Stream stream) {
  return row(stream).snoops;
}

bool works_without_table(Stream stream) {
  return row(stream).without_table;
}

FaultStream fault_stream(Stream stream) {
  return row(stream).fault;
}

TlbClient tlb_client(EngineClass engine, unsigned number, Stream stream) {
  switch (engine) {
    case EngineClass::video:
      return number == 0 ? TlbClient::mfx0 : TlbClient::mfx1;
    case EngineClass::vebox:
      return TlbClient::gav;
    case EngineClass::blit:
      return TlbClient::blt;
    case EngineClass::render:
    case EngineClass::compute:
    case EngineClass::posh:
      break;
  }
  return row(stream).tlb == TlbClient::blt ? TlbClient::c : row(stream).tlb;  // Gen4 blits on the render engine
}

}  // namespace halogen::memory
