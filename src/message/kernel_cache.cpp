#include "message/kernel_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "eu/isa/decoder.h"
#include "message/environment.h"

namespace halogen::message {
namespace {

constexpr uint32_t kPage = 4096;
constexpr size_t kInstruction_B = 16;
constexpr size_t kMostPages = 512;  // of one kernel; what lies behind is no instruction

}  // namespace

// Code as it was when it was first looked at, page by page. The memory is asked only while a kernel is prepared or
// runs: whoever runs it asks the cache first, which attaches the space.
class CodePages final : public eu::CodeSource {
 public:
  CodePages(spec::GenId gen, uint64_t base) : gen_(gen), base_(base) {}

  void attach(memory::AddressSpace* space) { space_ = space; }
  bool refused() const { return refused_; }
  void freeze(bool frozen) { frozen_ = frozen; }

  std::optional<eu::Instruction> at(uint32_t offset) const override {
    std::array<std::byte, kInstruction_B> bytes{};
    size_t have = 0;
    while (have < bytes.size()) {
      const uint64_t place = uint64_t{offset} + have;
      const Page* const page = page_of(place / kPage);
      if (page == nullptr) {
        return frozen_ || pages_.size() < kMostPages ? std::nullopt : std::optional<eu::Instruction>(eu::Instruction{});
      }
      const size_t in_page = place % kPage;
      const size_t take = std::min(bytes.size() - have, kPage - in_page);
      std::memcpy(bytes.data() + have, page->data() + in_page, take);
      have += take;
      // A compact instruction may be the last of a page: the next one need not be there.
      const eu::Decoded decoded = eu::decode(gen_, std::span(bytes).first(have));
      if (have == bytes.size() || decoded.fault != eu::DecodeFault::truncated) {
        eu::Instruction instruction = decoded.instruction;
        if (!decoded.ok()) {
          instruction.op = eu::Op::illegal;
        }
        return instruction;
      }
    }
    return std::nullopt;
  }

  // Whether memory still holds what was read.
  bool same(memory::AddressSpace& space) const {
    Page now;
    for (const auto& [number, page] : pages_) {
      if (!space.read(place(base_ + number * kPage), now, true) || now != page) {
        return false;
      }
    }
    return true;
  }

 private:
  using Page = std::array<std::byte, kPage>;

  const Page* page_of(uint64_t number) const {
    if (const auto known = pages_.find(number); known != pages_.end()) {
      return &known->second;
    }
    if (frozen_ || pages_.size() >= kMostPages) {
      return nullptr;
    }
    Page page;
    if (!space_->read(place(base_ + number * kPage), page, true)) {
      refused_ = true;
      return nullptr;
    }
    return &pages_.emplace(number, page).first->second;
  }

  spec::GenId gen_;
  uint64_t base_;
  memory::AddressSpace* space_ = nullptr;
  bool frozen_ = false;
  mutable bool refused_ = false;
  mutable std::map<uint64_t, Page> pages_;
};

void CachedKernel::freeze(bool frozen) {
  code->freeze(frozen);
}

KernelCache::KernelCache() = default;
KernelCache::~KernelCache() = default;

void KernelCache::forget(const std::pair<uint64_t, uint32_t>& key) {
  const auto found = kernels_.find(key);
  found->second.counts->report(gone_);
  instructions_ -= found->second.kernel->instruction_count();
  kernels_.erase(found);
}

CachedKernel& KernelCache::find(const eu::Executor& executor, spec::GenId gen, memory::AddressSpace& space,
                                uint64_t base, uint32_t entry, bool fresh) {
  const std::pair key{base, entry};
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) {
    known->second.code->attach(&space);
    if (!fresh || (!known->second.code->refused() && known->second.code->same(space))) {
      return known->second;
    }
    forget(key);
  }
  while (kernels_.size() >= kMostKernels || instructions_ > kMostInstructions) {
    forget(kernels_.begin()->first);
  }
  CachedKernel made;
  made.code = std::make_shared<CodePages>(gen, base);
  made.code->attach(&space);
  made.kernel = executor.prepare(made.code, entry);
  made.counts = executor.make_counts(*made.kernel);
  instructions_ += made.kernel->instruction_count();
  return kernels_.emplace(key, std::move(made)).first->second;
}

CachedKernel* KernelCache::known(uint64_t base, uint32_t entry) {
  const auto known = kernels_.find({base, entry});
  return known != kernels_.end() ? &known->second : nullptr;
}

void KernelCache::report(FidelityReport& report) const {
  report.merge(gone_);
  for (const auto& [place, kernel] : kernels_) {
    kernel.counts->report(report);
  }
}

}  // namespace halogen::message
