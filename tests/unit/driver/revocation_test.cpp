// Memory that a program takes away while a batch still uses its address. The batch does not list the buffer, so the
// driver does not wait for it, and the engine has cached the translation.
#include <atomic>
#include <optional>
#include <thread>

#include "door.h"
#include "driver/gem/lent_memory.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kBytes = 64 * 4096;
constexpr uint64_t kPlace = 0x1000'0000;
constexpr uint32_t kMark = 0x5ec2'e700;

// Unmaps memory as a front end does, from the first notice to the last.
class Unmapping {
 public:
  Unmapping(Driver& driver, std::byte* place, uint64_t bytes)
      : driver_(driver), range_{{reinterpret_cast<uintptr_t>(place), bytes}}, lent_(Driver::begin_leaving(range_)) {
    kept_ = driver_.forget_memory(range_.address, range_.bytes);
  }
  ~Unmapping() {
    driver_.release(std::move(kept_));
    if (lent_) driver_.end_leaving(range_);
  }
  Unmapping(const Unmapping&) = delete;
  Unmapping& operator=(const Unmapping&) = delete;

 private:
  Driver& driver_;
  LentMemory::Leaving range_;
  bool lent_;
  std::vector<BufferRef> kept_;
};

class Revoked : public Door {
 protected:
  static std::byte* memory(int protection = PROT_READ | PROT_WRITE, std::byte* at = nullptr) {
    void* const place =
        mmap(at, kBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, 0);
    EXPECT_NE(place, MAP_FAILED);
    return static_cast<std::byte*>(place);
  }
  uint32_t lend(std::byte* place) {
    drm_i915_gem_userptr user{};
    user.user_ptr = reinterpret_cast<uintptr_t>(place);
    user.user_size = kBytes;
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_USERPTR, user), 0);
    return user.handle;
  }
  // Binds a buffer in the context's space. Returns its address there.
  uint64_t bind(uint32_t handle) {
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = handle;
    objects[1].handle = make_empty();
    if (!driver->shared_space()) {
      objects[0].offset = kPlace;
      objects[0].flags = EXEC_OBJECT_PINNED;
    }
    EXPECT_EQ(execute(objects), 0);
    EXPECT_EQ(wait(objects[1].handle), 0);
    return objects[0].offset;
  }
  // Starts a batch that stores the mark at an address, and starts itself again, until it counts as hung.
  uint32_t store_forever(uint64_t address) {
    const uint32_t batch = create(4096);
    std::vector<drm_i915_gem_exec_object2> objects(1);
    drm_i915_gem_relocation_entry relocation{};
    objects[0].handle = batch;
    const auto low = static_cast<uint32_t>(address);
    if (driver->shared_space()) {
      // XY_COLOR_BLT of one pixel, or MI_STORE_DATA_IMM; then MI_BATCH_BUFFER_START.
      const bool first = model().gen < spec::GenId::gen6;
      const std::vector<uint32_t> blit = {0x5430'0004, 0x03f0'0040, 0, 0x1'0001, low, kMark, 0x1880'0180, 0};
      fill(batch, first ? blit : std::vector<uint32_t>{0x1000'0002, 0, low, kMark, 0x1880'0180, 0});
      relocation.target_handle = batch;
      relocation.offset = first ? 28 : 20;
      relocation.presumed_offset = ~uint64_t{0};
      objects[0].relocation_count = 1;
      objects[0].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    } else {
      constexpr uint32_t kBatch = 0x2000'0000;
      fill(batch, {0x1000'0002, low, static_cast<uint32_t>(address >> 32), kMark, 0x1880'0101, kBatch, 0});
      objects[0].offset = kBatch;
      objects[0].flags = EXEC_OBJECT_PINNED;
    }
    EXPECT_EQ(execute(objects), 0);
    return batch;
  }
  static uint32_t word(const std::byte* at) {
    uint32_t value = 0;
    std::memcpy(&value, at, 4);
    return value;
  }
  static void wait_for_mark(const std::byte* at) {
    for (int i = 0; i < 2000 && __atomic_load_n(reinterpret_cast<const uint32_t*>(at), __ATOMIC_RELAXED) != kMark;
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(word(at), kMark);
  }
};

