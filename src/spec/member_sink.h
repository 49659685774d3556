// Reads the members of generated structs by name, for tests that compare them with the generic field walk. The
// functions behind visit_members() are generated into a library that only tests link.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen::spec {

class MemberSink {
 public:
  virtual ~MemberSink() = default;
  virtual void integer(std::string_view name, uint64_t value) = 0;  // signed members are sign-extended
  virtual void number(std::string_view name, double value) = 0;     // float and fixed point
  virtual void begin(std::string_view name, int index) = 0;         // nested structure (index -1) or group element
  virtual void end() = 0;
};

// Unpacks `in` and passes every member to the sink, including those that the generation lacks.
void visit_members(const ItemDesc& item, GenId gen, std::span<const uint32_t> in, MemberSink& sink);

}  // namespace halogen::spec
