#include "compute/commands.h"

#include <algorithm>

#include "base/bits.h"
#include "compute/media_walk.h"
#include "gen/media_rules.h"
#include "hw/common.h"
#include "hw/gpgpu.h"
#include "hw/interface_descriptor.h"
#include "hw/media.h"
#include "hw/struct_sizes.h"
#include "hw/unit_states.h"
#include "spec/append_command.h"
#include "spec/command_table.h"
#include "spec/structure_size.h"

namespace halogen::compute {
namespace {

using memory::AccessResult;
using spec::CommandId;

constexpr uint32_t kMaxUnitDescriptors = 32;
constexpr uint32_t kKib = 1024;
constexpr uint32_t kMaxLocal_B = 64 * kKib;
constexpr uint32_t kMaxConstantGrfs = 127;    // after r0
constexpr size_t kMaxMediaThreads = 1 << 20;  // of one walk

AccessResult read_unit(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                       memory::AddressSpace& space, hw::VFE_STATE& unit) {
  std::array<uint32_t, 3> words{};
  const AccessResult result = space.read(wrapped_address(bases.general + settings.descriptors_offset),
                                         std::as_writable_bytes(std::span(words)));
  unit = hw::VFE_STATE::unpack(generation.id(), words);
  return result;
}

AccessResult read_descriptor_at(const Generation& generation, uint64_t address, memory::AddressSpace& space,
                                hw::INTERFACE_DESCRIPTOR_DATA& descriptor) {
  std::array<uint32_t, hw::kMaxDwords<hw::INTERFACE_DESCRIPTOR_DATA>> words{};
  const size_t size = spec::bytes_of<hw::INTERFACE_DESCRIPTOR_DATA>(generation.id());
  const AccessResult result =
      space.read(wrapped_address(address), std::as_writable_bytes(std::span(words)).first(size));
  descriptor = hw::INTERFACE_DESCRIPTOR_DATA::unpack(generation.id(), words);
  return result;
}

// Reads descriptor `number` and returns its address. Returns the fault if it cannot be used. On chips with unit states
// `descriptors_offset` is the offset of the front end's state, which points to the descriptors.
JobStatus read_descriptor(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                          uint32_t number, memory::AddressSpace& space, hw::INTERFACE_DESCRIPTOR_DATA& descriptor,
                          uint64_t& address) {
  const bool units = has_media_units(generation.id());
  const auto size = static_cast<uint32_t>(spec::bytes_of<hw::INTERFACE_DESCRIPTOR_DATA>(generation.id()));
  const uint32_t at = number * size;
  if (at + size > settings.descriptors_B) {
    return JobFault::no_descriptor;
  }
  uint64_t descriptors = bases.dynamic + settings.descriptors_offset;
  if (units) {
    hw::VFE_STATE unit{};
    if (const AccessResult result = read_unit(generation, settings, bases, space, unit); !ok(result)) {
      return result;
    }
    descriptors = bases.general + unit.interface_descriptor_base_pointer;
  }
  address = descriptors + at;
  return read_descriptor_at(generation, address, space, descriptor);
}

// Sets the values that every thread of a kernel gets, for walkers, media objects and child threads.
void take_descriptor(const Generation& generation, const message::StateBases& bases,
                     const hw::INTERFACE_DESCRIPTOR_DATA& descriptor, KernelState& job) {
  const uint64_t base = media_rules(generation.id()).general_base ? bases.general : 0;
  job.kernel = descriptor.kernel_start_pointer + base;
  job.binding_table = static_cast<uint32_t>(descriptor.binding_table_pointer);
  job.sampler_table = static_cast<uint32_t>(descriptor.sampler_state_pointer + base);
  job.control =
      (descriptor.floating_point_mode == hw::FloatingPointMode::ALTERNATE ? eu::ControlBits::kAlternateFloat : 0u) |
      (descriptor.single_program_flow ? eu::ControlBits::kSingleProgramFlow : 0u) |
      eu::ControlBits::kRounding.put(static_cast<uint32_t>(descriptor.rounding_mode));
  job.exceptions = (descriptor.illegal_opcode_exception_enable ? eu::ExceptionBits::kIllegalOpcode >> 16 : 0u) |
                   (descriptor.mask_stack_exception_enable ? eu::ExceptionBits::kStackOverflow >> 16 : 0u) |
                   (descriptor.software_exception_enable ? eu::ExceptionBits::kSoftware >> 16 : 0u);
}

// Appends bytes from memory to the constants, in whole registers. Bytes that were not loaded are zero.
AccessResult append_constants(memory::AddressSpace& space, uint64_t address, size_t wanted_B, size_t there_B,
                              Job& job) {
  const size_t at = job.constants.size();
  job.constants.resize(at + wanted_B);
  const size_t given = std::min(wanted_B, there_B);
  return given == 0 ? AccessResult::ok
                    : space.read(wrapped_address(address), std::span(job.constants).subspan(at, given));
}

}  // namespace

bool has_media_units(spec::GenId gen) {
  return media_rules(gen).state == MediaStateForm::unit;
}

AccessResult read_kernel_state(const Generation& generation, const message::StateBases& bases, uint64_t descriptor,
                               memory::AddressSpace& space, KernelState& kernel_state) {
  hw::INTERFACE_DESCRIPTOR_DATA data{};
  const AccessResult result = read_descriptor_at(generation, bases.general + descriptor, space, data);
  take_descriptor(generation, bases, data, kernel_state);
  return result;
}

JobStatus take_media_units(const Generation& generation, const message::StateBases& bases,
                           const hw::CONSTANT_BUFFER& constants, memory::AddressSpace& space, Settings& settings) {
  constexpr uint32_t kConstantUnit_B = 64;
  if (settings.descriptors_B == 0) {
    return JobFault::no_descriptor;
  }
  hw::VFE_STATE unit{};
  if (const AccessResult result = read_unit(generation, settings, bases, space, unit); !ok(result)) {
    return result;
  }
  settings.scratch_base = unit.scratch_space_base_pointer;
  settings.scratch_code = unit.per_thread_scratch_space;
  settings.max_threads = unit.maximum_number_of_threads;
  settings.constants_offset = static_cast<uint32_t>(constants.buffer_starting_address.value);
  settings.constants_B = constants.valid ? (constants.buffer_length + 1u) * kConstantUnit_B : 0;
  return JobFault::none;
}

uint32_t local_bytes(const Generation& generation, uint8_t code) {
  if (code == 0) {
    return 0;
  }
  const uint64_t bytes = generation.has(spec::Feature::local_memory_exponent)
                             ? uint64_t{kKib} << std::min<unsigned>(code - 1u, 6)
                             : uint64_t{code} * 4 * kKib;
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, kMaxLocal_B));
}

