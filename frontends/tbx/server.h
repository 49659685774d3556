// The TBX server: listens on 127.0.0.1 or on a unix socket, with one thread and one device per connection, or one
// device for all. By default it serves only the user that runs it. The fidelity of all connections is merged
// into one report. Each connection that does something can be recorded as a trace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/fidelity.h"
#include "base/result.h"
#include "tbx/bounded_log.h"
#include "tbx/channel.h"
#include "tbx/peer_user.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/simulator.h"

namespace halogen::tbx {

struct ServerOptions {
  const spec::DeviceModel* model = nullptr;
  uint16_t port = 0;                   // 0: the system picks one
  std::string path;                    // of a unix socket with mode 0600, instead of a port; empty: none
  bool any_user = false;               // serve other users of this machine too
  uint64_t pages = uint64_t{1} << 20;  // of 4 KiB, system and local memory of all connections; one gets half of them
  bool shared = false;
  eu::ExecutorKind executor = eu::ExecutorKind::interpreter;
  // If all connections are in use, one that has not used its device for this long is dropped for a new one.
  std::chrono::milliseconds silence_limit = std::chrono::minutes(1);
  PeerLimits limits;
  std::string trace;  // file; further connections add a number to its name
  std::function<void(std::string_view)> log = [](std::string_view) {};
  std::function<void(const FidelityReport&)> reported = [](const FidelityReport&) {};  // called after each connection
};

class Server {
 public:
  static constexpr unsigned kMaxConnections = 64;
  static constexpr unsigned kMaxForeign = 32;  // of these, connections of all other users together

  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const { return port_; }  // 0: a unix socket
  std::string place() const;               // where it listens, as users write it
  void run();                              // until stop()
  void stop();                             // from any thread; ends connections, and the work of their devices

  FidelityReport report();
  uint64_t finished() const { return finished_.load(); }      // connections that have ended
  uint64_t memory_hash() const { return last_hash_.load(); }  // of the last connection with a device

 private:
  // A simulator with its trace.
  struct World {
    std::unique_ptr<trace::PageBudget> budget;
    std::unique_ptr<trace::ByteSink> sink;
    std::unique_ptr<trace::aub::Writer> writer;
    std::unique_ptr<trace::Simulator> simulator;
  };
  struct Connection {
    uint64_t number = 0;
    bool foreign = false;  // of another user
    std::thread thread;
    std::atomic<bool> done{false};
    Waiting waiting;          // for its peer
    std::mutex guard;         // guards the following
    int socket = -1;          // -1: closed
    bool has_device = false;  // the client sent more than greetings
    bool dropped = false;
  };

  explicit Server(ServerOptions options) : options_(std::move(options)), log_(options_.log), budget_(options_.pages) {}

  Result<void> bind_port();
  Result<void> bind_path();
  void accept_one();
  // Returns the reason why a new connection is refused. Empty: it is accepted.
  std::string refusal(int socket, bool& foreign);
  void serve(Connection& connection);
  void serve_guarded(Connection& connection);
  // Drops the oldest connection without a device, otherwise the one that has been silent longest, if that is long
  // enough. For another user's connection (`foreign`), drops only other users' connections. False: no connection can be
  // dropped.
  bool drop_idle(bool foreign);
  void drop(Connection& connection, std::string_view why);
  Result<void> make(World& world);
  void end(World& world, const std::string& who);
  void join_finished(bool all);
  Result<std::unique_ptr<trace::ByteSink>> create_trace();

  ServerOptions options_;
  StopFlag stopping_;
  BoundedLog log_;
  trace::PageBudget budget_;
  std::optional<PeerUsers> users_;
  int listener_ = -1;
  int stop_read_ = -1;
  int stop_write_ = -1;
  uint16_t port_ = 0;
  std::list<Connection> connections_;  // used by the thread of run() only
  uint64_t accepted_ = 0;
  std::atomic<uint64_t> finished_{0};
  std::atomic<uint64_t> last_hash_{0};

  std::mutex guard_;  // guards the following
  World shared_;
  std::mutex shared_guard_;
  unsigned traces_ = 0;
  FidelityReport report_;
};

}  // namespace halogen::tbx
