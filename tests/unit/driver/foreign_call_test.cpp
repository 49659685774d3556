// Calls of other processes: the driver sees copies of their memory and the descriptors that they pass, and nothing
// else. The addresses in these calls are those of this process, so that a driver that followed one would show.
#include "driver/gem/foreign_call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "driver/share/descriptor_charge.h"
#include "screen_door.h"
#include "sync_door.h"

namespace halogen::driver {
namespace {

class OtherProcess final : public ForeignCaller {
 public:
  pid_t process() const override { return 4711; }
  bool may_administrate() const override { return false; }
};

class Foreign : public SyncDoor {
 protected:
  // Copies of memory that go with a call.
  struct Memory {
    std::vector<std::vector<std::byte>> copies;
    std::vector<ForeignCall::Piece> pieces;
    template <class T>
    void add(const T& value) {
      add(&value, sizeof value);
    }
    void add(const void* from, size_t bytes) {
      const auto* const start = static_cast<const std::byte*>(from);
      copies.emplace_back(start, start + bytes);
      pieces.push_back({reinterpret_cast<uintptr_t>(from), copies.back()});
    }
  };
  template <class T>
  int ask(const ForeignCall&, unsigned long request, const T& argument) {
    return driver->ioctl(*file, request, reinterpret_cast<uintptr_t>(&argument));
  }
  // Applies the writes of a call to the value at that address.
  template <class T>
  static T written(const ForeignCall& foreign, const T& there) {
    T value = there;
    for (const auto& [place, start] : foreign.writes()) {
      const uint64_t offset = place.address - reinterpret_cast<uintptr_t>(&there);
      if (offset >= sizeof value || place.bytes > sizeof value - offset) continue;
      std::memcpy(reinterpret_cast<char*>(&value) + offset, foreign.written_bytes().data() + start, place.bytes);
    }
    return value;
  }
  OtherProcess other;
};

TEST_P(Foreign, MemoryThatDidNotComeIsNeitherReadNorWritten) {
  const drm_i915_gem_create create{.size = 4096, .handle = 77, .pad = 0};
  const uint64_t address = reinterpret_cast<uintptr_t>(&create);
  ForeignCall foreign(other, address, {}, {});
  EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_CREATE, create), -EFAULT);
  ASSERT_EQ(foreign.missing().size(), 1u);
  EXPECT_EQ(foreign.missing()[0].address, address);
  EXPECT_EQ(foreign.missing()[0].bytes, sizeof create);
  EXPECT_TRUE(foreign.writes().empty());
  EXPECT_EQ(create.handle, 77u);
}

TEST_P(Foreign, ResultsAreQueuedAndNotWrittenToMemory) {
  const drm_i915_gem_create create{.size = 4096, .handle = 77, .pad = 0};
  Memory memory;
  memory.add(create);
  ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&create), memory.pieces, {});
  ASSERT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_CREATE, create), 0);
  EXPECT_FALSE(foreign.is_incomplete());
  EXPECT_EQ(create.handle, 77u) << "this process's memory stays";
  const uint32_t handle = written(foreign, create).handle;
  EXPECT_TRUE(file->buffers.find(handle));
}

TEST_P(Foreign, BufferContentGoesThroughCopies) {
  const uint32_t buffer = create(4096);
  const uint64_t value = 0x1234'5678'9abc'def0;
  const uint64_t untouched = 5;
  if (local()) return;  // has neither call
  const drm_i915_gem_pwrite put{
      .handle = buffer, .pad = 0, .offset = 8, .size = 8, .data_ptr = reinterpret_cast<uintptr_t>(&value)};
  Memory memory;
  memory.add(put);
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&put), memory.pieces, {});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_PWRITE, put), -EFAULT);
    ASSERT_EQ(foreign.missing().size(), 1u);
    EXPECT_EQ(foreign.missing()[0].address, put.data_ptr);
  }
  EXPECT_EQ(content(buffer)[8], std::byte{0}) << "no effect";
  memory.add(value);
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&put), memory.pieces, {});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_PWRITE, put), 0);
  }
  const drm_i915_gem_pread get{
      .handle = buffer, .pad = 0, .offset = 8, .size = 8, .data_ptr = reinterpret_cast<uintptr_t>(&untouched)};
  Memory second;
  second.add(get);
  ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&get), second.pieces, {});
  ASSERT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_PREAD, get), 0);
  EXPECT_EQ(untouched, 5u);
  EXPECT_EQ(written(foreign, untouched), value);
}

