// Reads a logical ring context from an image written by software: ring registers and page table roots from the register
// pairs. It finds the commands of a context; the device has its own model of context save and restore.
#pragma once

#include <cstdint>
#include <optional>

#include "decode/memory_image.h"
#include "hw/mi.h"
#include "spec/command_table.h"
#include "spec/device_model.h"

namespace halogen::decode {

struct ContextRing {
  uint64_t start = 0;
  uint64_t bytes = 0;
  uint64_t head = 0;
  uint64_t tail = 0;
  uint64_t head_at = 0;  // graphics address of the head in the image, where hardware saves it
  PageTableRoot root;
};

// Reads the image that a descriptor names. No value: the image is not mapped, or its ring is not usable.
std::optional<ContextRing> read_context_image(const hw::CONTEXT_DESCRIPTOR& context, const spec::DeviceModel& device,
                                              MemoryImage& memory, const spec::CommandTable& table);

}  // namespace halogen::decode
