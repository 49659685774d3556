// Descriptions of registers of threads: the payloads that threads start with, and the headers of messages. The tables
// behind these types are generated from spec/payloads (docs/spec-language.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"
#include "spec/register_words.h"
#include "spec/thread_kinds.h"  // generated: ThreadKind, kThreadNames

namespace halogen::spec {

struct PayloadDesc : ItemDesc {
  std::array<uint16_t, kGenCount> dwords_of_gen;
  uint16_t threads;  // bit n: ThreadKind n
  uint16_t start;    // its first dword, counted from r0.0
  Rewrite rewrite;

  bool belongs_to(ThreadKind kind) const { return (threads >> static_cast<unsigned>(kind) & 1) != 0; }
};

struct MessageHeaderDesc : ItemDesc {
  std::array<uint16_t, kGenCount> dwords_of_gen;
  std::span<const std::string_view> functions;  // names of shared functions
  std::span<const std::string_view> types;      // names of message types; empty: all of the functions
  Rewrite rewrite;
};

// Return all items, sorted by name.
std::span<const PayloadDesc* const> payloads();
std::span<const MessageHeaderDesc* const> message_headers();

// Returns the header of a message, by the names of its function and type. Null: it has no description.
const MessageHeaderDesc* find_message_header(GenId gen, std::string_view function, std::string_view type);

}  // namespace halogen::spec