// A driver that looked the number up in this process's table would import the buffer.
TEST_P(Foreign, DescriptorNumbersReferToPassedDescriptors) {
  const uint32_t buffer = create(4096), second = create(8192);
  drm_prime_handle out{.handle = buffer, .flags = DRM_CLOEXEC, .fd = -1};
  ASSERT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, out), 0);
  drm_prime_handle out_second{.handle = second, .flags = DRM_CLOEXEC, .fd = -1};
  ASSERT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, out_second), 0);
  const drm_prime_handle in{.handle = 0, .flags = 0, .fd = out.fd};
  Memory memory;
  memory.add(in);
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&in), memory.pieces, {});
    EXPECT_LT(ask(foreign, DRM_IOCTL_PRIME_FD_TO_HANDLE, in), 0);
    ASSERT_EQ(foreign.wanted().size(), 1u);
    EXPECT_EQ(foreign.wanted()[0], out.fd);
  }
  const ForeignCall::Passed closed{.number = out.fd, .descriptor = -1};
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&in), memory.pieces, {&closed, 1});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_PRIME_FD_TO_HANDLE, in), -EBADF);
    EXPECT_FALSE(foreign.is_incomplete());
  }
  const ForeignCall::Passed passed{.number = out.fd, .descriptor = out_second.fd};
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&in), memory.pieces, {&passed, 1});
    ASSERT_EQ(ask(foreign, DRM_IOCTL_PRIME_FD_TO_HANDLE, in), 0);
    EXPECT_EQ(written(foreign, in).handle, second);
  }
  ::close(out.fd);
  ::close(out_second.fd);
}

TEST_P(Foreign, NewDescriptorsAreReturnedOutOfBand) {
  const uint32_t buffer = create(4096);
  const drm_prime_handle out{.handle = buffer, .flags = DRM_CLOEXEC, .fd = 55};
  const uint64_t address = reinterpret_cast<uintptr_t>(&out);
  Memory memory;
  memory.add(out);
  int descriptor = -1;
  {
    ForeignCall foreign(other, address, memory.pieces, {});
    ASSERT_EQ(ask(foreign, DRM_IOCTL_PRIME_HANDLE_TO_FD, out), 0);
    ASSERT_EQ(foreign.made().size(), 1u);
    EXPECT_EQ(foreign.made()[0].position, address + offsetof(drm_prime_handle, fd));
    descriptor = foreign.made()[0].descriptor;
    EXPECT_GE(fcntl(descriptor, F_GETFD), 0);
  }
  EXPECT_LT(fcntl(descriptor, F_GETFD), 0) << "the call owns what was not taken";
}

// Relocations, object lists and fences that come only with the second try.
TEST_P(Foreign, ARepeatedExecutionHasOneEffect) {
  const uint32_t data = create(4096);
  drm_i915_gem_exec_object2 objects[2] = {};
  objects[0].handle = data;
  objects[1].handle = make_empty();
  drm_i915_gem_execbuffer2 arguments{};
  arguments.buffers_ptr = reinterpret_cast<uintptr_t>(objects);
  arguments.buffer_count = 2;
  const drm_i915_gem_execbuffer2 before = arguments;
  Memory memory;
  memory.add(arguments);
  {
    ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&arguments), memory.pieces, {});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2, arguments), -EFAULT);
    ASSERT_EQ(foreign.missing().size(), 1u);
    EXPECT_EQ(foreign.missing()[0].bytes, sizeof objects);
  }
  EXPECT_TRUE(file->work.empty());
  memory.add(objects, sizeof objects);
  ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&arguments), memory.pieces, {});
  ASSERT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2, arguments), 0);
  EXPECT_EQ(std::memcmp(&arguments, &before, sizeof before), 0);
  EXPECT_EQ(file->work.size(), 1u);
}

