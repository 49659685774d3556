// A buffer that programs share with the device: pages that come into being at the first use, and the fences of work
// that reads or writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/gem/linear_view.h"
#include "driver/hw/hardware.h"
#include "driver/queue/request.h"
#include "driver/share/shared_fences.h"

namespace halogen::driver {

class Space;

class Buffer {
 public:
  Buffer(Hardware& hardware, uint64_t bytes, bool local) : hardware_(hardware), bytes_(bytes), local_(local) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t size() const { return bytes_; }
  bool local() const { return local_; }
  bool has_pages() const { return run_.bytes != 0; }
  // False: no memory left.
  bool need_pages();
  // Somewhere to keep what programs write is enough: buffers that no memory can hold have a file of their own, which
  // the device never sees.
  bool need_content();
  const PageRun& run() const { return run_; }
  std::span<std::byte> bytes() const { return hardware_.bytes(run_); }
  void drop_pages();  // content is lost

  // A file that holds the content from now on, for other processes too. Negative: an errno.
  int share();
  // The pages are those of a file that another process shares.
  static std::shared_ptr<Buffer> import(Hardware& hardware, int descriptor, uint64_t bytes);
  // Of such a file, behind the content: the fences (SharedFences).
  static constexpr uint64_t kBehind = SharedFences::kBytes;
  // Where a program maps it: a descriptor and an offset.
  int descriptor() const;
  uint64_t offset() const { return shared_ >= 0 || large_ >= 0 ? 0 : run_.address; }
  bool is_shared() const { return shared_ >= 0; }
  // Other processes see its fences, and theirs are seen, from now on.
  void share_fences(std::shared_ptr<SharedFences> fences);
  const std::shared_ptr<SharedFences>& shared_fences() const { return shared_fences_; }
  bool exported = false;
  bool writable_file = false;  // the first descriptor of it that a program got could write; so can all others

  // The program's own memory instead of pages of the machine. It may go at any time: then its pages go, and come back
  // when there is memory at that place again.
  static std::shared_ptr<Buffer> of_program(Hardware& hardware, uint64_t address, uint64_t bytes, bool read_only);
  bool is_of_program() const { return of_program_; }
  uint64_t program_address() const { return program_; }
  // Whether there is something to work on. EFAULT: the program's memory is not there.
  int validate();

  // As seen through a fence. -1: no memory.
  int need_view();
  bool has_view() const { return view_ != nullptr; }
  void sync_view();                        // what program and device wrote meets
  void lend_view() { view_lent_ = true; }  // another process has it: it stays
  void drop_view();                        // no program looks any more
  void set_tiling(Tiling its_tiling, uint32_t its_stride);

  // Work in flight, of all processes that have it. `also_reads`: false: only what writes.
  bool is_busy(bool also_reads);
  bool is_used_here();  // by this driver's own work
  std::vector<FenceRef> fences(bool also_reads);
  void add_fence(FenceRef fence, bool write);

  // Spaces that hold an address for it; told when it goes.
  std::vector<Space*> spaces;

  Tiling tiling = Tiling::linear;
  uint32_t stride = 0;
  uint32_t caching = 0;
  bool attached = false;  // as i915 counts: the device or a call has used its pages
  bool purgeable = false;
  bool purged = false;
  bool listed = false;  // among those that may go (Driver::add_purgeable)
  // Content and addresses go for good.
  void purge();
  // With local memory mapping a buffer does not attach its pages.
  bool is_managed() const { return hardware_.has(spec::Feature::local_memory); }

 private:
  void forget_done();
  void look_at_others(bool also_reads);
  bool copy_into(int file) const;

  Hardware& hardware_;
  uint64_t bytes_;
  bool local_;
  PageRun run_;
  int shared_ = -1;
  int large_ = -1;
  bool of_program_ = false;
  bool view_lent_ = false;
  uint64_t program_ = 0;
  bool read_only_ = false;
  std::unique_ptr<LinearView> view_;
  std::vector<FenceRef> writers_;
  std::vector<FenceRef> readers_;
  std::shared_ptr<SharedFences> shared_fences_;
  std::vector<FenceRef> others_;  // that were asked for last
};
using BufferRef = std::shared_ptr<Buffer>;

}  // namespace halogen::driver
