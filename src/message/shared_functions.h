// The shared functions of Gen4 to Gen12 as one target of messages: data ports, sampler, URB, gateway, thread spawner.
// The math box is the EU's own. What is about pixels goes to whoever dispatches them. Left out: video motion
// estimation, threads that start others, some SIMD4x2 forms. They are counted and named as unsupported, their responses
// are zero.
//
// A message is done at once and completely, lanes from the lowest up: fences have nothing left to wait for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "eu/exec/message.h"
#include "eu/message_fields.h"
#include "gen/generation.h"
#include "message/environment.h"
#include "message/quick_texture.h"
#include "message/sampler_state.h"
#include "message/surface_table.h"

namespace halogen::message {

// How well a kind of message is done. Texts are static.
struct MessageCount {
  uint64_t count = 0;
  FidelityClass fidelity = FidelityClass::exact;
  std::string_view reason;
};

// Descriptors that were taken apart lately.
class ControlCache {
 public:
  const eu::MessageControl& find(spec::GenId gen, uint8_t function, uint32_t descriptor);
  void forget() { entries_.fill({}); }

 private:
  struct Entry {
    uint32_t descriptor = 0;
    uint8_t function = 0xff;  // no function: the place is empty
    eu::MessageControl control;
  };
  std::array<Entry, 64> entries_{};
};

// What the parts of this room work with.
struct Context {
  const Generation* generation = nullptr;
  const MessageRules* rules = nullptr;
  Environment environment;
  SurfaceTable surfaces;
  SamplerTable samplers;
  QuickTextures textures;
  EventSink* events = nullptr;
  std::string path;
  ControlCache controls;
  std::array<std::array<MessageCount, eu::kMessageTypes>, eu::kSharedFunctions> counts{};
  std::vector<size_t> counted;  // those above zero, numbered through
  bool learned = false;         // a kind of message is not as exact as it was thought to be
  uint64_t lessons = 0;         // how often that happened, here or at those that hand over

  spec::GenId gen() const { return generation->id(); }
};

struct Call;

class SharedFunctions final : public eu::MessageTarget {
 public:
  // Before threads of other work run: its memory, bases and tables. Cached state is forgotten.
  void begin(const Generation& generation, const Environment& environment);
  void set_events(EventSink* events, std::string path) {
    context_.events = events;
    context_.path = std::move(path);
  }

  eu::SendOutcome send(eu::Thread& thread, const eu::Message& message) override;

  void report(FidelityReport& report) const;
  // Messages that somebody else has done.
  void count(const eu::MessageControl& control, uint64_t times);

  // Where several work for one: what is known of kinds of messages, and back what this one has counted and learned.
  void follow(const SharedFunctions& main);
  void hand_over(SharedFunctions& main);
  void drop_counts();
  bool learned() const { return context_.learned; }  // since it followed
  // A message that would fault, or from which something would be learned, is not done but blocked: it is to be sent
  // again when it is its turn.
  eu::SendOutcome try_send(eu::Thread& thread, const eu::Message& message);

 private:
  eu::SendOutcome dispatch(Call& call);

  void count_up(MessageCount& count, uint64_t times = 1);

  Context context_;
  uint64_t followed_ = 0;  // lessons of the one that is followed, and one more
};

// "dc1 untyped_read", as the printer of instructions has it.
std::string message_name(eu::SharedFunction function, eu::MessageControl::Type type);

}  // namespace halogen::message