TEST_P(Foreign, OverlappingPiecesEndWithTheRequestedRange) {
  std::array<std::byte, 64> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  const auto piece = [&](size_t start, size_t bytes) {
    return ForeignCall::Piece{0x1000 + start, std::span(all).subspan(start, bytes)};
  };
  std::vector<ForeignCall::Piece> pieces{piece(0, 64), piece(8, 8), piece(16, 1)};
  std::array<std::byte, 16> into{};
  {
    ForeignCall foreign(other, 0, pieces, {});
    EXPECT_FALSE(foreign.read(0x1010, into.data(), 16)) << "the last piece that starts there is too short";
    ASSERT_EQ(foreign.missing().size(), 1u);
  }
  pieces.push_back(piece(16, 16));
  ForeignCall foreign(other, 0, pieces, {});
  ASSERT_TRUE(foreign.read(0x1010, into.data(), 16));
  EXPECT_EQ(into[15], static_cast<std::byte>(31));
  EXPECT_FALSE(foreign.read(0x0fff, into.data(), 1));
  EXPECT_FALSE(foreign.read(0x1040, into.data(), 1));
  EXPECT_FALSE(foreign.read(~uint64_t{0}, into.data(), 16));
}

TEST_P(Foreign, ResultsAreBounded) {
  ForeignCall foreign(other, 0, {}, {});
  const std::vector<std::byte> block(1 << 20);
  size_t taken = 0;
  while (taken < 100 && foreign.write(0x1000, block.data(), block.size())) ++taken;
  EXPECT_EQ(taken, 4u);
  int ends[2];
  for (size_t i = 0; i < ForeignCall::kMaxMade / 2; ++i) {
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(foreign.give(ends[0], 0) && foreign.give(ends[1], 0));
  }
  EXPECT_FALSE(foreign.give(0, 0));
}

// A mapping for another process is a file that holds nothing else and cannot change its size.
TEST_P(Foreign, MappedBuffersLieInSealedFilesOfTheirOwn) {
  const uint32_t one = create(4096), two = create(4096);
  std::memset(content(one).data(), 1, 4096);
  std::memset(content(two).data(), 2, 4096);
  drm_i915_gem_mmap_offset map{};
  map.handle = one;
  map.flags = local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB;
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, map), 0);
  for (const bool by_handle : {false, true}) {
    Mapping mapping;
    ASSERT_EQ(
        by_handle ? driver->map_buffer(*file, one, 0, 4096, mapping) : driver->map(*file, map.offset, 4096, mapping),
        0);
    EXPECT_EQ(mapping.offset, 0u);
    EXPECT_EQ(lseek(mapping.descriptor, 0, SEEK_END), 4096 + static_cast<off_t>(Buffer::kBehind));
    std::array<std::byte, 4096> bytes{};
    EXPECT_EQ(pread(mapping.descriptor, bytes.data(), bytes.size(), 0), 4096);
    EXPECT_EQ(bytes[4095], std::byte{1});
    EXPECT_NE(ftruncate(mapping.descriptor, 0), 0);
    EXPECT_NE(ftruncate(mapping.descriptor, 1 << 20), 0);
    EXPECT_NE(fcntl(mapping.descriptor, F_ADD_SEALS, F_SEAL_WRITE), 0);
    bytes.fill(std::byte{3});
    EXPECT_EQ(pwrite(mapping.descriptor, bytes.data(), bytes.size(), 0), 4096);
    EXPECT_EQ(content(one)[7], std::byte{3}) << "the device sees the same bytes";
    bytes.fill(std::byte{1});
    EXPECT_EQ(pwrite(mapping.descriptor, bytes.data(), bytes.size(), 0), 4096);
    ::close(mapping.descriptor);
  }
  EXPECT_EQ(content(two)[0], std::byte{2});
}

// Calls of other threads and processes may still be on their way when a file is closed.
TEST_P(Foreign, ClosedFileRefusesCalls) {
  const std::shared_ptr<File> other_file = driver->open();
  driver->close(other_file);
  drm_i915_gem_create create{.size = 4096, .handle = 0, .pad = 0};
  EXPECT_EQ(call_on(*other_file, DRM_IOCTL_I915_GEM_CREATE, create), -ENODEV);
}

class Exited final : public ForeignCaller {
 public:
  pid_t process() const override { return 4711; }
  bool may_administrate() const override { return false; }
  bool is_gone() const override { return true; }
};

