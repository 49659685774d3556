#include "message/shared_functions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "eu/isa/messages.h"
#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using eu::SharedFunction;
using Type = eu::MessageControl::Type;

std::string_view function_name(SharedFunction function) {
  for (const eu::FunctionName& each : eu::function_names()) {
    if (each.function == function) {
      return each.name;
    }
  }
  return {};
}

MessageCount& count_of(Context& context, const eu::MessageControl& control) {
  return context.counts[static_cast<size_t>(control.function)][static_cast<size_t>(control.type)];
}

}  // namespace

const eu::MessageControl& ControlCache::find(spec::GenId gen, uint8_t function, uint32_t descriptor) {
  const uint32_t mixed = (descriptor ^ uint32_t{function} << 13) * 0x9e37'79b1u;
  Entry& entry = entries_[mixed >> 26];
  if (entry.function != function || entry.descriptor != descriptor) {
    entry = {descriptor, function, eu::unpack_control(gen, function, descriptor)};
  }
  return entry.control;
}

Call::Call(Context& shared, eu::Thread& sender, const eu::Message& sent)
    : context(shared),
      thread(sender),
      message(sent),
      control(shared.controls.find(shared.gen(), sent.function & 15u, sent.descriptor)),
      count(count_of(shared, control)),
      payload(sent),
      response(sent.response),
      touched(shared.environment.counts_work ? &shared.touched : nullptr),
      data(has_header() ? 1 : 0) {}

void Call::approximate(std::string_view reason) {
  if (count.fidelity == FidelityClass::exact) {
    count.fidelity = FidelityClass::approximate;
    count.reason = reason;
    context.fidelity_changed = true;
    ++context.fidelity_changes;
  }
}

SendOutcome Call::unsupported(std::string_view reason) {
  if (count.fidelity != FidelityClass::unsupported) {
    count.fidelity = FidelityClass::unsupported;
    count.reason = reason;
    context.fidelity_changed = true;
    ++context.fidelity_changes;
    if (context.events != nullptr) {
      context.events->on_event({EventKind::unsupported, function_name(control.function), context.path, thread.ip,
                                message.descriptor,
                                fmt::format("{}: {}", message_name(control.function, control.type), reason)});
    }
  }
  response.clear();
  return SendOutcome::done;
}

MemoryTarget stateless_memory(const Call& call, HeaderBase header) {
  const Environment& environment = call.context.environment;
  const uint64_t scratch = header == HeaderBase::added ? call.optional_header<hw::DATA_PORT_HEADER>().scratch : 0;
  return MemoryTarget::memory(*environment.space, environment.bases.general + scratch, call.touched);
}

std::optional<MemoryTarget> target_of(Call& call, uint8_t index, HeaderBase header) {
  const Environment& environment = call.context.environment;
  switch (call.binding(index)) {
    case Binding::local_memory:
      return MemoryTarget::local(
          environment.groups == nullptr ? std::span<std::byte>() : environment.groups->local_memory(call.thread.group),
          call.touched);
    case Binding::stateless:
      return stateless_memory(call, header);
    case Binding::surface:
    case Binding::bindless:
      break;
  }
  const Surface* const surface =
      call.context.surfaces.find(*call.context.generation, environment, index, call.message.extended);
  if (surface == nullptr) {
    return std::nullopt;
  }
  return surface->kind == Surface::Kind::none
             ? MemoryTarget::none()
             : MemoryTarget::buffer(*environment.space, surface->base, surface->bytes, call.touched);
}

namespace {

bool of_pixels(Type type) {
  switch (type) {
    case Type::render_target_write:
    case Type::render_target_unorm_write:
    case Type::render_target_read:
    case Type::render_unorm_read:
      return true;
    default:
      return false;
  }
}

bool goes_to_pixels(const eu::MessageControl& control) {
  switch (control.function) {
    case SharedFunction::pixi:
      return true;
    case SharedFunction::rc:
    case SharedFunction::dpwr:
      return of_pixels(control.type);
    default:
      return false;
  }
}

SendOutcome pixels(Call& call) {
  PixelMessages* const target = call.context.environment.pixels;
  return target != nullptr ? target->send(call.thread, call.message, call.control)
                           : call.unsupported("pixel message from a thread without pixels");
}

}  // namespace

void SharedFunctions::begin(const Generation& generation, const Environment& environment) {
  if (context_.generation == nullptr || context_.gen() != generation.id()) {
    context_.controls.forget();
  }
  context_.generation = &generation;
  context_.rules = &message_rules(generation.id());
  context_.environment = environment;
  context_.surfaces.forget();
  context_.samplers.forget();
}

namespace {

MessageCount& count_of(Context& context, size_t number) {
  return context.counts[number / eu::kMessageTypes][number % eu::kMessageTypes];
}

}  // namespace

void SharedFunctions::use_fidelity_of(const SharedFunctions& main) {
  const bool changed =
      std::exchange(context_.fidelity_changed, false);  // may be left over from work that was rolled back
  if (!changed && known_changes_ == main.context_.fidelity_changes + 1) {
    return;
  }
  known_changes_ = main.context_.fidelity_changes + 1;
  for (size_t function = 0; function < context_.counts.size(); ++function) {
    for (size_t type = 0; type < context_.counts[function].size(); ++type) {
      const MessageCount& known = main.context_.counts[function][type];
      context_.counts[function][type] = {context_.counts[function][type].count, known.fidelity, known.reason};
    }
  }
}

