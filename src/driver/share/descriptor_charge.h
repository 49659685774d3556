// Bounds the descriptors that this process holds for objects of its clients: shared sync objects and buffers, sync
// files, files of buffers that clients map. Each counts for the client whose call made it, as long as it is open.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace halogen::driver {

// The descriptors of one client, or of all. Any thread may use it.
class DescriptorAccount {
 public:
  // `all`: an account that counts them too; may be null.
  explicit DescriptorAccount(size_t limit, std::shared_ptr<DescriptorAccount> all = nullptr)
      : limit_(limit), all_(std::move(all)) {}

  // False: there are too many.
  bool take();
  void give();
  size_t used() const { return used_.load(); }

 private:
  size_t limit_;
  std::shared_ptr<DescriptorAccount> all_;
  std::atomic<size_t> used_{0};
};

// One descriptor on an account, until the end of its life.
class DescriptorCharge {
 public:
  DescriptorCharge() = default;  // none
  // Charges the client whose call this thread performs. Without one (the calling program is this process) it charges no
  // account. Throws EMFILE as a std::system_error.
  static DescriptorCharge for_this_call();
  DescriptorCharge(DescriptorCharge&& other) noexcept = default;
  DescriptorCharge& operator=(DescriptorCharge&& other) noexcept {
    std::swap(account_, other.account_);
    return *this;
  }
  ~DescriptorCharge() {
    if (account_) account_->give();
  }

 private:
  std::shared_ptr<DescriptorAccount> account_;
};

}  // namespace halogen::driver