TEST_P(Foreign, LongListEndsWhenItsCallerExits) {
  const Exited exited;
  const std::vector<uint32_t> handles(5000, sync_object());
  const std::vector<uint64_t> points(5000, 1);
  drm_syncobj_array list{.handles = reinterpret_cast<uintptr_t>(handles.data()), .count_handles = 5000, .pad = 0};
  for (const unsigned long request : {DRM_IOCTL_SYNCOBJ_RESET, DRM_IOCTL_SYNCOBJ_SIGNAL}) {
    Memory memory;
    memory.add(list);
    memory.add(handles.data(), handles.size() * sizeof handles[0]);
    ForeignCall foreign(exited, reinterpret_cast<uintptr_t>(&list), memory.pieces, {});
    EXPECT_EQ(ask(foreign, request, list), -EINTR);
  }
  drm_syncobj_timeline_array line{reinterpret_cast<uintptr_t>(handles.data()),
                                  reinterpret_cast<uintptr_t>(points.data()), 5000, 0};
  Memory memory;
  memory.add(line);
  memory.add(handles.data(), handles.size() * sizeof handles[0]);
  memory.add(points.data(), points.size() * sizeof points[0]);
  ForeignCall foreign(exited, reinterpret_cast<uintptr_t>(&line), memory.pieces, {});
  EXPECT_EQ(ask(foreign, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, line), -EINTR);
}

TEST_P(Foreign, LongRelocationListEndsWhenItsCallerExits) {
  if (local()) GTEST_SKIP() << "no relocations";
  const Exited exited;
  std::vector<drm_i915_gem_relocation_entry> entries(5000);
  drm_i915_gem_exec_object2 object{};
  object.handle = make_empty();
  object.relocation_count = static_cast<uint32_t>(entries.size());
  object.relocs_ptr = reinterpret_cast<uintptr_t>(entries.data());
  for (drm_i915_gem_relocation_entry& each : entries) {
    each.target_handle = object.handle;
    each.offset = 64;
    each.presumed_offset = ~uint64_t{0};
  }
  drm_i915_gem_execbuffer2 arguments{};
  arguments.buffers_ptr = reinterpret_cast<uintptr_t>(&object);
  arguments.buffer_count = 1;
  Memory memory;
  memory.add(arguments);
  memory.add(object);
  memory.add(entries.data(), entries.size() * sizeof entries[0]);
  {
    ForeignCall foreign(exited, reinterpret_cast<uintptr_t>(&arguments), memory.pieces, {});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2, arguments), -EINTR);
  }
  ForeignCall foreign(other, reinterpret_cast<uintptr_t>(&arguments), memory.pieces, {});
  EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2, arguments), 0) << "a caller that lives is not disturbed";
}

// The process that waits has exited: its thread here would wait for ever.
TEST_P(Foreign, WaitEndsWhenItsCallerExits) {
  const Exited exited;
  const uint32_t object = sync_object();
  drm_syncobj_wait wait{};
  wait.handles = reinterpret_cast<uintptr_t>(&object);
  wait.count_handles = 1;
  wait.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  wait.timeout_nsec = INT64_MAX;
  Memory memory;
  memory.add(wait);
  memory.add(object);
  ForeignCall foreign(exited, reinterpret_cast<uintptr_t>(&wait), memory.pieces, {});
  EXPECT_EQ(ask(foreign, DRM_IOCTL_SYNCOBJ_WAIT, wait), -EINTR);
}

// A client with an account of descriptors.
class Bounded final : public ForeignCaller {
 public:
  explicit Bounded(size_t limit) : account_(std::make_shared<DescriptorAccount>(limit)) {}
  pid_t process() const override { return 4711; }
  bool may_administrate() const override { return false; }
  std::shared_ptr<DescriptorAccount> descriptors() const override { return account_; }
  size_t used() const { return account_->used(); }

 private:
  std::shared_ptr<DescriptorAccount> account_;
};

class ForeignDescriptors : public Foreign {
 protected:
  static constexpr size_t kLimit = 12;
  // Makes calls until one fails. Returns the error; `made` counts those that succeeded.
  template <class Attempt>
  static int repeat(const Attempt& attempt, unsigned& made) {
    for (made = 0; made < 10 * kLimit; ++made) {
      if (const int result = attempt(); result != 0) return result;
    }
    return 0;
  }
  template <class T>
  int ask_with(unsigned long request, T& argument, std::initializer_list<ForeignCall::Passed> passed = {}) {
    Memory memory;
    memory.add(argument);
    ForeignCall foreign(client, reinterpret_cast<uintptr_t>(&argument), memory.pieces, passed);
    const int result = ask(foreign, request, argument);
    argument = written(foreign, argument);
    return result;
  }
  Bounded client{kLimit};
};

