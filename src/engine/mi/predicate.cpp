#include "engine/mi/predicate.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/engine.h"
#include "hw/mi_flow.h"
#include "hw/predicate.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Commands that may be used while MI_SET_PREDICATE is in force: DG1 PRM vol. 13, Predication (seed 000).
constexpr std::array kPredicable{CommandId::_3DSTATE_URB_VS,
                                 CommandId::_3DSTATE_URB_HS,
                                 CommandId::_3DSTATE_URB_DS,
                                 CommandId::_3DSTATE_URB_GS,
                                 CommandId::_3DSTATE_PUSH_CONSTANT_ALLOC_VS,
                                 CommandId::_3DSTATE_PUSH_CONSTANT_ALLOC_HS,
                                 CommandId::_3DSTATE_PUSH_CONSTANT_ALLOC_DS,
                                 CommandId::_3DSTATE_PUSH_CONSTANT_ALLOC_GS,
                                 CommandId::_3DSTATE_PUSH_CONSTANT_ALLOC_PS,
                                 CommandId::MI_LOAD_REGISTER_IMM,
                                 CommandId::MI_STORE_DATA_IMM,
                                 CommandId::_3DSTATE_WM_HZ_OP,
                                 CommandId::MEDIA_VFE_STATE,
                                 CommandId::MEDIA_OBJECT,
                                 CommandId::MEDIA_OBJECT_WALKER,
                                 CommandId::MEDIA_INTERFACE_DESCRIPTOR_LOAD};

bool compare(Engine& engine, const Command& command, hw::PredicateCompare operation) {
  mmio::Registers& registers = engine.registers();
  const uint64_t first = registers.peek64(RegisterId::MI_PREDICATE_SRC0);
  const uint64_t second = registers.peek64(RegisterId::MI_PREDICATE_SRC1);
  switch (operation) {
    case hw::PredicateCompare::COMPARE_TRUE:
      return true;
    case hw::PredicateCompare::COMPARE_FALSE:
      return false;
    case hw::PredicateCompare::COMPARE_SRCS_EQUAL:
      return first == second;
    case hw::PredicateCompare::COMPARE_DELTAS_EQUAL: {
      engine.approximate(command.desc, "difference stored in MI_PREDICATE_DATA; not confirmed by a manual");
      const bool equal = first - second == registers.peek64(RegisterId::MI_PREDICATE_DATA);
      registers.poke64(RegisterId::MI_PREDICATE_DATA, first - second);
      return equal;
    }
  }
  return false;
}

bool combine(hw::PredicateCombine operation, bool compared, bool previous) {
  switch (operation) {
    case hw::PredicateCombine::COMBINE_SET:
      return compared;
    case hw::PredicateCombine::COMBINE_AND:
      return compared && previous;
    case hw::PredicateCombine::COMBINE_OR:
      return compared || previous;
    case hw::PredicateCombine::COMBINE_XOR:
      return compared != previous;
  }
  return compared;
}

// Returns the new predicate. Empty: the operation does not exist.
std::optional<bool> load(hw::PredicateLoad operation, bool combined, bool previous) {
  switch (operation) {
    case hw::PredicateLoad::LOAD_KEEP:
      return previous;
    case hw::PredicateLoad::LOAD_LOAD:
      return combined;
    case hw::PredicateLoad::LOAD_LOADINV:
      return !combined;
  }
  return std::nullopt;
}

template <class Result>
bool is_set(const Engine& engine) {
  return engine.registers().get<Result>().predicate_result;
}

bool makes_noops(Engine& engine, const Command& command, hw::SetPredicateEnable enable) {
  const unsigned slices = engine.generation().model().topology.slices;
  switch (enable) {
    case hw::SetPredicateEnable::NOOP_NEVER:
      return false;
    case hw::SetPredicateEnable::NOOP_ON_RESULT2_CLEAR:
      return !is_set<hw::MI_PREDICATE_RESULT_2>(engine);
    case hw::SetPredicateEnable::NOOP_ON_RESULT2_SET:
      return is_set<hw::MI_PREDICATE_RESULT_2>(engine);
    case hw::SetPredicateEnable::NOOP_ON_RESULT_CLEAR:
      return !is_set<hw::MI_PREDICATE_RESULT>(engine);
    case hw::SetPredicateEnable::NOOP_ON_RESULT_SET:
      return is_set<hw::MI_PREDICATE_RESULT>(engine);
    case hw::SetPredicateEnable::EXECUTE_WHEN_ONE_SLICE_ENABLED:
      return slices != 1;
    case hw::SetPredicateEnable::EXECUTE_WHEN_TWO_SLICES_ENABLED:
      return slices != 2;
    case hw::SetPredicateEnable::EXECUTE_WHEN_THREE_SLICES_ENABLED:
      return slices != 3;
    case hw::SetPredicateEnable::NOOP_ALWAYS:
      return true;
  }
  engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
               "predicate enable not defined");
  return false;
}

}  // namespace

bool predicate_result(const Engine& engine) {
  return is_set<hw::MI_PREDICATE_RESULT>(engine);
}

Next predicate(Engine& engine, const Command& command) {
  const auto predicate = command.as<hw::MI_PREDICATE>(engine.gen());
  auto result = engine.registers().get<hw::MI_PREDICATE_RESULT>();
  const bool compared = compare(engine, command, predicate.compare_operation);
  const bool combined = combine(predicate.combine_operation, compared, result.predicate_result);
  const std::optional<bool> loaded = load(predicate.load_operation, combined, result.predicate_result);
  if (!loaded) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "load operation not defined");
    return Next::advance();
  }
  result.predicate_result = *loaded;
  engine.registers().set(result);
  return Next::advance();
}

// Samples the results now. Later changes of the registers do not affect the predicate in force: DG1 PRM vol. 13, MMIO
// data consumers (seed 000).
Next set_predicate(Engine& engine, const Command& command) {
  const auto set = command.as<hw::MI_SET_PREDICATE>(engine.gen());
  engine.state().predicate = static_cast<uint8_t>(set.predicate_enable);
  engine.state().predicate_bit = makes_noops(engine, command, set.predicate_enable);
  return Next::advance();
}

// Commands that are not listed are undefined under a predicate. The model executes them.
bool skipped_by_predicate(Engine& engine, const Command& command) {
  if (std::ranges::find(kPredicable, command.desc.id) != kPredicable.end()) {
    return engine.state().predicate_bit;
  }
  if (command.desc.id != CommandId::MI_SET_PREDICATE && command.desc.id != CommandId::MI_NOOP) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "command not allowed while MI_SET_PREDICATE is in force");
  }
  return false;
}

}  // namespace halogen::engine
