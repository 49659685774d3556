// The TBX server: listens on 127.0.0.1 only, a thread and a device a connection; or one device for all of them. What a
// connection touched is merged into one report; what it did may be recorded, one trace a connection that did something.
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
  // A connection whose peer has sent nothing for so long gives way to a new one when all places are taken.
  std::chrono::milliseconds patience = std::chrono::minutes(1);
  std::string trace;  // file; further connections get a number into its name
  std::function<void(std::string_view)> log = [](std::string_view) {};
  std::function<void(const FidelityReport&)> reported = [](const FidelityReport&) {};  // after each connection
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
  void stop();  // from any thread; connections are ended at the message they are in

  FidelityReport report();
  uint64_t finished() const { return finished_.load(); }      // connections that have ended
  uint64_t memory_hash() const { return last_hash_.load(); }  // of the connection that ended last and had a device

 private:
  // A machine with its trace.
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
    std::mutex guard;         // of what follows
    int socket = -1;          // -1: closed
    bool has_device = false;  // it sent more than words of greeting
    bool dropped = false;
  };

  explicit Server(ServerOptions options) : options_(std::move(options)), budget_(kMaxPages) {}

  void accept_one();
  void serve(Connection& connection);
  // The oldest connection that has no device, else the one that has been silent longest, if that is long; false: there
  // is none.
  bool drop_idle();
  void drop(Connection& connection, std::string_view why);
  Result<void> make(World& world);
  void end(World& world, const std::string& who);
  void join_finished(bool all);
  std::string trace_name();

  ServerOptions options_;
  trace::PageBudget budget_;
  int listener_ = -1;
  int stop_read_ = -1;
  int stop_write_ = -1;
  uint16_t port_ = 0;
  std::list<Connection> connections_;  // of the thread that runs run()
  uint64_t accepted_ = 0;
  std::atomic<uint64_t> finished_{0};
  std::atomic<uint64_t> last_hash_{0};

  std::mutex guard_;  // of what follows
  World shared_;
  std::mutex shared_guard_;
  unsigned traces_ = 0;
  FidelityReport report_;
};

}  // namespace halogen::tbx