std::vector<std::string> chips_that_lend() {
  std::vector<std::string> all;
  for (const std::string& name : all_chips()) {
    const spec::InterfaceModel& chip = spec::interface_of(spec::find_device(name)->id);
    if (chip.llc || chip.snoop) all.push_back(name);
  }
  return all;
}

class RevokedLent : public Revoked {};

TEST_P(RevokedLent, UnmappedMemoryIsNotReached) {
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  const uint32_t batch = store_forever(bind(lent));
  wait_for_mark(place);
  {
    const Unmapping unmapping(*driver, place, kBytes);
    memory(PROT_NONE, place);  // a late store ends the test
  }
  wait(batch);  // until the batch is removed as hung
  EXPECT_EQ(mprotect(place, kBytes, PROT_READ), 0);
  EXPECT_EQ(word(place), 0u);
  EXPECT_EQ(munmap(place, kBytes), 0);
}

TEST_P(RevokedLent, ClosedObjectIsNotReached) {
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  const uint32_t batch = store_forever(bind(lent));
  wait_for_mark(place);
  EXPECT_EQ(close(lent), 0);
  EXPECT_EQ(mprotect(place, kBytes, PROT_NONE), 0);
  wait(batch);
  EXPECT_EQ(munmap(place, kBytes), 0);
}

// A call that needs the memory waits while another thread unmaps it, and then finds it gone.
TEST_P(RevokedLent, LeavingMemoryIsNotLentAgain) {
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  bind(lent);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = lent;
  objects[1].handle = make_empty();
  std::atomic<bool> done = false;
  std::optional<int> result;
  std::thread other;
  {
    const Unmapping unmapping(*driver, place, kBytes);
    other = std::thread([&] {
      result = execute(objects);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(done);
    EXPECT_EQ(munmap(place, kBytes), 0);
  }
  other.join();
  EXPECT_EQ(*result, -EFAULT);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedLent, ::testing::ValuesIn(chips_that_lend()), chip_name);

class RevokedPages : public Revoked {};

// The pages of a closed buffer get another owner.
TEST_P(RevokedPages, PagesOfAClosedBufferAreNotReached) {
  const uint32_t own = create(kBytes);
  const uint64_t address = bind(own);
  const uint64_t pages = file->buffers.find(own)->run().address;
  const uint32_t batch = store_forever(address);
  wait_for_mark(content(own).data());
  const std::shared_ptr<File> other = driver->open();
  const std::weak_ptr<Buffer> weak = file->buffers.find(own);
  EXPECT_EQ(close(own), 0);
  EXPECT_TRUE(weak.expired()) << "only the batch uses its pages";
  std::vector<BufferRef> theirs;
  for (unsigned i = 0; i < 100 && (theirs.empty() || theirs.back()->run().address != pages); ++i) {
    drm_i915_gem_create create{.size = kBytes, .handle = 0, .pad = 0};
    ASSERT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_CREATE, create), 0);
    theirs.push_back(other->buffers.find(create.handle));
    driver->with_lock([&] { ASSERT_TRUE(theirs.back()->need_pages()); });
  }
  ASSERT_EQ(theirs.back()->run().address, pages) << "the allocator must reuse the pages";
  wait(batch);
  EXPECT_EQ(word(theirs.back()->bytes().data()), 0u);
  driver->with_lock([&] { theirs.clear(); });
  driver->close(other);
}

// Export moves the content to a file of its own, which is mapped over the old pages.
TEST_P(RevokedPages, ExportedBufferKeepsWhatTheBatchStores) {
  const uint32_t own = create(kBytes);
  const uint32_t batch = store_forever(bind(own));
  wait_for_mark(content(own).data());
  drm_prime_handle prime{.handle = own, .flags = DRM_RDWR, .fd = -1};
  ASSERT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime), 0);
  void* const place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
  ASSERT_NE(place, MAP_FAILED);
  std::memset(place, 0, 4096);
  wait_for_mark(static_cast<std::byte*>(place));
  wait(batch);
  EXPECT_EQ(munmap(place, kBytes), 0);
  EXPECT_EQ(::close(prime.fd), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedPages, ::testing::ValuesIn(all_chips()), chip_name);

