#include "memory/fault.h"

namespace halogen::memory {

std::string_view name_of(FaultReason reason) {
  switch (reason) {
    case FaultReason::none:
      return "none";
    case FaultReason::not_present:
      return "not present";
    case FaultReason::write_denied:
      return "write denied";
    case FaultReason::execute_denied:
      return "execute denied";
    case FaultReason::privilege_denied:
      return "privilege denied";
    case FaultReason::reserved_bit:
      return "reserved bit set";
    case FaultReason::not_canonical:
      return "not canonical";
    case FaultReason::out_of_range:
      return "out of range";
    case FaultReason::table_hole:
      return "table outside memory";
    case FaultReason::page_hole:
      return "page outside memory";
    case FaultReason::table_disabled:
      return "table disabled";
    case FaultReason::root_not_present:
      return "root entry not present";
    case FaultReason::context_not_present:
      return "context entry not present";
    case FaultReason::pasid_not_present:
      return "PASID entry not present";
    case FaultReason::pasid_out_of_range:
      return "PASID out of range";
    case FaultReason::context_invalid:
      return "context entry refuses the request";
    case FaultReason::request_denied:
      return "privileged requests not enabled";
    case FaultReason::second_level_absent:
      return "second level not present";
    case FaultReason::second_level_denied:
      return "denied by the second level";
    case FaultReason::update_not_writeback:
      return "accessed or dirty bit in memory that is not write-back";
  }
  return "invalid";
}

bool is_recoverable(FaultReason reason) {
  return reason == FaultReason::not_present || reason == FaultReason::write_denied ||
         reason == FaultReason::execute_denied || reason == FaultReason::privilege_denied;
}

}  // namespace halogen::memory
