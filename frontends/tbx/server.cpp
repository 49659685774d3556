#include "tbx/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

// Returns whether the file is a socket that an ended server left.
bool is_stale(const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(address.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const int done = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const bool refused = done != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) {
  std::unique_ptr<Server> server(new Server(std::move(options)));
  auto users = PeerUsers::open();
  if (users) {
    server->users_.emplace(std::move(users).value());
  } else if (!server->options_.any_user && server->options_.path.empty()) {
    return users.error();
  }
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return system_error("cannot create a pipe");
  server->stop_read_ = pipe[0];
  server->stop_write_ = pipe[1];
  const auto bound = server->options_.path.empty() ? server->bind_port() : server->bind_path();
  if (!bound) return bound.error();
  if (server->options_.shared) {
    if (const auto made = server->make(server->shared_); !made) return made.error();
  }
  return server;
}

Result<void> Server::bind_port() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return system_error("cannot create a socket");
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options_.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // local connections only
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, raw, length) != 0 || ::listen(listener_, kBacklog) != 0 ||
      ::getsockname(listener_, raw, &length) != 0) {
    return system_error(fmt::format("cannot listen on 127.0.0.1:{}", options_.port));
  }
  port_ = ntohs(address.sin_port);
  return {};
}

Result<void> Server::bind_path() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (options_.path.size() >= sizeof address.sun_path) {
    return Error{fmt::format("{}: longer than {} bytes, the maximum for a socket path.", options_.path,
                             sizeof address.sun_path - 1)};
  }
  options_.path.copy(address.sun_path, options_.path.size());
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (is_stale(address)) ::unlink(address.sun_path);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return system_error("cannot create a socket");
  // The file gets the socket's mode when it is created, so there is no moment at which it is open to others.
  if (::fchmod(listener_, 0600) != 0 || ::bind(listener_, raw, sizeof address) != 0 ||
      ::listen(listener_, kBacklog) != 0) {
    return system_error(fmt::format("cannot listen on unix:{}", options_.path));
  }
  return {};
}

std::string Server::place() const {
  return options_.path.empty() ? fmt::format("127.0.0.1:{}", port_) : "unix:" + options_.path;
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
  log_.finish();
}

std::string Server::refusal(int socket, bool& foreign) {
  const auto user = users_ ? users_->of(socket) : std::nullopt;
  foreign = user != ::geteuid();
  if (foreign && !options_.any_user) {
    if (!user) return "the peer's user is not known";
    return fmt::format("the peer runs as user {}; only user {} is served; use --any-user to serve all users", *user,
                       ::geteuid());
  }
  const auto others =
      std::ranges::count_if(connections_, [](const Connection& each) { return each.foreign && !each.dropped; });
  if (foreign && static_cast<size_t>(others) >= kMaxForeign) {
    return fmt::format("{} connections of other users are open, the maximum", others);
  }
  const auto open = std::ranges::count_if(connections_, [](const Connection& each) { return !each.dropped; });
  if (static_cast<size_t>(open) >= kMaxConnections && !drop_idle(foreign)) {
    return fmt::format("{} connections are open, the maximum", open);
  }
  return {};
}

void Server::accept_one() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) {
    pollfd stop{stop_read_, POLLIN, 0};
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) ::poll(&stop, 1, 100);
    return;
  }
  const uint64_t number = ++accepted_;
  join_finished(false);
  bool foreign = false;
  if (const std::string why = refusal(socket, foreign); !why.empty()) {
    log_.write(fmt::format("connection {}: refused; {}", number, why));
    ::close(socket);
    return;
  }
  const int yes = 1;
  if (options_.path.empty()) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Connection& connection = connections_.emplace_back();
  connection.number = number;
  connection.foreign = foreign;
  connection.socket = socket;
  try {
    connection.thread = std::thread([this, &connection] {
      serve_guarded(connection);
      ++finished_;
      connection.done = true;
    });
  } catch (const std::system_error& error) {  // the host cannot create a thread; other connections continue
    log_.write(fmt::format("connection {}: refused; cannot create a thread: {}", number, error.what()));
    ::close(socket);
    connections_.pop_back();
  }
}

