// Writes commands for a ring, using the descriptions that the device decodes them with. Features that a chip lacks are
// omitted or replaced by their older equivalent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/pack_result.h"

namespace halogen::driver {

class CommandWriter {
 public:
  CommandWriter(const spec::DeviceModel& model, const spec::EngineModel& engine)
      : gen_(model.gen), device_(model.id), engine_(engine.engine_class) {}

  // Returns whether this engine of this chip has the command.
  template <class Command>
  bool has() const {
    const spec::CommandDesc& desc = Command::kDesc;
    return desc.layout(gen_) != nullptr && (desc.devices & spec::mask_of(device_)) != 0 &&
           (desc.engines_of_gen[static_cast<size_t>(gen_)] >> static_cast<unsigned>(engine_) & 1) != 0;
  }
  template <class Command>
  bool has_field(std::string_view name) const {
    const spec::Layout* const layout = Command::kDesc.layout(gen_);
    if (layout == nullptr) return false;
    for (const spec::FieldDesc& field : layout->fields) {
      if (field.name == name) return true;
    }
    return false;
  }
  // Adds a command in its shortest form, or with `more` dwords.
  template <class Command>
  void add(const Command& command, unsigned more = 0) {
    const size_t start = dwords_.size();
    dwords_.resize(start + Command::kDesc.length_of_gen[static_cast<size_t>(gen_)].min + more);
    const spec::PackResult result = command.pack(gen_, std::span(dwords_).subspan(start));
    check(result.ok(), "the chip has every command that the driver uses");
  }
  void add_dwords(std::initializer_list<uint32_t> dwords) { dwords_.insert(dwords_.end(), dwords); }

  void start_batch(uint64_t address, bool secure);
  void flush(bool invalidate);                          // makes all writes of the engine visible in memory
  void store_status(uint32_t offset, uint32_t value);   // writes to the status page
  void store_global(uint64_t address, uint32_t value);  // writes through the global table
  void set_context(uint64_t address, bool inhibit);     // for render engines with rings
  void interrupt();
  void load_register(uint32_t offset, uint32_t value);
  void load_register_from(uint32_t offset, uint64_t address);  // reads through the global table when it executes
  void arbitrate();                                            // a preemption point
  void pad();                                                  // to whole qwords

  const std::vector<uint32_t>& dwords() const { return dwords_; }

 private:
  spec::GenId gen_;
  spec::DeviceId device_;
  spec::EngineClass engine_;
  std::vector<uint32_t> dwords_;
};

}  // namespace halogen::driver
