// One TBX connection: reads messages, does them on a machine in their order, answers. Work that a register write starts
// is done before the next message is read, so that a client sees its submission finished.
//
// Left out: write masks, addresses that are not physical, remote procedure calls (their layouts are not public); and
// what a simulator tells of itself (parameters, inner variables): there is nothing to tell.
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
  // The machine, made at the first message that needs one: clients open connections that they never use.
  std::function<Result<trace::Simulator*>()> simulator;
  std::mutex& guard;  // held while the machine is used: others may share it
  std::function<void(std::string_view)> log;
};

class Session {
 public:
  explicit Session(SessionParts parts) : parts_(std::move(parts)) {}

  // Until the peer goes, quits, or sends what nobody can follow.
  void run();

  uint64_t messages() const { return messages_; }
  // Why the server ended the connection; empty: it did not.
  const std::string& fault() const { return fault_; }

 private:
  using Body = std::span<const uint32_t>;
  using Handle = bool (Session::*)(Body);
  struct Row {
    MessageType type;
    std::string_view name;
    uint32_t least;  // bytes of the body
    uint32_t most;
    Handle handle;  // null: taken and not acted upon
  };
  static const std::array<Row, 28> kRows;

  static constexpr uint32_t kMaxBody = 1 << 20;     // of a message that we do not know
  static constexpr size_t kPart = 64 * 1024;        // of data, at a time
  static constexpr uint64_t kPollTime = 1'000'000;  // virtual time between two looks of a client
  static constexpr unsigned kFreeRepeats = 16;      // of a read that finds the same, before it is slowed down
  static constexpr uint64_t kRegisterRead = uint64_t{1} << 63;
  static constexpr uint32_t kMaxCompare = 1u << 20;

  bool next();  // false: the end
  bool skip(uint64_t bytes);
  bool read_body(uint32_t bytes);
  bool reply(MessageType type, std::span<const uint32_t> body);
  bool lost(std::string sentence);
  void once(std::string_view key, std::string_view sentence);
  bool use(const std::function<void(trace::Simulator&)>& what);
  // A client that looks again at what has not changed: time passes, and it has to wait.
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

  // Where a physical address of a request lies.
  std::optional<trace::aub::MemorySpace> place(uint32_t memory_type, bool front_door, uint64_t& address);

  SessionParts parts_;
  trace::Simulator* simulator_ = nullptr;
  Header header_;
  std::vector<uint32_t> body_;
  std::vector<std::byte> data_;
  uint64_t messages_ = 0;
  std::string fault_;
  std::unordered_set<std::string> said_;
  bool typed_reads_ = false;  // this client says which memory it reads
  uint64_t repeated_what_ = ~uint64_t{0};
  uint64_t repeated_found_ = 0;
  unsigned repeats_ = 0;
};

}  // namespace halogen::tbx
