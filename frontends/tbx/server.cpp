#include "tbx/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tbx/channel.h"
#include "tbx/session.h"

namespace halogen::tbx {
namespace {

constexpr int kBacklog = 64;

Error system_error(std::string_view what) {
  return Error{fmt::format("{}: {}.", what, std::strerror(errno))};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) {
  std::unique_ptr<Server> server(new Server(std::move(options)));
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return system_error("cannot create a pipe");
  server->stop_read_ = pipe[0];
  server->stop_write_ = pipe[1];
  server->listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server->listener_ < 0) return system_error("cannot create a socket");
  const int yes = 1;
  ::setsockopt(server->listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server->options_.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // local connections only
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(server->listener_, raw, length) != 0 || ::listen(server->listener_, kBacklog) != 0 ||
      ::getsockname(server->listener_, raw, &length) != 0) {
    return system_error(fmt::format("cannot listen on 127.0.0.1:{}", server->options_.port));
  }
  server->port_ = ntohs(address.sin_port);
  if (server->options_.shared) {
    if (const auto made = server->make(server->shared_); !made) return made.error();
  }
  return server;
}

Server::~Server() {
  stop();
  join_finished(true);
  for (const int descriptor : {listener_, stop_read_, stop_write_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void Server::stop() {
  stopping_.raise();
  const char byte = 0;
  static_cast<void>(!::write(stop_write_, &byte, 1));  // a full pipe has the same effect
}

void Server::run() {
  for (;;) {
    std::array<pollfd, 2> both{pollfd{listener_, POLLIN, 0}, pollfd{stop_read_, POLLIN, 0}};
    if (::poll(both.data(), both.size(), -1) < 0 && errno != EINTR) break;
    if (both[1].revents != 0) break;
    if (both[0].revents != 0) accept_one();
    join_finished(false);
  }
  join_finished(true);
  if (options_.shared) end(shared_, "shared device");
}

void Server::accept_one() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) {
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return;
  }
  const uint64_t number = ++accepted_;
  join_finished(false);
  const auto open = std::ranges::count_if(connections_, [](const Connection& each) { return !each.dropped; });
  if (static_cast<size_t>(open) >= kMaxConnections && !drop_idle()) {
    options_.log(fmt::format("connection {}: refused; {} are open", number, open));
    ::close(socket);
    return;
  }
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Connection& connection = connections_.emplace_back();
  connection.number = number;
  connection.socket = socket;
  try {
    connection.thread = std::thread([this, &connection] {
      serve(connection);
      ++finished_;
      connection.done = true;
    });
  } catch (const std::system_error& error) {  // the host cannot create a thread: other connections continue
    options_.log(fmt::format("connection {}: refused, cannot create a thread: {}", number, error.what()));
    ::close(socket);
    connections_.pop_back();
  }
}

void Server::drop(Connection& connection, std::string_view why) {
  options_.log(fmt::format("connection {}: dropped for a new connection: {}", connection.number, why));
  ::shutdown(connection.socket, SHUT_RDWR);
  connection.dropped = true;
}

// Drops a connection that is not used, so that clients that leave connections open do not block others.
bool Server::drop_idle() {
  const auto now = Waiting::Clock::now();
  Connection* silent = nullptr;
  for (Connection& each : connections_) {
    const std::lock_guard lock(each.guard);
    if (each.socket < 0 || each.dropped) continue;
    if (!each.has_device) {
      drop(each, "it was never used");
      return true;
    }
    const bool waits = each.waiting.any() && each.waiting.time(now) >= options_.silence_limit;
    if (waits && (silent == nullptr || each.waiting.time(now) > silent->waiting.time(now))) silent = &each;
  }
  if (silent == nullptr) return false;
  const std::lock_guard lock(silent->guard);
  if (silent->socket >= 0) drop(*silent, "its peer was silent for too long");
  return true;
}

void Server::join_finished(bool all) {
  for (auto each = connections_.begin(); each != connections_.end();) {
    if (!all && !each->done) {
      ++each;
      continue;
    }
    each->thread.join();
    each = connections_.erase(each);
  }
}

void Server::serve(Connection& connection) {
  SocketChannel channel(connection.socket, stop_read_, &connection.waiting);
  const std::string who = fmt::format("connection {}", connection.number);
  World own;
  std::mutex own_guard;
  const auto simulator = [&]() -> Result<trace::Simulator*> {
    {
      const std::lock_guard lock(connection.guard);
      connection.has_device = true;
    }
    if (options_.shared) return shared_.simulator.get();
    if (own.simulator == nullptr) {
      if (const auto made = make(own); !made) return made.error();
    }
    return own.simulator.get();
  };
  Session session({channel, simulator, options_.shared ? shared_guard_ : own_guard,
                   [&](std::string_view what) { options_.log(fmt::format("{}: {}", who, what)); }});
  session.run();
  {
    const std::lock_guard lock(connection.guard);
    connection.socket = -1;  // the channel closes it
  }
  if (own.simulator != nullptr) end(own, fmt::format("{}, {} messages", who, session.messages()));
}

Result<void> Server::make(World& world) {
  auto simulator = trace::Simulator::create(*options_.model,
                                            {.budget = &budget_, .executor = options_.executor, .stop = &stopping_});
  if (!simulator) return simulator.error();
  world.simulator = std::move(simulator).value();
  if (options_.trace.empty()) return {};
  auto sink = trace::create_file(trace_name());
  if (!sink) return sink.error();
  world.sink = std::move(sink).value();
  world.writer = std::make_unique<trace::aub::Writer>(*world.sink);
  world.simulator->record_to(world.writer.get(), "halogen serve");
  return {};
}

// Returns the name of the next trace: the given one first, then "a-2.aub" for "a.aub".
std::string Server::trace_name() {
  const std::lock_guard lock(guard_);
  const std::filesystem::path name = options_.trace;
  if (++traces_ == 1) return options_.trace;
  const std::string file = fmt::format("{}-{}{}", name.stem().string(), traces_, name.extension().string());
  return (name.parent_path() / file).string();
}

void Server::end(World& world, const std::string& who) {
  if (world.writer != nullptr) {
    if (const auto done = world.writer->finish(); !done) options_.log(fmt::format("{}: {}", who, done.message()));
  }
  const FidelityReport report = world.simulator->device().fidelity();
  const uint64_t hash = world.simulator->memory_hash();
  std::string missing;
  for (const auto& [key, entry] : report.entries()) {
    if (key.first == FidelityKind::command && entry.fidelity == FidelityClass::unsupported) {
      missing += fmt::format("{}{} x{}", missing.empty() ? "" : ", ", key.second, entry.count);
    }
  }
  options_.log(
      fmt::format("{}: ended, memory={:#018x}{}{}", who, hash, missing.empty() ? "" : ", not executed: ", missing));
  last_hash_ = hash;
  const std::lock_guard lock(guard_);
  report_.merge(report);
  options_.reported(report_);
}

FidelityReport Server::report() {
  const std::lock_guard lock(guard_);
  return report_;
}

}  // namespace halogen::tbx
