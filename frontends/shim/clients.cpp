#include "clients.h"

#include <linux/capability.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <fstream>
#include <new>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/own_thread.h"
#include "descriptors.h"
#include "door.h"
#include "serve_call.h"

namespace halogen::shim {
namespace {

// Returns whether a socket may be a channel: one of a pair without names. An open node is not one, because the owner
// would take the events of the program.
bool is_channel(int socket) {
  sockaddr_un peer{};
  socklen_t peer_length = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0) return false;
  if (peer_length != sizeof peer.sun_family) return false;
  int family = 0, type = 0;
  socklen_t length = sizeof family;
  if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0 || family != AF_UNIX) return false;
  length = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

// Channels may use a quarter of the descriptors that this process can have, and objects of clients another.
size_t quarter_of_descriptors(size_t at_most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::min<size_t>(at_most, 64);
  return std::min<size_t>(at_most, limit.rlim_max / 4);
}

// Descriptors in messages that a client does not read count against this user's limit.
bool reads_answers(int channel) {
  constexpr int kMaxUnread = 16384;  // in the host's unit; a message of a few bytes takes less than a thousand
  int unread = 0;
  return ioctl(channel, SIOCOUTQ, &unread) == 0 && unread <= kMaxUnread;
}

bool refuse(int channel, int error) {
  const HelloAnswer answer{.result = error, .version = kProtocolVersion};
  return send_message(channel, &answer, sizeof answer, {}, Wait::never);
}

}  // namespace

// ---- identity

ClientProcess::ClientProcess(const Sender& sender, std::shared_ptr<driver::DescriptorAccount> descriptors)
    : sender_(sender), descriptors_(std::move(descriptors)) {
  if (sender.process > 0) {
    pidfd_ = driver::keep_private(static_cast<int>(syscall(SYS_pidfd_open, sender.process, 0)));
  }
}

ClientProcess::~ClientProcess() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool ClientProcess::is_alive() const {
  pollfd end{.fd = pidfd_, .events = POLLIN, .revents = 0};
  return pidfd_ >= 0 && poll(&end, 1, 0) == 0;
}