TEST_P(ForeignDescriptors, ObjectsOfAClientAreBounded) {
  unsigned made = 0;
  // Sync objects: a file and its page.
  EXPECT_EQ(repeat(
                [&] {
                  drm_syncobj_handle out{sync_object(), 0, -1, 0};
                  return ask_with(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out);
                },
                made),
            -EMFILE);
  EXPECT_EQ(made, kLimit / 2);
  driver->close(std::exchange(file, driver->open()));
  EXPECT_EQ(client.used(), 0u) << "given back with the objects";

  // Sync files of other processes, as anyone can make them.
  std::vector<std::unique_ptr<Gate>> gates;
  EXPECT_EQ(repeat(
                [&] {
                  gates.push_back(std::make_unique<Gate>());
                  drm_syncobj_handle in{sync_object(), DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, 7, 0};
                  return ask_with(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in, {{7, gates.back()->descriptor()}});
                },
                made),
            -EMFILE);
  EXPECT_EQ(made, kLimit);
  driver->close(std::exchange(file, driver->open()));
  EXPECT_EQ(client.used(), 0u);

  // New sync files of a fence that is open.
  Gate gate;
  const uint32_t object = sync_object();
  ASSERT_EQ(import_sync_file(object, gate.descriptor()), 0);
  EXPECT_EQ(repeat(
                [&] {
                  drm_syncobj_handle out{object, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, -1, 0};
                  return ask_with(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out);
                },
                made),
            -EMFILE);
  EXPECT_EQ(made, kLimit);
  gate.open();
  EXPECT_EQ(wait_objects({object}, 0, INT64_MAX), 0);
  EXPECT_EQ(client.used(), 0u) << "reports need no descriptor";

  // Shared buffers: a file and its page of fences.
  EXPECT_EQ(repeat(
                [&] {
                  drm_prime_handle out{.handle = create(4096), .flags = DRM_CLOEXEC, .fd = -1};
                  return ask_with(DRM_IOCTL_PRIME_HANDLE_TO_FD, out);
                },
                made),
            -EMFILE);
  EXPECT_EQ(made, kLimit / 2);
  driver->close(std::exchange(file, driver->open()));
  EXPECT_EQ(client.used(), 0u);

  // Mapped buffers.
  EXPECT_EQ(repeat(
                [&] {
                  const uint32_t buffer = create(4096);
                  ForeignCall foreign(client, 0, {}, {});
                  Mapping mapping;
                  const int result = driver->map_buffer(*file, buffer, 0, 4096, mapping);
                  if (result == 0) ::close(mapping.descriptor);
                  return result;
                },
                made),
            -EMFILE);
  EXPECT_EQ(made, kLimit);

  // The program itself is not limited by its client's account.
  drm_prime_handle own{.handle = create(4096), .flags = DRM_CLOEXEC, .fd = -1};
  ASSERT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, own), 0);
  ::close(own.fd);
}

TEST(DescriptorAccounts, AllClientsTogetherAreBounded) {
  const auto all = std::make_shared<DescriptorAccount>(5);
  DescriptorAccount one(3, all), two(3, all);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(one.take());
  EXPECT_FALSE(one.take());
  EXPECT_EQ(all->used(), 3u) << "a refused one does not count";
  EXPECT_TRUE(two.take());
  EXPECT_TRUE(two.take());
  EXPECT_FALSE(two.take());
  one.give();
  EXPECT_TRUE(two.take());
  EXPECT_EQ(all->used(), 5u);
}

TEST_P(Foreign, ExecutionUsesThePassedFences) {
  drm_i915_gem_exec_object2 object{};
  object.handle = make_empty();
  drm_i915_gem_execbuffer2 arguments{};
  arguments.buffers_ptr = reinterpret_cast<uintptr_t>(&object);
  arguments.buffer_count = 1;
  arguments.flags = I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT;
  Gate gate;  // a descriptor of this process, which the call only names
  arguments.rsvd2 = static_cast<uint32_t>(gate.descriptor());
  Memory memory;
  memory.add(arguments);
  memory.add(object);
  const uint64_t address = reinterpret_cast<uintptr_t>(&arguments);
  {
    ForeignCall foreign(other, address, memory.pieces, {});
    EXPECT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, arguments), -EINVAL);
    ASSERT_EQ(foreign.wanted().size(), 1u);
    EXPECT_EQ(foreign.wanted()[0], gate.descriptor());
    EXPECT_TRUE(foreign.made().empty());
  }
  const ForeignCall::Passed passed{.number = gate.descriptor(), .descriptor = gate.descriptor()};
  ForeignCall foreign(other, address, memory.pieces, {&passed, 1});
  ASSERT_EQ(ask(foreign, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, arguments), 0);
  ASSERT_EQ(foreign.made().size(), 1u);
  EXPECT_EQ(foreign.made()[0].position, address + offsetof(drm_i915_gem_execbuffer2, rsvd2) + 4);
  pollfd fence{.fd = foreign.made()[0].descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&fence, 1, 0), 0) << "the work waits for the passed fence";
  gate.open();
  EXPECT_EQ(poll(&fence, 1, 10000), 1);
}