// Ends a connection that exhausts the host; others continue.
void Server::serve_guarded(Connection& connection) {
  try {
    serve(connection);
  } catch (const std::exception& error) {
    log_.write(fmt::format("connection {}: ended; {}", connection.number, error.what()));
    const std::lock_guard lock(connection.guard);
    if (connection.socket >= 0) ::close(connection.socket);  // the channel did not exist
    connection.socket = -1;
  }
}

void Server::drop(Connection& connection, std::string_view why) {
  log_.write(fmt::format("connection {}: dropped to make room for a new connection: {}", connection.number, why));
  ::shutdown(connection.socket, SHUT_RDWR);
  connection.dropped = true;
}

// Drops a connection that is not used, so that clients that leave connections open do not block others.
bool Server::drop_idle(bool foreign) {
  const auto now = Waiting::Clock::now();
  Connection* silent = nullptr;
  for (Connection& each : connections_) {
    const std::lock_guard lock(each.guard);
    if (each.socket < 0 || each.dropped || (foreign && !each.foreign)) continue;
    if (!each.has_device) {
      drop(each, "never used");
      return true;
    }
    const bool waits = each.waiting.any() && each.waiting.time(now) >= options_.silence_limit;
    if (waits && (silent == nullptr || each.waiting.time(now) > silent->waiting.time(now))) silent = &each;
  }
  if (silent == nullptr) return false;
  const std::lock_guard lock(silent->guard);
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(options_.silence_limit);
  if (silent->socket >= 0) drop(*silent, fmt::format("no message for {} s", limit.count()));
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
  // The channel closes the socket. Before that, other threads must stop using its number.
  struct Closing {
    Connection& connection;
    ~Closing() {
      const std::lock_guard lock(connection.guard);
      connection.socket = -1;
    }
  };
  SocketChannel channel(connection.socket, stop_read_, &connection.waiting, options_.limits);
  const Closing closing{connection};
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
                   [&](std::string_view what) { log_.write(fmt::format("{}: {}", who, what)); }, &connection.waiting});
  session.run();
  if (own.simulator != nullptr) end(own, fmt::format("{}, {} messages", who, session.messages()));
}

Result<void> Server::make(World& world) {
  // One connection cannot use up the memory of all.
  const uint64_t pages = options_.shared ? options_.pages : options_.pages / 2;
  world.budget = std::make_unique<trace::PageBudget>(pages, &budget_);
  auto simulator = trace::Simulator::create(
      *options_.model, {.budget = world.budget.get(), .executor = options_.executor, .stop = &stopping_});
  if (!simulator) return simulator.error();
  world.simulator = std::move(simulator).value();
  if (options_.trace.empty()) return {};
  auto sink = create_trace();
  if (!sink) return sink.error();
  world.sink = std::move(sink).value();
  world.writer = std::make_unique<trace::aub::Writer>(*world.sink);
  world.simulator->record_to(world.writer.get(), "halogen serve");
  return {};
}

// Creates the next trace: under the given name first, then under "a-2.aub" for "a.aub". Only the given name may belong
// to a file: other names that exist are left out.
Result<std::unique_ptr<trace::ByteSink>> Server::create_trace() {
  constexpr unsigned kMaxTaken = 10'000;
  const std::lock_guard lock(guard_);
  const std::filesystem::path name = options_.trace;
  if (++traces_ == 1) return trace::create_file(name);
  for (unsigned taken = 0;; ++taken) {
    const std::string file = fmt::format("{}-{}{}", name.stem().string(), traces_, name.extension().string());
    auto sink = trace::create_new_file(name.parent_path() / file);
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(name.parent_path() / file, ignored);
    if (sink || taken == kMaxTaken || !std::filesystem::exists(status)) return sink;
    ++traces_;
  }
}

void Server::end(World& world, const std::string& who) {
  if (world.writer != nullptr) {
    if (const auto done = world.writer->finish(); !done) log_.write(fmt::format("{}: {}", who, done.message()));
  }
  const FidelityReport report = world.simulator->device().fidelity();
  const uint64_t hash = world.simulator->memory_hash();
  std::string missing;
  for (const auto& [key, entry] : report.entries()) {
    if (key.first == FidelityKind::command && entry.fidelity == FidelityClass::unsupported) {
      missing += fmt::format("{}{} x{}", missing.empty() ? "" : ", ", key.second, entry.count);
    }
  }
  log_.write(
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
