#include "message/shared_functions.h"

#include <utility>

#include <fmt/format.h>

#include "message/parts.h"
#include "spec/descriptors.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using hw::SharedFunction;

uint8_t type_of(spec::GenId gen, const eu::Message& message) {
  const std::span words(&message.descriptor, 1);
  switch (static_cast<SharedFunction>(message.function)) {
    case SharedFunction::SAMPLER:
      return static_cast<uint8_t>(hw::SAMPLER_DESCRIPTOR::unpack(gen, words).message_type);
    case SharedFunction::MESSAGE_GATEWAY:
      return static_cast<uint8_t>(hw::GATEWAY_MESSAGE::unpack(gen, words).subfunction);
    case SharedFunction::CONSTANT_CACHE_DATA_PORT:
    case SharedFunction::DATA_CACHE_DATA_PORT_0:
    case SharedFunction::DATA_CACHE_DATA_PORT_1:
      return hw::DATA_PORT_MESSAGE::unpack(gen, words).message_type;
    default:
      return 0;
  }
}

const spec::EnumDesc* find_enum(std::string_view name) {
  for (const spec::EnumDesc* each : spec::enums()) {
    if (each->name == name) {
      return each;
    }
  }
  return nullptr;
}

std::string_view value_name(std::string_view enumeration, uint8_t value) {
  const spec::EnumDesc* const desc = find_enum(enumeration);
  if (desc != nullptr) {
    for (const spec::EnumValue& each : desc->values) {
      if (each.value == value) {
        return each.name;
      }
    }
  }
  return {};
}

// Of the data ports, port 0 also has scratch blocks: two type numbers above the others for reads, two for writes.
constexpr uint8_t kScratchBit = 0x10;
constexpr uint8_t kScratchWriteBit = 0x08;

}  // namespace

Call::Call(Context& shared, eu::Thread& sender, const eu::Message& sent, uint8_t kind)
    : context(shared),
      thread(sender),
      message(sent),
      count(shared.counts[sent.function & 15u][kind & 31u]),
      descriptor(hw::MESSAGE_DESCRIPTOR::unpack(shared.gen(), std::span(&sent.descriptor, 1))),
      payload(sent),
      response(sent.response),
      type(kind),
      data(descriptor.header_present ? 1 : 0) {}

void Call::approximate(std::string_view reason) {
  if (count.fidelity == FidelityClass::exact) {
    count.fidelity = FidelityClass::approximate;
    count.reason = reason;
  }
}

SendOutcome Call::unsupported(std::string_view reason) {
  if (count.fidelity != FidelityClass::unsupported) {
    count.fidelity = FidelityClass::unsupported;
    count.reason = reason;
    if (context.events != nullptr) {
      context.events->on_event({EventKind::unsupported, value_name("SharedFunction", message.function), context.path,
                                thread.ip, message.descriptor,
                                fmt::format("{}: {}", message_name(message.function, type), reason)});
    }
  }
  response.clear();
  return SendOutcome::done;
}

std::optional<MemoryTarget> target_of(Call& call, uint8_t index, HeaderBase header) {
  const Environment& environment = call.context.environment;
  switch (index) {
    case kLocalMemory:
      return MemoryTarget::local(environment.groups->local_memory(call.thread.group));
    case kStateless:
    case kStatelessCoherent: {
      const bool adds = header == HeaderBase::added && call.has_header();
      const uint32_t scratch = adds ? call.header(5) & ~uint32_t{0x3ff} : 0;
      return MemoryTarget::memory(*environment.space, environment.bases.general + scratch);
    }
    default:
      break;
  }
  const Surface* const surface =
      call.context.surfaces.find(*call.context.generation, environment, index, call.message.extended);
  if (surface == nullptr) {
    return std::nullopt;
  }
  return surface->kind == Surface::Kind::none ? MemoryTarget::none()
                                              : MemoryTarget::buffer(*environment.space, surface->base, surface->bytes);
}

