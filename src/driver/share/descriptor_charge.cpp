#include "driver/share/descriptor_charge.h"

#include <cerrno>
#include <system_error>

#include "driver/gem/foreign_call.h"

namespace halogen::driver {

bool DescriptorAccount::take() {
  if (all_ && !all_->take()) return false;
  if (used_.fetch_add(1) < limit_) return true;
  give();
  return false;
}

void DescriptorAccount::give() {
  used_.fetch_sub(1);
  if (all_) all_->give();
}

DescriptorCharge DescriptorCharge::for_this_call() {
  DescriptorCharge charge;
  const ForeignCall* const call = ForeignCall::current();
  std::shared_ptr<DescriptorAccount> account = call != nullptr ? call->caller().descriptors() : nullptr;
  if (account && !account->take()) throw std::system_error(EMFILE, std::generic_category());
  charge.account_ = std::move(account);
  return charge;
}

}  // namespace halogen::driver
