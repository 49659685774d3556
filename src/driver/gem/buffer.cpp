#include "driver/gem/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/exhaustion.h"
#include "driver/gem/lent_memory.h"
#include "driver/gem/space.h"
#include "driver/gem/user_memory.h"
#include "driver/share/private_descriptor.h"
#include "driver/share/sealed_file.h"
#include "driver/share/shared_buffers.h"

namespace halogen::driver {

Buffer::~Buffer() {
  while (!spaces.empty()) spaces.back()->unbind(*this);
  drop_pages();
  if (of_program_) LentMemory::of_process().remove(program_, bytes_);
  if (shared_ >= 0) close(shared_);
  if (large_ >= 0) close(large_);
}

int Buffer::descriptor() const {
  if (shared_ >= 0) return shared_;
  return large_ >= 0 ? large_ : hardware_.host().of(local_).descriptor();
}

// A purged buffer gets an empty file, as in Linux, where GEM_MMAP of such a buffer shows zeros.
bool Buffer::need_content() {
  if (has_pages() || large_ >= 0) return true;
  if (of_program_ || (!purged && bytes_ <= hardware_.pages(local_).all_bytes())) return need_pages();
  DescriptorCharge charge = DescriptorCharge::for_this_call();
  large_ = open_private([&] { return create_sealed_file("halogen large buffer", bytes_); });
  if (large_ >= 0) charge_ = std::move(charge);
  return large_ >= 0;
}

bool Buffer::may_be_purged() {
  return !of_program_ && pins == 0 && !lent_ && !is_shared() && !is_used_here();
}

void Buffer::purge() {
  while (!spaces.empty()) spaces.back()->unbind(*this);
  drop_pages();
  if (large_ >= 0) {
    close(std::exchange(large_, -1));
    charge_ = {};
  }
  view_ = nullptr;
  attached = false;
  purged = true;
}

void Buffer::drop_view() {
  if (!view_ || lent_) return;
  sync_view();
  view_ = nullptr;
}

bool Buffer::need_pages() {
  if (has_pages()) return true;
  if (purged) return false;
  if (of_program_) {
    if (is_leaving() || !can_use_user(program_, bytes_, !read_only_)) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an ioctl passes the address as a number
    auto* const memory = reinterpret_cast<std::byte*>(static_cast<uintptr_t>(program_));
    const std::optional<uint64_t> address =
        hardware_.host().add_window({memory, bytes_}, hardware_.model().physical_bits);
    if (!address) return false;
    run_ = {*address, bytes_, false, read_only_};
    return true;
  }
  const std::optional<PageRun> run = hardware_.allocate(bytes_, local_);
  if (!run) return false;
  run_ = *run;
  return true;
}

void Buffer::drop_pages() {
  if (!has_pages()) return;
  if (of_program_) {
    hardware_.host().remove_window(run_.address);
    run_ = {};
    return;
  }
  // An engine may still hold a translation, from a batch that listed the buffer.
  if (attached && !completes_soon([this] { hardware_.drop_translations(); })) kept_ = true;
  if (std::exchange(kept_, false)) {
    run_ = {};
    return;
  }
  // A shared file keeps its content: only the mapping into the host's memory ends.
  hardware_.release(std::exchange(run_, {}), replaced_);
  replaced_ = false;
}

int Buffer::share() {
  if (shared_ >= 0) return 0;
  if (of_program_) return -EINVAL;
  if (purged) return -EFAULT;
  if (!need_pages()) return -ENOMEM;
  DescriptorCharge charge = DescriptorCharge::for_this_call();
  Descriptor file(open_private([&] { return create_sealed_file("halogen buffer", bytes_ + kBehind); }));
  if (!file) return -ENOMEM;
  DriverHost& host = hardware_.host();
  const std::optional<FileKey> before = key_of(host.of(local_).descriptor());
  bool moved = false;
  const AtEnd undo([&] {
    if (!moved) replaced_ = !host.restore(local_, run_.address, run_.bytes);
  });
  replaced_ = true;  // from here on the range may show the file
  moved = before && copy_into(file.number()) && host.replace(local_, run_.address, run_.bytes, file.number()) &&
          replace_mappings(*before, run_.address, run_.bytes, file.number());
  if (!moved) return -ENOMEM;
  shared_ = file.release();
  charge_ = std::move(charge);
  return 0;
}

// Copies the content but leaves untouched pages unallocated.
bool Buffer::copy_into(int file) const {
  const int from = hardware_.host().of(local_).descriptor();
  const auto end = static_cast<off_t>(run_.address + bytes_);
  off_t next = static_cast<off_t>(run_.address);
  while (next < end) {
    const off_t first = lseek(from, next, SEEK_DATA);
    if (first < 0 || first >= end) return first >= 0 || errno == ENXIO;
    const off_t hole = lseek(from, first, SEEK_HOLE);
    next = hole < 0 ? end : std::min(hole, end);
    off_t done = first;
    while (done < next) {
      const off_t offset = done - static_cast<off_t>(run_.address);
      const ssize_t part = pwrite(file, bytes().data() + offset, static_cast<size_t>(next - done), offset);
      if (part <= 0) return false;
      done += part;
    }
  }
  return true;
}

std::shared_ptr<Buffer> Buffer::import(Hardware& hardware, int descriptor, uint64_t bytes) {
  auto buffer = std::make_shared<Buffer>(hardware, bytes, false);
  if (!buffer->need_pages()) return nullptr;
  DescriptorCharge charge = DescriptorCharge::for_this_call();
  const int file = open_private([&] { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); });
  buffer->replaced_ = true;
  if (file < 0 || !hardware.host().replace(false, buffer->run_.address, bytes, file)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  buffer->shared_ = file;
  buffer->charge_ = std::move(charge);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::of_program(Hardware& hardware, uint64_t address, uint64_t bytes, bool read_only) {
  auto buffer = std::make_shared<Buffer>(hardware, bytes, false);
  buffer->program_ = address;
  buffer->of_program_ = true;
  buffer->read_only_ = read_only;
  LentMemory::of_process().add(address, bytes);
  return buffer;
}

int Buffer::validate() {
  if (!of_program_ || can_use_user(program_, bytes_, !read_only_)) return 0;
  while (!spaces.empty()) spaces.back()->unbind(*this);
  drop_pages();
  return -EFAULT;
}

bool Buffer::is_leaving() const {
  return of_program_ && LentMemory::of_process().is_leaving(program_, bytes_);
}

// The program may unmap its memory at any time, with or without notice; the host then refuses the access.
bool Buffer::write(uint64_t offset, std::span<const std::byte> from) const {
  if (!has_pages() || offset > bytes_ || from.size() > bytes_ - offset) return false;
  if (of_program_) return write_unsure(program_ + offset, from.data(), from.size());
  std::memcpy(bytes().data() + offset, from.data(), from.size());
  return true;
}

int Buffer::need_view() {
  if (!need_pages()) return -1;
  if (!view_) view_ = LinearView::create(bytes_);
  sync_view();
  return view_ ? view_->descriptor() : -1;
}

void Buffer::sync_view() {
  if (view_ && has_pages()) view_->sync(bytes(), tiling, stride);
}

void Buffer::set_tiling(Tiling its_tiling, uint32_t its_stride) {
  sync_view();
  tiling = its_tiling;
  stride = its_stride;
  sync_view();
}

void Buffer::forget_done() {
  const auto is_done = [](const FenceRef& fence) { return fence->done; };
  std::erase_if(readers_, is_done);
  std::erase_if(writers_, is_done);
}

bool Buffer::is_used_here() {
  forget_done();
  return !writers_.empty() || !readers_.empty();
}

// Keeps the fences of other processes, because only then is this process woken when they signal.
void Buffer::look_at_others(bool also_reads) {
  others_.clear();
  if (shared_fences_) shared_fences_->list(also_reads, others_);
}

bool Buffer::is_busy(bool also_reads) {
  forget_done();
  if (!writers_.empty() || (also_reads && !readers_.empty())) return true;
  look_at_others(also_reads);
  return !others_.empty();
}

std::vector<FenceRef> Buffer::fences(bool also_reads) {
  forget_done();
  std::vector<FenceRef> all = writers_;
  if (also_reads) all.insert(all.end(), readers_.begin(), readers_.end());
  look_at_others(also_reads);
  all.insert(all.end(), others_.begin(), others_.end());
  return all;
}

void Buffer::add_fence(FenceRef fence, bool write) {
  forget_done();
  if (shared_fences_) shared_fences_->add(fence, write);
  std::vector<FenceRef>& list = write ? writers_ : readers_;
  // Only the last fence of a timeline counts.
  std::erase_if(list,
                [&](const FenceRef& other) { return other->timeline != 0 && other->timeline == fence->timeline; });
  list.push_back(std::move(fence));
}

void Buffer::share_fences(std::shared_ptr<SharedFences> fences) {
  forget_done();
  shared_fences_ = std::move(fences);
  for (const FenceRef& fence : readers_) shared_fences_->add(fence, false);
  for (const FenceRef& fence : writers_) shared_fences_->add(fence, true);
}

}  // namespace halogen::driver
