// The TBX server: listens on 127.0.0.1 only, with one thread and one device per connection, or one device for all. The
// fidelity of all connections is merged into one report. Each connection that does something can be recorded as a
// trace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/fidelity.h"
#include "base/result.h"
#include "tbx/channel.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/simulator.h"

namespace halogen::tbx {

struct ServerOptions {
  const spec::DeviceModel* model = nullptr;
  uint16_t port = 0;  // 0: the system picks one
  bool shared = false;
  eu::ExecutorKind executor = eu::ExecutorKind::interpreter;
  // If all connections are in use, one whose peer has been silent for this long is dropped for a new one.
  std::chrono::milliseconds silence_limit = std::chrono::minutes(1);
  std::string trace;  // file; further connections add a number to its name
  std::function<void(std::string_view)> log = [](std::string_view) {};
  std::function<void(const FidelityReport&)> reported = [](const FidelityReport&) {};  // called after each connection
};

class Server {
 public:
  static constexpr unsigned kMaxConnections = 64;
  static constexpr uint64_t kMaxPages = uint64_t{1} << 20;  // 4 GiB of memory, system and local, for all connections

  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const { return port_; }
  void run();   // until stop()
  void stop();  // from any thread; ends connections, and the work of their devices

  FidelityReport report();
  uint64_t finished() const { return finished_.load(); }      // connections that have ended
  uint64_t memory_hash() const { return last_hash_.load(); }  // of the last connection with a device

 private:
  // A simulator with its trace.
  struct World {
    std::unique_ptr<trace::ByteSink> sink;
    std::unique_ptr<trace::aub::Writer> writer;
    std::unique_ptr<trace::Simulator> simulator;
  };
  struct Connection {
    uint64_t number = 0;
    std::thread thread;
    std::atomic<bool> done{false};
    Waiting waiting;          // for its peer
    std::mutex guard;         // guards the following
    int socket = -1;          // -1: closed
    bool has_device = false;  // it sent more than greetings
    bool dropped = false;
  };

  explicit Server(ServerOptions options) : options_(std::move(options)), budget_(kMaxPages) {}

  void accept_one();
  void serve(Connection& connection);
  // Drops the oldest connection without a device, otherwise the one that has been silent longest, if that is long
  // enough. False: no connection can be dropped.
  bool drop_idle();
  void drop(Connection& connection, std::string_view why);
  Result<void> make(World& world);
  void end(World& world, const std::string& who);
  void join_finished(bool all);
  std::string trace_name();

  ServerOptions options_;
  StopFlag stopping_;
  trace::PageBudget budget_;
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