// Explicit fences of an atomic commit are numbers in a list of values, and an address.
class ForeignScreen : public ScreenDoor {
 protected:
  // Commits one property.
  struct Commit {
    uint32_t object, count = 1, property;
    uint64_t value;
    drm_mode_atomic atomic{};
  };
  std::unique_ptr<ForeignCall> ask(Commit& commit, std::span<const ForeignCall::Passed> passed, int& result) {
    commit.atomic.count_objs = 1;
    commit.atomic.objs_ptr = reinterpret_cast<uintptr_t>(&commit.object);
    commit.atomic.count_props_ptr = reinterpret_cast<uintptr_t>(&commit.count);
    commit.atomic.props_ptr = reinterpret_cast<uintptr_t>(&commit.property);
    commit.atomic.prop_values_ptr = reinterpret_cast<uintptr_t>(&commit.value);
    copy.resize(sizeof commit);
    std::memcpy(copy.data(), &commit, sizeof commit);
    const std::vector<ForeignCall::Piece> pieces{{reinterpret_cast<uintptr_t>(&commit), copy}};
    auto foreign = std::make_unique<ForeignCall>(other, reinterpret_cast<uintptr_t>(&commit.atomic), pieces, passed);
    result = driver->ioctl(*file, DRM_IOCTL_MODE_ATOMIC, reinterpret_cast<uintptr_t>(&commit.atomic));
    return foreign;
  }
  std::vector<std::byte> copy;
  OtherProcess other;
};

TEST_P(ForeignScreen, CommitUsesThePassedFences) {
  if (!atomic_there()) return;
  drm_set_client_cap capability{.capability = DRM_CLIENT_CAP_ATOMIC, .value = 1};
  ASSERT_EQ(call(DRM_IOCTL_SET_CLIENT_CAP, capability), 0);
  ASSERT_EQ(set(make_picture().id), 0);
  const Gate gate;
  Commit in{.object = kPrimaryId, .property = kPropertyInFence, .value = static_cast<uint64_t>(gate.descriptor())};
  in.atomic.flags = DRM_MODE_ATOMIC_TEST_ONLY;
  int result = 0;
  {
    const auto foreign = ask(in, {}, result);
    EXPECT_EQ(result, -EINVAL);
    ASSERT_EQ(foreign->wanted().size(), 1u);
    EXPECT_EQ(foreign->wanted()[0], gate.descriptor());
  }
  const ForeignCall::Passed passed{.number = gate.descriptor(), .descriptor = gate.descriptor()};
  {
    const auto foreign = ask(in, {&passed, 1}, result);
    EXPECT_EQ(result, 0);
    EXPECT_FALSE(foreign->is_incomplete());
  }
  int32_t number = 77;
  const uint64_t place = reinterpret_cast<uintptr_t>(&number);
  Commit out{.object = kCrtcId, .property = kPropertyOutFence, .value = place};
  const auto foreign = ask(out, {}, result);
  ASSERT_EQ(result, 0);
  EXPECT_EQ(number, 77) << "this process's memory stays";
  ASSERT_EQ(foreign->made().size(), 1u);
  EXPECT_EQ(foreign->made()[0].position, place);
}

INSTANTIATE_TEST_SUITE_P(Chips, ForeignScreen, ::testing::Values("i965", "snb", "icl", "dg1"), chip_name);

INSTANTIATE_TEST_SUITE_P(Chips, ForeignDescriptors, ::testing::Values("g45", "icl", "dg1"), chip_name);
INSTANTIATE_TEST_SUITE_P(Chips, Foreign, ::testing::Values("i965", "snb", "icl", "dg1"), chip_name);

}  // namespace
}  // namespace halogen::driver