class RevokedWhileRelocating : public Revoked {
 protected:
  static constexpr uint64_t kOffset = 0x2'0000;  // of the relocation

  // Submits an empty batch with a relocation in another buffer.
  int relocate(uint32_t handle, uint32_t batch) {
    std::vector<drm_i915_gem_exec_object2> objects(2);
    drm_i915_gem_relocation_entry relocation{};
    relocation.target_handle = handle;
    relocation.offset = kOffset;
    relocation.presumed_offset = ~uint64_t{0};
    relocation.delta = 0x44;
    objects[0].handle = handle;
    objects[0].relocation_count = 1;
    objects[0].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    objects[1].handle = batch;
    return execute(objects);
  }
  // The machine's memory at the offset, where the value must never be.
  const std::byte* beside() { return driver->gpu().hardware().host().at(kOffset, 8).data(); }
};

// The call waits for work on the buffer; meanwhile another call finds the memory gone and drops the buffer's pages.
TEST_P(RevokedWhileRelocating, PagesThatWentDuringTheWaitAreNotWritten) {
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  drm_i915_gem_relocation_entry relocation{};
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = lent;
  objects[1] = make_endless(relocation);
  ASSERT_EQ(execute(objects), 0);
  int result = 0;
  std::thread other([&, batch = make_empty()] { result = relocate(lent, batch); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(munmap(place, kBytes), 0);
  objects[1] = {};
  objects[1].handle = make_empty();
  EXPECT_EQ(execute(objects), -EFAULT);
  other.join();  // the endless batch has been removed
  EXPECT_EQ(result, -EFAULT);
  EXPECT_EQ(word(beside()), 0u);
}

// One thread submits a batch whose relocation lies in lent memory. Another unmaps and maps the memory anew.
TEST_P(RevokedWhileRelocating, NothingElseIsWritten) {
  constexpr unsigned kRounds = 300;
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  const uint32_t batch = make_empty();
  std::atomic<bool> stop = false;
  std::thread other([&] {
    for (unsigned i = 0; i < kRounds && !stop; ++i) {
      const Unmapping unmapping(*driver, place, kBytes);
      EXPECT_EQ(munmap(place, kBytes), 0);
      if (i % 4 == 3) std::this_thread::yield();
      memory(PROT_READ | PROT_WRITE, place);
    }
    stop = true;
  });
  unsigned good = 0;
  while (!stop) {
    const int result = relocate(lent, batch);
    EXPECT_TRUE(result == 0 || result == -EFAULT) << result;
    good += result == 0 ? 1 : 0;
  }
  other.join();
  EXPECT_NE(good, 0u);
  EXPECT_EQ(word(beside()), 0u);
  EXPECT_EQ(munmap(place, kBytes), 0);
}

// The program unmaps without a notice, as by the system call itself.
TEST_P(RevokedWhileRelocating, MemoryThatWentWithoutNoticeIsAnError) {
  std::byte* const place = memory();
  const uint32_t lent = lend(place);
  bind(lent);
  const BufferRef buffer = file->buffers.find(lent);
  EXPECT_EQ(munmap(place, kBytes), 0);
  const uint64_t value = 7;
  driver->with_lock([&] {
    EXPECT_TRUE(buffer->has_pages());
    EXPECT_FALSE(buffer->write(8, std::as_bytes(std::span(&value, 1))));
    EXPECT_FALSE(buffer->write(kBytes - 4, std::as_bytes(std::span(&value, 1)))) << "beyond its end";
  });
}

std::vector<std::string> chips_that_relocate() {
  std::vector<std::string> all;
  for (const std::string& name : chips_that_lend()) {
    if (spec::interface_of(spec::find_device(name)->id).processor_copies) all.push_back(name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedWhileRelocating, ::testing::ValuesIn(chips_that_relocate()), chip_name);

}  // namespace
}  // namespace halogen::driver