bool change_settings(spec::GenId gen, CommandId command, std::span<const uint32_t> dwords, Settings& settings) {
  switch (command) {
    case CommandId::STATE_SIP:
      settings.system_routine = hw::STATE_SIP::unpack(gen, dwords).system_instruction_pointer;
      return true;
    case CommandId::GPGPU_CSR_BASE_ADDRESS:
      settings.preemption_area = hw::GPGPU_CSR_BASE_ADDRESS::unpack(gen, dwords).gpgpu_csr_base_address.value;
      return true;
    case CommandId::STATE_COMPUTE_MODE:  // coherency and caches: the model has one memory and no caches
    case CommandId::MEDIA_STATE_FLUSH:   // threads have ended when a dispatch is done
      return true;
    case CommandId::MEDIA_VFE_STATE: {
      const auto state = hw::MEDIA_VFE_STATE::unpack(gen, dwords);
      settings.scratch_base = state.scratch_space_base_pointer;
      settings.scratch_code = state.per_thread_scratch_space;
      settings.stack_code = state.stack_size;
      settings.max_threads = state.maximum_number_of_threads;
      return true;
    }
    case CommandId::MEDIA_STATE_POINTERS: {
      const auto pointers = hw::MEDIA_STATE_POINTERS::unpack(gen, dwords);
      settings.descriptors_offset = static_cast<uint32_t>(pointers.vfe_state_pointer);
      settings.descriptors_B =
          pointers.vld_enable
              ? 0
              : kMaxUnitDescriptors * static_cast<uint32_t>(spec::bytes_of<hw::INTERFACE_DESCRIPTOR_DATA>(gen));
      return !pointers.vld_enable;  // stream decoders are not modelled
    }
    case CommandId::MEDIA_CURBE_LOAD: {
      const auto load = hw::MEDIA_CURBE_LOAD::unpack(gen, dwords);
      settings.constants_offset = static_cast<uint32_t>(load.curbe_data_start_address);
      settings.constants_B = load.curbe_total_data_length;
      return true;
    }
    case CommandId::MEDIA_INTERFACE_DESCRIPTOR_LOAD: {
      const auto load = hw::MEDIA_INTERFACE_DESCRIPTOR_LOAD::unpack(gen, dwords);
      settings.descriptors_offset = static_cast<uint32_t>(load.interface_descriptor_data_start_address);
      settings.descriptors_B = load.interface_descriptor_total_length;
      return true;
    }
    default:
      return false;
  }
}

