// A buffer shared by programs and the device: pages that are allocated at the first use, and the fences of work that
// reads or writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/gem/linear_view.h"
#include "driver/hw/hardware.h"
#include "driver/queue/request.h"
#include "driver/share/descriptor_charge.h"
#include "driver/share/shared_fences.h"
#include "spec/interface_model.h"

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
  // Allocates the pages. False: out of memory, the program's memory is gone, or the content was purged.
  bool need_pages();
  // Allocates storage for content that programs write. A buffer larger than memory gets a file of its own, which the
  // device never sees.
  bool need_content();
  const PageRun& run() const { return run_; }
  std::span<std::byte> bytes() const { return hardware_.bytes(run_); }
  void drop_pages();  // discards the content
  // Entries of a page table that could not be removed lead to the pages, so no other buffer may ever get them.
  void keep_pages() { kept_ = true; }

  // Moves the content to a file that other processes can use. Returns 0 or a negative errno.
  int share();
  // Moves the content to a file that holds no other buffer, so that a program may have its descriptor. Returns 0 or a
  // negative errno.
  int separate() { return large_ >= 0 ? 0 : share(); }
  // Creates a buffer over a file that another process shares.
  static std::shared_ptr<Buffer> import(Hardware& hardware, int descriptor, uint64_t bytes);
  // Size of the fences after the content of such a file (SharedFences).
  static constexpr uint64_t kBehind = SharedFences::kBytes;
  // Return the descriptor and the offset at which programs map the buffer.
  int descriptor() const;
  uint64_t offset() const { return shared_ >= 0 || large_ >= 0 ? 0 : run_.address; }
  bool is_shared() const { return shared_ >= 0; }
  // Publishes its fences to other processes and reads theirs from now on.
  void share_fences(std::shared_ptr<SharedFences> fences);
  const std::shared_ptr<SharedFences>& shared_fences() const { return shared_fences_; }
  bool exported = false;
  bool writable_file = false;  // access rights of the first exported descriptor, which hold for all

  // Creates a buffer over the program's own memory. That memory may be unmapped at any time: then the pages are
  // dropped, and looked up again when memory is mapped at that address.
  static std::shared_ptr<Buffer> of_program(Hardware& hardware, uint64_t address, uint64_t bytes, bool read_only);
  bool is_of_program() const { return of_program_; }
  uint64_t program_address() const { return program_; }
  // Checks that the memory exists. Returns 0, or -EFAULT if the program's memory is gone.
  int validate();
  // Returns whether the program is unmapping the memory, so the device must not get it now.
  bool is_leaving() const;

  // Writes to the pages from the driver. False: there are no pages, or the program has unmapped its memory.
  bool write(uint64_t offset, std::span<const std::byte> from) const;

  // Creates the linear view through a fence. Returns a descriptor. -1: out of memory.
  int need_view();
  bool has_view() const { return view_ != nullptr; }
  void sync_view();  // exchanges writes of the program and of the device
  void drop_view();  // this program does not have it mapped
  void set_tiling(Tiling its_tiling, uint32_t its_stride);

  // Return the open work of all processes on this buffer; without `also_reads`, writes only.
  bool is_busy(bool also_reads);
  bool is_used_here();  // by this driver's own work
  std::vector<FenceRef> fences(bool also_reads);
  void add_fence(FenceRef fence, bool write);

  // Address spaces in which it is bound; they are notified when it is destroyed.
  std::vector<Space*> spaces;

  Tiling tiling = Tiling::linear;
  uint32_t stride = 0;
  uint32_t caching = 0;
  bool attached = false;  // counts as attached, as in i915: the device or a call has used its pages
  bool purgeable = false;
  bool purged = false;
  bool listed = false;  // in the list of Driver::add_purgeable
  unsigned pins = 0;    // framebuffers that map its pages for the display
  // Another process maps its pages or its view from now on. The driver does not learn when that ends.
  void lend() { lent_ = true; }
  // False: a display, another process, or work in flight needs the content. Mappings of this process are in
  // LiveMappings.
  bool may_be_purged();
  // Discards content and addresses for good.
  void purge();
  // Returns whether a memory manager owns the pages. Mapping the buffer then does not attach them.
  bool is_managed() const { return spec::interface_of(hardware_.model().id).managed_buffers; }

 private:
  void forget_done();
  void look_at_others(bool also_reads);
  bool copy_into(int file) const;

  Hardware& hardware_;
  uint64_t bytes_;
  bool local_;
  PageRun run_;
  bool kept_ = false;
  bool replaced_ = false;  // the pages lie in a file of their own, or may
  int shared_ = -1;
  int large_ = -1;
  DescriptorCharge charge_;  // of either: a large buffer is not shared
  bool of_program_ = false;
  bool lent_ = false;
  uint64_t program_ = 0;
  bool read_only_ = false;
  std::unique_ptr<LinearView> view_;
  std::vector<FenceRef> writers_;
  std::vector<FenceRef> readers_;
  std::shared_ptr<SharedFences> shared_fences_;
  std::vector<FenceRef> others_;  // result of the last query
};
using BufferRef = std::shared_ptr<Buffer>;

}  // namespace halogen::driver
