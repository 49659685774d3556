// One TBX connection: reads messages, executes them on a simulator in order, and replies. Work that a register write
// starts is done before the next message is read, so that a client sees its submission finished.
//
// Not supported: write masks, addresses that are not physical, remote procedure calls (their layouts are not public),
// and properties of the simulator itself (parameters, inner variables).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "tbx/channel.h"
#include "tbx/protocol.h"
#include "trace/simulator.h"

namespace halogen::tbx {

struct SessionParts {
  Channel& channel;
  // The simulator, created at the first message that needs it, because clients open connections that they never use.
  std::function<Result<trace::Simulator*>()> simulator;
  std::mutex& guard;  // held while the simulator is in use, because it may be shared
  std::function<void(std::string_view)> log;
  Waiting* waiting = nullptr;  // ended by each use of the simulator; may be null
};

class Session {
 public:
  // Notes about messages that are skipped; further ones are left out, so that a peer cannot fill memory or the log.
  static constexpr size_t kMaxNotes = 32;

  explicit Session(SessionParts parts) : parts_(std::move(parts)) {}

  // Runs until the peer leaves, quits, or sends something that cannot be parsed.
  void run();

  uint64_t messages() const { return messages_; }
  // Returns why the session failed. Empty: it ended normally.
  const std::string& fault() const { return fault_; }

 private:
  using Body = std::span<const uint32_t>;
  using Handle = bool (Session::*)(Body);
  struct Row {
    MessageType type;
    std::string_view name;
    uint32_t least;  // minimum bytes of the body
    uint32_t most;
    Handle handle;  // null: accepted without effect
  };
  static const std::array<Row, 28> kRows;

  static constexpr uint32_t kMaxBody = 1 << 20;     // of an unknown message
  static constexpr size_t kPart = 64 * 1024;        // bytes of data handled at a time
  static constexpr uint64_t kPollTime = 1'000'000;  // virtual time between two polls of a client
  static constexpr unsigned kFreeRepeats = 16;      // polls with the same result before they are slowed down
  static constexpr uint64_t kRegisterRead = uint64_t{1} << 63;
  static constexpr uint32_t kMaxCompare = 1u << 20;

  bool next();  // false: the end
  bool skip(uint64_t bytes);
  bool read_body(uint32_t bytes);
  bool reply(MessageType type, std::span<const uint32_t> body);
  bool lost(std::string sentence);
  // Logs a sentence once per connection.
  void once(std::string_view key, std::string_view sentence);
  bool use(const std::function<void(trace::Simulator&)>& what);
  // Slows down a client that polls an unchanged value: virtual time passes, and the reply is delayed.
  bool slow_down(uint64_t what, uint64_t found);

  bool on_mmio(Body body);
  bool on_mmio2(Body body);
  bool access_register(bool write, trace::aub::RegisterSpace space, unsigned device, uint32_t offset, unsigned bytes,
                       uint64_t& value);
  bool on_gtt(Body body);
  bool on_write_data(Body body);
  bool on_read_data(Body body);
  bool on_marker(Body body);
  bool on_render_end(Body body);
  bool on_control(Body body);
  bool on_pci_config(Body body);
  bool on_inner_variable(Body body);
  bool on_inner_variable_list(Body body);
  bool on_io(Body body);
  bool on_funny_io(Body body);
  bool on_rpc(Body body);
  bool on_cache_flush(Body body);
  bool on_sync_all_pages(Body body);
  bool on_sideband(Body body);
  bool on_compare_data(Body body);

  // Returns the memory space of a physical address of a request.
  std::optional<trace::aub::MemorySpace> place(uint32_t memory_type, bool front_door, uint64_t& address);

  SessionParts parts_;
  trace::Simulator* simulator_ = nullptr;
  Header header_;
  std::vector<uint32_t> body_;
  std::vector<std::byte> data_;
  uint64_t messages_ = 0;
  std::string fault_;
  std::unordered_set<std::string> said_;
  bool typed_reads_ = false;  // this client names the memory that it reads
  uint64_t repeated_what_ = ~uint64_t{0};
  uint64_t repeated_found_ = 0;
  unsigned repeats_ = 0;
};

}  // namespace halogen::tbx
