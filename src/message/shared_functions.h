// The shared functions of Gen4 to Gen12 as one target of messages: data ports, sampler, URB, gateway, thread spawner.
// The math box belongs to the EU. Messages about pixels go to the stage that dispatches pixels. Not modelled: video
// motion estimation, threads that start others after Gen5, some SIMD4x2 forms. They are counted and reported as
// unsupported; their responses are zero.
//
// A message completes when it is sent, lanes from the lowest up, so fences have nothing to wait for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
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
#include "message/work_tally.h"

namespace halogen::message {

// Count and fidelity of a kind of message. Texts are static.
struct MessageCount {
  uint64_t count = 0;
  FidelityClass fidelity = FidelityClass::exact;
  std::string_view reason;
};

// Recently decoded descriptors.
class ControlCache {
 public:
  const eu::MessageControl& find(spec::GenId gen, uint8_t function, uint32_t descriptor);
  void forget() { entries_.fill({}); }

 private:
  struct Entry {
    uint32_t descriptor = 0;
    uint8_t function = 0xff;  // not a valid function, so the entry is empty
    eu::MessageControl control;
  };
  std::array<Entry, 64> entries_{};
};

// State that all shared functions use.
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
  std::vector<size_t> counted;    // flat indices of counts above zero
  bool fidelity_changed = false;  // a kind of message was found to be less exact
  uint64_t fidelity_changes = 0;  // number of such changes, here and in merged functions
  Touched touched;                // by the message that is being executed, if Environment::counts_work
  MessageWork work;               // of the messages since take_work()

  spec::GenId gen() const { return generation->id(); }
};

struct Call;

class SharedFunctions final : public eu::MessageTarget {
 public:
  // Sets memory, bases and tables before threads of other work run. Drops cached state.
  void begin(const Generation& generation, const Environment& environment);
  void set_events(EventSink* events, std::string path) {
    context_.events = events;
    context_.path = std::move(path);
  }

  eu::SendOutcome send(eu::Thread& thread, const eu::Message& message) override;

  void report(FidelityReport& report) const;
  // Counts messages that were executed elsewhere.
  void count(const eu::MessageControl& control, uint64_t times);
  // Returns the work of messages since the last call, if the environment says that it is counted.
  MessageWork take_work() { return std::exchange(context_.work, {}); }

  // For helpers of `main` on other host threads. use_fidelity_of() copies the fidelity of each kind of message from
  // `main`. merge_counts() adds the counts and work of this object to those of `main`.
  void use_fidelity_of(const SharedFunctions& main);
  void merge_counts(SharedFunctions& main);
  void drop_counts();
  SurfaceUses& surface_uses() { return context_.surfaces.uses(); }
  bool fidelity_changed() const { return context_.fidelity_changed; }  // since use_fidelity_of()
  // Sends a message, unless it would fault or change the fidelity. If it would, the outcome is `blocked`, and the
  // thread sends the message again later.
  eu::SendOutcome try_send(eu::Thread& thread, const eu::Message& message);
  // Returns whether the message depends on other threads or acts on them (exchange.h).
  bool exchanges(const eu::Message& message);

 private:
  eu::SendOutcome dispatch(Call& call);

  void count_up(MessageCount& count, uint64_t times = 1);
  void add_work(eu::SendOutcome outcome);

  Context context_;
  uint64_t known_changes_ = 0;  // main's fidelity_changes at the last copy, plus one
};

// Returns the name that the instruction printer uses, such as "dc1 untyped_read".
std::string message_name(eu::SharedFunction function, eu::MessageControl::Type type);

}  // namespace halogen::message
