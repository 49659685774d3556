// The clients of this process's device: processes that got a node by fork or by descriptor passing. Each channel of a
// client has a thread here, which waits in the driver on the client's behalf. A client may be hostile. It can exhaust
// its own channels, and nothing else.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "board.h"
#include "driver/core/driver.h"
#include "driver/gem/foreign_call.h"
#include "driver/share/descriptor_charge.h"
#include "message.h"

namespace halogen::shim {

struct Node;

// A process with channels. Its identity comes from the host's kernel.
class ClientProcess final : public driver::ForeignCaller {
 public:
  // `descriptors`: the account of the process.
  ClientProcess(const Sender& sender, std::shared_ptr<driver::DescriptorAccount> descriptors);
  ~ClientProcess() override;
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;

  pid_t process() const override { return sender_.process; }
  // Returns whether the process had CAP_SYS_ADMIN when it made the channel and has it now. A process that gained it
  // since does not count, because other processes may use its channel.
  bool may_administrate() const override { return had_rights_ && has_rights(); }
  bool is_gone() const override { return pidfd_ >= 0 && !is_alive(); }
  std::shared_ptr<driver::DescriptorAccount> descriptors() const override { return descriptors_; }
  void note_rights() { had_rights_ = has_rights(); }
  const Sender& sender() const { return sender_; }

 private:
  bool is_alive() const;
  bool has_rights() const;

  Sender sender_;
  std::shared_ptr<driver::DescriptorAccount> descriptors_;
  int pidfd_ = -1;
  bool had_rights_ = false;
};

class Clients {
 public:
  static constexpr size_t kMaxChannelsOfProcess = 128;
  static constexpr size_t kMaxChannels = 512;
  static constexpr size_t kMaxBytesInFlight = size_t{64} << 20;  // of requests above kSmallBytes
  static constexpr size_t kSmallBytes = size_t{64} << 10;
  // Limit of the descriptors of all clients' objects. Their numbers lie above the soft limit, and the table of the host
  // is as long as the highest number.
  static constexpr size_t kMaxDescriptors = 32768;

  explicit Clients(driver::Driver& driver);

  // Receives the next message of the node's socket, and accepts a channel if it offers one. Refuses by an answer, or by
  // closing the channel. Does not wait for anybody.
  void accept(const std::shared_ptr<Node>& node, const Sender& sender);

 private:
  struct Channel {
    int socket = -1;
    std::shared_ptr<Node> node;
    Sender sender;
  };
  struct Offer;
  class Place;  // one of the limited number of channels
  void take(Offer& offer, const std::shared_ptr<Node>& node, const Sender& sender);
  void serve(const Channel& channel);
  void serve_calls(const Channel& channel, const ClientProcess& client, Board& board);
  bool reserve(size_t bytes);
  std::shared_ptr<driver::DescriptorAccount> account_of(pid_t process);

  driver::Driver& driver_;
  std::mutex guard_;  // guards the counts and the accounts
  std::map<pid_t, size_t> channels_of_;
  std::map<pid_t, std::weak_ptr<driver::DescriptorAccount>> accounts_;
  std::shared_ptr<driver::DescriptorAccount> all_descriptors_;
  size_t channels_ = 0;
  std::atomic<size_t> bytes_in_flight_ = 0;
};

}  // namespace halogen::shim
