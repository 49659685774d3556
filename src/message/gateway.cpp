// The message gateway and the thread spawner: messages that open registers to other threads, write them, and start
// child threads. Not modelled: timestamps, counters and registers of the gateway, spawners after Gen5 (no public source
// describes their messages).
#include <algorithm>
#include <array>
#include <cstring>

#include "hw/message_headers.h"
#include "message/call.h"
#include "message/exchange.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Type = eu::MessageControl::Type;
using Requester = eu::MessageControl::Request;

constexpr uint32_t kFileBytes = eu::kGrfs * eu::kGrfBytes;
constexpr uint32_t kMaxForward_B = 16;  // the data of the header

// Returns the gateway of the sender. Null: a kernel that has overwritten its sr0.0 has lost its name.
Gateway* own_gateway(const Call& call, Exchange& exchange) {
  const Exchange::Party own = exchange.find(name_of(call.thread));
  if (own.thread == &call.thread) {
    return own.gateway;
  }
  exchange.report(ExchangeMistake::no_thread, call.thread, name_of(call.thread));
  return nullptr;
}

void open(Call& call, Exchange& exchange, Gateway& own) {
  const auto header = call.header<hw::GATEWAY_OPEN_HEADER>();
  const uint32_t first_B = header.first_register * uint32_t{eu::kGrfBytes};
  const uint32_t size_B = uint32_t{eu::kGrfBytes} << header.size_log2;
  if (first_B + size_B > kFileBytes) {
    exchange.report(ExchangeMistake::registers_missing, call.thread, header.first_register);
    return;
  }
  if (own.open) {
    exchange.report(ExchangeMistake::opened_twice, call.thread, header.key);
  }
  own = {.open = true,
         .key = header.key,
         .first_B = static_cast<uint16_t>(first_B),
         .size_B = static_cast<uint16_t>(size_B)};
}

void close(const Call& call, Exchange& exchange, Gateway& own) {
  if (!own.open) {
    exchange.report(ExchangeMistake::not_open, call.thread, 0);
  }
  own = {};
}

// Returns the data of a message to another thread. Software fills a whole dword with a single byte.
std::array<std::byte, kMaxForward_B> data_of(const hw::GATEWAY_FORWARD_HEADER& header) {
  std::array<std::byte, kMaxForward_B> data;
  for (size_t i = 0; i < header.data.size(); ++i) {
    std::memcpy(data.data() + i * sizeof(uint32_t), &header.data[i].value, sizeof(uint32_t));
  }
  return data;
}

void forward(Call& call, Exchange& exchange) {
  const auto header = call.header<hw::GATEWAY_FORWARD_HEADER>();
  const uint32_t bytes = 1u << header.length_log2;
  const Exchange::Party target = exchange.find(header.thread);
  if (target.thread == nullptr) {
    return exchange.report(ExchangeMistake::no_thread, call.thread, header.thread);
  }
  if (!target.gateway->open) {
    return exchange.report(ExchangeMistake::gateway_closed, call.thread, header.thread);
  }
  if (target.gateway->key != header.key) {
    return exchange.report(ExchangeMistake::wrong_key, call.thread, header.key);
  }
  if (bytes > kMaxForward_B) {
    return exchange.report(ExchangeMistake::wrong_length, call.thread, header.length_log2);
  }
  if (header.offset + bytes > target.gateway->size_B) {
    return exchange.report(ExchangeMistake::beyond_gateway, call.thread, header.offset);
  }
  const auto data = data_of(header);
  if (bytes == 1 && std::ranges::count(std::span(data).first(sizeof(uint32_t)), data[0]) != sizeof(uint32_t)) {
    exchange.report(ExchangeMistake::unequal_bytes, call.thread, header.data[0].value);
  }
  std::copy_n(data.begin(), bytes, target.thread->grf.begin() + target.gateway->first_B + header.offset);
  if (call.control.notify != 0) {
    ++target.thread->notification[0];
  }
}

SendOutcome spawn(Call& call, Exchange& exchange) {
  const auto header = call.header<hw::SPAWN_HEADER>();
  return exchange.spawn(
      {.descriptor = header.descriptor, .first_row = header.first_row, .rows = header.last_register + 1u});
}

SendOutcome barrier(Call& call) {
  call.context.environment.groups->arrive(call.thread);
  if (call.touched != nullptr) {
    call.touched->barrier = true;
  }
  call.response.clear();
  return SendOutcome::done;
}

SendOutcome exchange_message(Call& call) {
  Exchange* const exchange = call.context.environment.exchange;
  if (!call.context.rules->gateway) {
    return call.unsupported("no public source describes this message on this generation");
  }
  if (exchange == nullptr) {
    return call.unsupported("gateway message from a thread that is not a media thread");
  }
  if (call.control.type == Type::forward) {
    forward(call, *exchange);
  } else if (Gateway* const own = own_gateway(call, *exchange)) {
    if (call.control.type == Type::open) {
      open(call, *exchange, *own);
    } else {
      close(call, *exchange, *own);
    }
  }
  exchange->exchanged();
  if (call.control.acknowledge != 0) {
    call.approximate("acknowledgement reads zero, also after an error");
  }
  call.response.clear();
  return SendOutcome::done;
}

}  // namespace

SendOutcome gateway(Call& call) {
  switch (call.control.type) {
    case Type::open:
    case Type::close:
    case Type::forward:
      return exchange_message(call);
    case Type::barrier:
      if (call.context.environment.groups != nullptr) {
        return barrier(call);
      }
      break;
    default:
      break;
  }
  return call.unsupported("gateway message not implemented, or barrier outside a thread group");
}

SendOutcome spawner(Call& call) {
  Exchange* const exchange = call.context.environment.exchange;
  call.response.clear();
  if (call.control.type == Type::spawn) {
    if (exchange == nullptr || call.context.rules->spawner_rows == 0) {
      return call.unsupported("thread not started; no public source describes the message on this generation");
    }
    return spawn(call, *exchange);
  }
  if (exchange == nullptr) {
    return call.message.end_of_thread ? SendOutcome::done  // the dispatcher frees its resources
                                      : call.unsupported("resources returned before the end of the thread");
  }
  const bool child = call.control.request == Requester::child;
  if (!call.message.end_of_thread) {
    exchange->report(ExchangeMistake::not_ended, call.thread, call.message.descriptor);
  } else if (child != exchange->is_child(name_of(call.thread))) {
    exchange->report(ExchangeMistake::wrong_requester, call.thread, call.message.descriptor);
  }
  return SendOutcome::done;
}

bool exchanges(const Context& context, const eu::MessageControl& control, bool end_of_thread) {
  if (context.environment.exchange == nullptr) {
    return false;
  }
  switch (control.function) {
    case eu::SharedFunction::gtwy:
      return control.type == Type::open || control.type == Type::close || control.type == Type::forward;
    case eu::SharedFunction::ts:
      return control.type == Type::spawn || control.request == Requester::child || !end_of_thread;
    case eu::SharedFunction::urb:  // rows that children start with
      return true;
    default:
      return false;
  }
}

}  // namespace halogen::message