void append_commands(spec::GenId gen, const Settings& settings, std::vector<uint32_t>& out) {
  hw::STATE_SIP routine{};
  routine.system_instruction_pointer = settings.system_routine;
  spec::append_command(gen, out, routine);
  if (settings.preemption_area != 0) {
    hw::GPGPU_CSR_BASE_ADDRESS area{};
    area.gpgpu_csr_base_address = wrapped_address(settings.preemption_area);
    spec::append_command(gen, out, area);
  }
  hw::MEDIA_VFE_STATE front{};
  front.scratch_space_base_pointer = settings.scratch_base;
  front.per_thread_scratch_space = settings.scratch_code;
  front.stack_size = settings.stack_code;
  front.maximum_number_of_threads = static_cast<uint16_t>(settings.max_threads);
  spec::append_command(gen, out, front);
  hw::MEDIA_CURBE_LOAD constants{};
  constants.curbe_total_data_length = settings.constants_B;
  constants.curbe_data_start_address = settings.constants_offset;
  spec::append_command(gen, out, constants);
  if (has_media_units(gen)) {
    if (settings.descriptors_B != 0) {
      hw::MEDIA_STATE_POINTERS pointers{};
      pointers.vfe_state_pointer = settings.descriptors_offset;
      spec::append_command(gen, out, pointers);
    }
    return;
  }
  hw::MEDIA_INTERFACE_DESCRIPTOR_LOAD descriptors{};
  descriptors.interface_descriptor_total_length = settings.descriptors_B;
  descriptors.interface_descriptor_data_start_address = settings.descriptors_offset;
  spec::append_command(gen, out, descriptors);
}

JobStatus make_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                   std::span<const uint32_t> walker, const std::array<uint32_t, 3>* counts, memory::AddressSpace& space,
                   Job& job) {
  const auto walk = hw::GPGPU_WALKER::unpack(generation.id(), walker);
  hw::INTERFACE_DESCRIPTOR_DATA descriptor{};
  uint64_t descriptor_address = 0;
  if (const JobStatus status = read_descriptor(generation, settings, bases, walk.interface_descriptor_offset, space,
                                               descriptor, descriptor_address);
      status.fault != JobFault::none) {
    return status;
  }
  job = {};
  job.bases = bases;
  job.tables = {.base = bases.surface};
  take_descriptor(generation, bases, descriptor, job);
  job.simd = static_cast<uint8_t>(8u << std::min(static_cast<unsigned>(walk.simd_size), 2u));
  job.threads = {walk.thread_width_counter_maximum + 1u, walk.thread_height_counter_maximum + 1u,
                 walk.thread_depth_counter_maximum + 1u};
  if (job.group_threads() > kMaxGroupThreads) {
    return JobFault::too_many_threads;
  }
  job.barrier_threads = descriptor.number_of_threads_in_gpgpu_thread_group;
  job.right_mask = walk.right_execution_mask;
  job.bottom_mask = walk.bottom_execution_mask;
  job.local_B = local_bytes(generation, descriptor.shared_local_memory_size);
  job.shared_grfs = descriptor.cross_thread_constant_data_read_length;
  job.thread_grfs = std::min<uint32_t>(descriptor.constant_urb_entry_read_length, kMaxConstantGrfs);
  job.first = {walk.thread_group_id_starting_x, walk.thread_group_id_starting_y, walk.thread_group_id_starting_z};
  job.end = {walk.thread_group_id_x_dimension, walk.thread_group_id_y_dimension, walk.thread_group_id_z_dimension};
  if (counts != nullptr) {
    job.end = *counts;
  }
  // The thread number in r0 has nine bits.
  job.slots = std::max(job.group_threads(), std::min<uint32_t>(settings.max_threads + 1u, 512));
  // If the walker has indirect data, the constants come from there, and the thread's own part precedes the shared part.
  job.own_first = walk.indirect_data_length != 0;
  const uint64_t constants = job.own_first ? bases.indirect_object + walk.indirect_data_start_address
                                           : bases.dynamic + settings.constants_offset;
  const uint32_t there = job.own_first ? walk.indirect_data_length : settings.constants_B;
  const uint32_t offset = job.own_first ? 0 : descriptor.constant_urb_entry_read_offset * 32u;
  const uint64_t wanted = (uint64_t{job.shared_grfs} + uint64_t{job.thread_grfs} * job.group_threads()) * 32;
  job.constants.resize(wanted);
  const uint64_t given = std::min<uint64_t>(wanted, there > offset ? there - offset : 0);
  return given == 0 ? AccessResult::ok
                    : space.read(wrapped_address(constants + offset), std::span(job.constants).first(given));
}

