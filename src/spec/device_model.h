// The properties of one chip, as data from spec/devices.toml.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/generation_ids.h"

namespace halogen::spec {

enum class BarKind : uint8_t { gttmmadr, mmadr, gmadr, gttadr, lmem, io };

struct BarModel {
  uint8_t index;  // of the first 32-bit register
  BarKind kind;
  uint64_t bytes;
  uint8_t address_bits;  // 32 or 64; 16 for I/O
  bool prefetchable;
};

struct EngineModel {
  static constexpr uint8_t kNoId = 0xff;  // the device has no such number for the engine

  std::string_view name;
  EngineClass engine_class;
  uint8_t instance;
  uint32_t mmio_base;
  std::string_view domain;       // force-wake domain, empty when it needs none
  uint8_t reset_bit = kNoId;     // of GDRST
  uint8_t fault_id = kNoId;      // FAULT_REG.engine_id; the field may be too narrow for it
  uint8_t register_set = kNoId;  // index among registers with a copy for each engine (TRTT_CR, aux tables)
  uint8_t class_id = kNoId;      // CONTEXT_DESCRIPTOR.engine_class
};

struct Topology {
  uint8_t slices;
  uint8_t subslices;  // of each slice
  uint8_t eus;        // of each subslice
  uint8_t threads;    // of each EU
  uint8_t l3_banks;
};

// PCI ids of related chips that a trace may name: those that equal `id` in the bits of `mask`.
struct PciFamily {
  uint16_t mask;
  uint16_t id;
};

// A stepping of a chip that a user can choose.
struct SteppingModel {
  std::string_view name;
  uint8_t revision;  // in PCI_CLASS
  uint64_t quirks;   // in addition to those of the chip
};

struct DeviceModel {
  DeviceId id;
  std::string_view name;
  std::string_view names;
  std::string_view doc;
  std::string_view source;
  std::string_view supported;
  GenId gen;
  uint16_t pci_id;
  uint8_t pci_revision;
  uint32_t pci_class;
  uint32_t pci_subsystem;
  std::span<const BarModel> bars;
  uint64_t mmio_bytes;
  uint64_t gtt_offset;
  uint64_t gtt_bytes;
  std::span<const EngineModel> engines;
  Topology topology;
  uint64_t timestamp_hz;
  uint64_t stolen_bytes;
  uint64_t local_bytes;
  uint8_t virtual_bits;
  uint8_t physical_bits;
  uint64_t features;                              // bit n: Feature n
  uint64_t quirks;                                // bit n: Quirk n
  std::span<const uint16_t> other_pci_ids = {};   // of the same model: a front end may present one of these
  std::span<const PciFamily> pci_families = {};   // decoded as this device
  std::span<const uint8_t> aub_codes = {};        // of a trace's version record
  std::span<const SteppingModel> steppings = {};  // empty: one, which has no name

  constexpr bool has(Feature feature) const { return ((features >> static_cast<unsigned>(feature)) & 1) != 0; }
  constexpr bool has(Quirk quirk) const { return ((quirks >> static_cast<unsigned>(quirk)) & 1) != 0; }
};

std::span<const DeviceModel> device_models();  // in the order of DeviceId
const DeviceModel* find_device(std::string_view name);
inline const DeviceModel& model(DeviceId id) {
  return device_models()[static_cast<size_t>(id)];
}

std::string_view name_of(GenId gen);
std::string_view name_of(EngineClass engine);

}  // namespace halogen::spec
