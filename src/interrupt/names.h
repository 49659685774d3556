// The registers of the interrupt logic of all chips, by name. spec/ holds the offsets and bit positions and states
// which device has a register; rows whose registers a device lacks are skipped. So one list serves all kinds of
// interrupt logic, without bit positions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gen/generation.h"
#include "gen/interrupt_cause.h"
#include "hw/enums.h"
#include "mmio/register_map.h"

namespace halogen::interrupt {

// Status, mask, identity and enable: the four registers of a bank.
struct BankNames {
  std::string_view status;
  std::string_view mask;
  std::string_view identity;
  std::string_view enable;
  bool queued;   // an identity bit keeps a second event
  bool follows;  // an identity bit cannot be cleared while its status is set
};
std::span<const BankNames> bank_names();

enum class Half : uint8_t { both, low, high };

// A bank with a pending event sets a bit above it: in a summary, or in the status of another bank.
struct FeedNames {
  std::string_view status;  // status register of the lower bank
  uint8_t index;
  Half half;  // the half of its bits that is used
  std::string_view above;
  std::string_view field;
};
std::span<const FeedNames> feed_names();

// A register that shows pending lower banks and has an enable bit. Lower summaries come first.
struct SummaryNames {
  std::string_view name;
  std::string_view above;  // another summary, if the device has it; else the interrupt itself
  std::string_view field;
};
std::span<const SummaryNames> summary_names();
inline constexpr std::string_view kEnableField = "enable";

// Causes of one engine.
enum class CauseKind : uint8_t { event, level, toggle };

struct CauseNames {
  EngineCause cause;
  CauseKind kind;
  bool reported;  // may write the status page on engines with their own status
  std::array<std::string_view, 2> fields;
};
inline constexpr size_t kCauseCount = static_cast<size_t>(EngineCause::debug) + 1;
std::span<const CauseNames, kCauseCount> cause_names();

// Prefixes of the field names of an engine's causes. The first existing field is used.
std::span<const std::string_view> engine_prefixes(InterruptKind kind, std::string_view engine);

// Candidates for the register of a display cause, in order; a device has at most one of them.
struct DisplayPlace {
  std::string status;
  unsigned index = 0;
  std::string field;
};
std::vector<DisplayPlace> display_places(DisplayCause cause, unsigned pipe, unsigned plane);
inline constexpr std::array<std::string_view, 3> kSharedDisplayBanks = {"ISR", "DEISR", "VLV_ISR"};
inline constexpr unsigned kPipes = 4;
inline constexpr unsigned kPlanes = 7;
inline constexpr size_t kDisplayCauseCount = static_cast<size_t>(DisplayCause::underrun) + 1;
// Causes that end when their status falls.
bool is_flip(DisplayCause cause);
// Status bits of Gen4 whose identity is set on the falling edge.
inline constexpr std::string_view kFlipPending = "_flip_pending";

// A source of the collapsed banks: an engine, or a unit of the class Other.
struct SourceNames {
  std::string_view name;  // field of the pending dword and of the selector
  hw::InterruptClass engine_class;
  uint8_t instance;
  std::string_view enable;
  std::string_view enable_field;
  std::string_view mask;
  std::string_view mask_field;
};
std::span<const SourceNames> source_names();
inline constexpr unsigned kDwords = 2;
inline constexpr std::array<std::string_view, kDwords> kPending = {"GT_INTR_DW0", "GT_INTR_DW1"};
inline constexpr std::array<std::string_view, kDwords> kSelector = {"IIR_REG_SELECTOR0", "IIR_REG_SELECTOR1"};
inline constexpr std::array<std::string_view, kDwords> kIdentity = {"INTR_IDENTITY_REG0", "INTR_IDENTITY_REG1"};
inline constexpr std::string_view kIdentityValid = "valid";
inline constexpr std::string_view kMaster = "GFX_MSTR_IRQ";
inline constexpr std::array<std::string_view, kDwords> kMasterDword = {"gt_dw0", "gt_dw1"};

// Returns the class as a message encodes it. No value: the class sends no messages.
std::optional<hw::InterruptClass> interrupt_class(spec::EngineClass engine_class);

// Returns the bits of a field of a slot's register. Zero: the field does not exist.
uint32_t field_bits(const mmio::RegisterSlot* slot, spec::GenId gen, std::string_view field);

}  // namespace halogen::interrupt