// Makes the job of a media object. The registers after r0 hold constants, inline data and indirect data. In the threads
// of a walk the position of the thread follows.
JobStatus make_media_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                         CommandId command, std::span<const uint32_t> dwords, memory::AddressSpace& space, Job& job) {
  const spec::GenId gen = generation.id();
  std::vector<uint32_t> own;
  hw::MEDIA_OBJECT object{};
  std::vector<MediaPosition> positions;
  bool in_order = true;
  if (command == CommandId::MEDIA_OBJECT_WALKER) {
    const auto walker = hw::MEDIA_OBJECT_WALKER::unpack(gen, dwords);
    object.interface_descriptor_offset = walker.interface_descriptor_offset;
    object.indirect_data_length = walker.indirect_data_length;
    object.indirect_data_start_address = walker.indirect_data_start_address;
    in_order = walker.use_scoreboard;
    for (size_t i = 0; i < hw::MEDIA_OBJECT_WALKER::count_inline_data(gen, dwords); ++i) {
      own.push_back(hw::MEDIA_OBJECT_WALKER::unpack_inline_data(gen, dwords, i).data);
    }
    if (!walk_positions(walker, kMaxMediaThreads, positions)) {
      return JobFault::too_many_threads;
    }
  } else if (command == CommandId::MEDIA_OBJECT_PRT) {
    const auto persistent = hw::MEDIA_OBJECT_PRT::unpack(gen, dwords);
    object.interface_descriptor_offset = persistent.interface_descriptor_offset;
    for (const auto& each : persistent.inline_data) {
      own.push_back(each.data);
    }
  } else {
    object = hw::MEDIA_OBJECT::unpack(gen, dwords);
    for (size_t i = 0; i < hw::MEDIA_OBJECT::count_inline_data(gen, dwords); ++i) {
      own.push_back(hw::MEDIA_OBJECT::unpack_inline_data(gen, dwords, i).data);
    }
  }
  hw::INTERFACE_DESCRIPTOR_DATA descriptor{};
  uint64_t descriptor_address = 0;
  if (const JobStatus status = read_descriptor(generation, settings, bases, object.interface_descriptor_offset, space,
                                               descriptor, descriptor_address);
      status.fault != JobFault::none) {
    return status;
  }
  job = {};
  job.bases = bases;
  job.tables = {.base = bases.surface};
  take_descriptor(generation, bases, descriptor, job);
  job.descriptor = media_rules(gen).descriptor_in_payload ? descriptor_address - bases.general : 0;
  job.media = true;
  job.position = {object.x_position, object.y_position};
  job.simd = 32;
  job.end = {command == CommandId::MEDIA_OBJECT_WALKER ? static_cast<uint32_t>(positions.size()) : 1, 1, 1};
  // The scoreboard needs no model: with one slot, each thread ends before the next one starts.
  job.slots = in_order ? 1 : std::min<uint32_t>(settings.max_threads + 1u, 512);
  constexpr size_t kGrf = eu::kGrfBytes;
  constexpr size_t kMax_B = kMaxConstantGrfs * kGrf;
  const size_t offset_B = descriptor.constant_urb_entry_read_offset * kGrf;
  const size_t constants_B = std::min<size_t>(descriptor.constant_urb_entry_read_length * kGrf, kMax_B);
  const size_t there_B = settings.constants_B > offset_B ? settings.constants_B - offset_B : 0;
  AccessResult result =
      append_constants(space, bases.dynamic + settings.constants_offset + offset_B, constants_B, there_B, job);
  if (!ok(result)) {
    return result;
  }
  const auto bytes = std::as_bytes(std::span(own).first(std::min(own.size(), kMax_B / sizeof(uint32_t))));
  job.constants.insert(job.constants.end(), bytes.begin(), bytes.end());
  job.constants.resize((job.constants.size() + kGrf - 1) / kGrf * kGrf);
  const size_t indirect_B = std::min<size_t>(object.indirect_data_length, kMax_B);
  result = append_constants(space, bases.indirect_object + object.indirect_data_start_address,
                            (indirect_B + kGrf - 1) / kGrf * kGrf, indirect_B, job);
  if (!ok(result)) {
    return result;
  }
  job.shared_grfs = static_cast<uint32_t>(job.constants.size() / kGrf);
  const auto places = std::as_bytes(std::span(positions));
  job.constants.insert(job.constants.end(), places.begin(), places.end());
  return JobFault::none;
}

}  // namespace halogen::compute