void SharedFunctions::merge_counts(SharedFunctions& main) {
  for (const size_t number : context_.counted) {
    const MessageCount& mine = count_of(context_, number);
    MessageCount& all = count_of(main.context_, number);
    if (all.count == 0) {
      main.context_.counted.push_back(number);
    }
    main.context_.fidelity_changes += all.fidelity != mine.fidelity ? 1u : 0u;
    all = {all.count + mine.count, mine.fidelity, mine.reason};
  }
  main.context_.surfaces.unread().merge(context_.surfaces.unread());
  main.context_.samplers.unread().merge(context_.samplers.unread());
  main.context_.surfaces.uses().merge(context_.surfaces.uses());
  main.context_.work.add(context_.work);
  drop_counts();
}

void SharedFunctions::drop_counts() {
  for (const size_t number : context_.counted) {
    count_of(context_, number).count = 0;
  }
  context_.counted.clear();
  context_.work = {};
}

void SharedFunctions::count_up(MessageCount& count, uint64_t times) {
  if (count.count == 0 && times != 0) {
    context_.counted.push_back(static_cast<size_t>(&count - context_.counts.front().data()));
  }
  count.count += times;
}

void SharedFunctions::count(const eu::MessageControl& control, uint64_t times) {
  count_up(count_of(context_, control), times);
}

eu::SendOutcome SharedFunctions::send(eu::Thread& thread, const eu::Message& message) {
  PixelMessages* const target = context_.environment.pixels;
  if (target != nullptr) {
    // Checks the control without a Call, which would copy the payload.
    const eu::MessageControl& control =
        context_.controls.find(context_.gen(), message.function & 15u, message.descriptor);
    if (goes_to_pixels(control)) {
      count_up(count_of(context_, control));
      return target->send(thread, message, control);
    }
  }
  Call call(context_, thread, message);
  count_up(call.count);
  const SendOutcome outcome = dispatch(call);
  if (context_.environment.counts_work) {
    add_work(outcome);
  }
  return outcome;
}

// Counts the work of the message that was executed last.
void SharedFunctions::add_work(SendOutcome outcome) {
  if (outcome == SendOutcome::done) {
    context_.work.add(context_.touched);
  }
  context_.touched.clear();
}

eu::SendOutcome SharedFunctions::try_send(eu::Thread& thread, const eu::Message& message) {
  Call call(context_, thread, message);
  const MessageCount before = call.count;
  std::array<std::byte, 32 * eu::kGrfBytes> registers;
  const std::span saved = std::span(registers).first(std::min(registers.size(), message.response.size()));
  std::copy_n(message.response.begin(), saved.size(), saved.begin());
  const SendOutcome outcome = dispatch(call);
  const bool stands = outcome != SendOutcome::fault && !context_.fidelity_changed;
  if (context_.environment.counts_work) {
    add_work(stands ? outcome : SendOutcome::blocked);
  }
  if (stands) {
    count_up(call.count);
    return outcome;
  }
  context_.fidelity_changed = false;
  call.count = before;
  std::ranges::copy(saved, message.response.begin());
  return SendOutcome::blocked;
}

bool SharedFunctions::exchanges(const eu::Message& message) {
  return message::exchanges(context_,
                            context_.controls.find(context_.gen(), message.function & 15u, message.descriptor),
                            message.end_of_thread);
}

eu::SendOutcome SharedFunctions::dispatch(Call& call) {
  if (goes_to_pixels(call.control)) {
    return pixels(call);
  }
  switch (call.control.function) {
    case SharedFunction::rc:
    case SharedFunction::dpwr:
    case SharedFunction::dc0:
    case SharedFunction::dc1:
    case SharedFunction::dcro:
    case SharedFunction::dprd:
    case SharedFunction::dpsc:
      return data_port(call);
    case SharedFunction::urb:
      return urb_port(call);
    case SharedFunction::smpl:
      return sampler(call);
    case SharedFunction::gtwy:
      return gateway(call);
    case SharedFunction::ts:
      return spawner(call);
    case SharedFunction::null:
      call.response.clear();
      return SendOutcome::done;
    case SharedFunction::none:
    case SharedFunction::pixi:
    case SharedFunction::math:  // executed by the EU itself
    case SharedFunction::dc2:
    case SharedFunction::vme:
    case SharedFunction::cre:
      break;
  }
  return call.unsupported("shared function not implemented");
}

std::string message_name(SharedFunction function, Type type) {
  const std::string_view name = function == SharedFunction::none ? "no function" : function_name(function);
  const std::string_view kind = eu::type_name(static_cast<unsigned>(type));
  return kind.empty() ? std::string(name) : fmt::format("{} {}", name, kind);
}

void SharedFunctions::report(FidelityReport& report) const {
  context_.surfaces.unread().report(report);
  context_.samplers.unread().report(report);
  for (size_t function = 0; function < context_.counts.size(); ++function) {
    for (size_t type = 0; type < context_.counts[function].size(); ++type) {
      const MessageCount& count = context_.counts[function][type];
      if (count.count != 0) {
        report.touch(FidelityKind::message,
                     message_name(static_cast<SharedFunction>(function), static_cast<Type>(type)), count.fidelity,
                     count.reason, count.count);
      }
    }
  }
}

}  // namespace halogen::message
