// Payloads and message headers as lists of register fields, for people: "r1.2[15:0]", "squares[0].x".
#pragma once

#include <string>
#include <vector>

#include "spec/payload.h"

namespace halogen::spec {

constexpr unsigned kRegisterDwords = 8;  // of a general or message register

// Returns the parts of the payload of a kind of thread, in the order of their registers.
std::vector<const PayloadDesc*> payload_parts(GenId gen, ThreadKind kind);

// Returns "r0.3", for example: a dword of a register file, which `letter` names.
std::string register_name(char letter, unsigned dword);

struct RegisterField {
  std::string at;    // "r1.2[15:0]"
  std::string name;  // "squares[0].x"
};

// Returns the fields of a payload or message header whose first dword is `start`.
std::vector<RegisterField> register_fields(const ItemDesc& item, GenId gen, unsigned dwords, char letter,
                                           unsigned start);

}  // namespace halogen::spec