namespace {

// Any user has all rights inside a user namespace that it creates. Such rights have no effect outside the namespace.
bool is_in_our_user_namespace(pid_t process) {
  struct stat ours {};
  struct stat theirs {};
  const std::string path = "/proc/" + std::to_string(process) + "/ns/user";
  return stat("/proc/self/ns/user", &ours) == 0 && stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

}  // namespace

// Reads the rights of the process, then checks that it is alive: otherwise the text may describe another process with a
// reused id. All its user ids must equal the id that sent the message, so that a set-user-ID program does not count.
bool ClientProcess::has_rights() const {
  if (pidfd_ < 0) return false;
  std::ifstream status("/proc/" + std::to_string(sender_.process) + "/status");
  bool same_user = false;
  uint64_t rights = 0;
  for (std::string word; status >> word;) {
    if (word == "Uid:") {
      uid_t real = 0, effective = 0, saved = 0;
      status >> real >> effective >> saved;
      same_user = real == sender_.user && effective == sender_.user && saved == sender_.user;
    } else if (word == "CapEff:") {
      status >> std::hex >> rights >> std::dec;
      break;
    }
  }
  return same_user && (rights >> CAP_SYS_ADMIN & 1) != 0 && is_in_our_user_namespace(sender_.process) && is_alive();
}

// ---- channels

namespace {

struct InFlight {
  std::atomic<size_t>& count;
  size_t bytes;
  ~InFlight() { count.fetch_sub(bytes); }
};

}  // namespace

// Holds one of the channels of a process while it exists.
class Clients::Place {
 public:
  Place(Clients& clients, pid_t process) : clients_(clients), process_(process) {}
  ~Place() {
    if (!taken_) return;
    const std::lock_guard lock(clients_.guard_);
    --clients_.channels_;
    const auto found = clients_.channels_of_.find(process_);
    if (--found->second == 0) clients_.channels_of_.erase(found);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool take() {
    static const size_t max = quarter_of_descriptors(kMaxChannels);
    const std::lock_guard lock(clients_.guard_);
    size_t& of_process = clients_.channels_of_[process_];
    if (clients_.channels_ >= max || of_process >= std::min(kMaxChannelsOfProcess, std::max<size_t>(max / 2, 1))) {
      if (of_process == 0) clients_.channels_of_.erase(process_);
      return false;
    }
    ++of_process;
    ++clients_.channels_;
    return taken_ = true;
  }

 private:
  Clients& clients_;
  pid_t process_;
  bool taken_ = false;
};

// A message of a node. The thread that waits for `received` looks at it and closes its descriptors: to close a file can
// take as long as its maker wants.
struct Clients::Offer {
  std::binary_semaphore is_received{0};
  ssize_t bytes = -1;
  Hello hello;
  Descriptors received;
};

void Clients::accept(const std::shared_ptr<Node>& node, const Sender& sender) {
  try {
    auto slot = std::make_unique<Place>(*this, sender.process);
    if (slot->take()) {
      auto offer = std::make_shared<Offer>();
      std::thread([this, offer, node, sender, slot = std::move(slot)]() mutable {
        const OwnThread here;
        pthread_setname_np(pthread_self(), "halogen-client");
        offer->is_received.acquire();
        try {
          take(*offer, node, sender);
        } catch (const std::exception&) {  // out of memory; the client sees that its channel is closed
        }
        offer.reset();  // before the place is free again
      }).detach();
      offer->bytes =
          receive_message(node->peer, &offer->hello, sizeof offer->hello, offer->received, nullptr, Wait::never);
      offer->is_received.release();
      return;
    }
  } catch (const std::exception&) {  // no thread, or no memory for one
  }
  drop_message(node->peer);
}

void Clients::take(Offer& offer, const std::shared_ptr<Node>& node, const Sender& sender) {
  if (offer.bytes != sizeof offer.hello || offer.hello.word != Hello{}.word) return;
  if (offer.received.size() != 1 || !is_channel(offer.received[0])) return;
  if (offer.hello.version != kProtocolVersion) {
    refuse(offer.received[0], -EPROTO);
    return;
  }
  const Descriptor socket(driver::keep_private(offer.received.take(0)));
  if (socket) serve({socket.number(), node, sender});
}

void Clients::serve(const Channel& channel) {
  if (!want_senders(channel.socket)) return;
  ClientProcess client(channel.sender, account_of(channel.sender.process));
  int file = -1;
  const std::unique_ptr<Board> board = Board::create(file);
  HelloAnswer answer{.result = board ? 0 : -ENOMEM, .version = kProtocolVersion};
  const std::span<const int> files(&file, board ? 1 : 0);
  const bool sent = send_message(channel.socket, &answer, sizeof answer, files, Wait::never);
  if (file >= 0) close(file);
  if (!sent || !board) return;
  // The process id has belonged to the process behind the pidfd since before the answer was sent, so a confirmation
  // with this id comes from that process.
  Descriptors none;
  char word = 0;
  Sender from;
  if (receive_message(channel.socket, &word, sizeof word, none, &from, Wait::sleeping) != sizeof word) return;
  if (word != kConfirm || from.process != channel.sender.process || none.size() != 0) return;
  client.note_rights();
  serve_calls(channel, client, *board);
}

Clients::Clients(driver::Driver& driver)
    : driver_(driver),
      all_descriptors_(std::make_shared<driver::DescriptorAccount>(quarter_of_descriptors(kMaxDescriptors))) {}

// Returns the account of a process, which lives as long as its channels and objects.
std::shared_ptr<driver::DescriptorAccount> Clients::account_of(pid_t process) {
  const std::lock_guard lock(guard_);
  std::erase_if(accounts_, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<driver::DescriptorAccount>& place = accounts_[process];
  std::shared_ptr<driver::DescriptorAccount> account = place.lock();
  if (!account) {
    account =
        std::make_shared<driver::DescriptorAccount>(quarter_of_descriptors(kMaxDescriptors) / 2, all_descriptors_);
    place = account;
  }
  return account;
}

// False: the requests in flight are too long.
bool Clients::reserve(size_t bytes) {
  if (bytes <= kSmallBytes) return true;
  if (bytes_in_flight_.fetch_add(bytes) + bytes <= kMaxBytesInFlight) return true;
  bytes_in_flight_.fetch_sub(bytes);
  return false;
}

void Clients::serve_calls(const Channel& channel, const ClientProcess& client, Board& board) {
  Descriptors received;
  std::vector<std::byte> request;
  while (board.next(channel.socket, channel.sender, received)) {
    board.drop_answer();
    const size_t bytes = board.request_bytes();
    ServedCall call;
    if (!reserve(bytes)) {
      call.fail(-ENOMEM, board.answer_area());
    } else {
      const InFlight in_flight{bytes_in_flight_, bytes > kSmallBytes ? bytes : 0};
      try {
        board.copy_request(request);
        if (!call.perform(driver_, *channel.node->file, client, request, received.all(), board.answer_area())) return;
      } catch (const std::bad_alloc&) {
        call.fail(-ENOMEM, board.answer_area());
      }
      if (request.capacity() > kSmallBytes) request = {};
    }
    if (!call.made().empty() && !reads_answers(channel.socket)) return;
    if (!board.reply(channel.socket, call.answer_bytes(), call.made())) return;
    received.close_all();
  }
}

}  // namespace halogen::shim