eu::SendOutcome gateway(Call& call) {
  using Subfunction = hw::GATEWAY_MESSAGE::Subfunction;
  switch (call.as<hw::GATEWAY_MESSAGE>().subfunction) {
    case Subfunction::barrier:
      call.context.environment.groups->arrive(call.thread);
      call.response.clear();
      return SendOutcome::done;
    case Subfunction::open:
    case Subfunction::close:
    case Subfunction::forward:
    case Subfunction::get_timestamp:
    case Subfunction::update_state:
    case Subfunction::monitor:
      break;
  }
  return call.unsupported("only barriers are done");
}

void SharedFunctions::begin(const Generation& generation, const Environment& environment) {
  context_.generation = &generation;
  context_.environment = environment;
  context_.surfaces.forget();
}

eu::SendOutcome SharedFunctions::send(eu::Thread& thread, const eu::Message& message) {
  Call call(context_, thread, message, type_of(context_.gen(), message));
  ++call.count.count;
  switch (static_cast<SharedFunction>(message.function & 15u)) {
    case SharedFunction::DATA_CACHE_DATA_PORT_1:
      return data_port_1(call);
    case SharedFunction::DATA_CACHE_DATA_PORT_0:
      return data_port_0(call);
    case SharedFunction::CONSTANT_CACHE_DATA_PORT:
      return constant_cache(call);
    case SharedFunction::SAMPLER:
      return sampler(call);
    case SharedFunction::MESSAGE_GATEWAY:
      return gateway(call);
    case SharedFunction::THREAD_SPAWNER:
      if (message.end_of_thread) {
        return SendOutcome::done;  // its resources are the dispatcher's
      }
      return call.unsupported("threads do not start others");
    case SharedFunction::NULL_FUNCTION:
      call.response.clear();
      return SendOutcome::done;
    case SharedFunction::SAMPLER_CACHE_DATA_PORT:
    case SharedFunction::RENDER_CACHE_DATA_PORT:
    case SharedFunction::URB:
    case SharedFunction::VIDEO_MOTION_ESTIMATION:
    case SharedFunction::PIXEL_INTERPOLATOR:
    case SharedFunction::CHECK_AND_REFINEMENT:
      break;
  }
  return call.unsupported("this shared function is not there yet");
}

std::string message_name(uint8_t function, uint8_t type) {
  const std::string_view name = value_name("SharedFunction", function);
  const auto whole = [&](std::string_view kind) {
    return kind.empty() ? fmt::format("{} {}", name, type) : fmt::format("{} {}", name, kind);
  };
  switch (static_cast<SharedFunction>(function)) {
    case SharedFunction::DATA_CACHE_DATA_PORT_1:
      return whole(value_name("DataPort1Message", type));
    case SharedFunction::DATA_CACHE_DATA_PORT_0:
      if ((type & kScratchBit) != 0) {
        return whole((type & kScratchWriteBit) != 0 ? "SCRATCH_BLOCK_WRITE" : "SCRATCH_BLOCK_READ");
      }
      return whole(value_name("DataPort0Message", type));
    case SharedFunction::CONSTANT_CACHE_DATA_PORT:
      return whole(value_name("DataPort0Message", type));
    case SharedFunction::SAMPLER:
      return whole(value_name("SamplerMessage", type));
    case SharedFunction::MESSAGE_GATEWAY:
      return whole(type == 4 ? "BARRIER" : "");
    default:
      return name.empty() ? fmt::format("function {}", function) : std::string(name);
  }
}

void SharedFunctions::report(FidelityReport& report) const {
  for (uint8_t function = 0; function < context_.counts.size(); ++function) {
    for (uint8_t type = 0; type < context_.counts[function].size(); ++type) {
      const MessageCount& count = context_.counts[function][type];
      if (count.count != 0) {
        report.touch(FidelityKind::message, message_name(function, type), count.fidelity, count.reason, count.count);
      }
    }
  }
}

}  // namespace halogen::message
