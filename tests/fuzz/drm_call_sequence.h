// A program that uses the driver with mostly valid calls: buffers, batches, contexts with engine maps, sync objects,
// shared buffers, mappings of every kind, and the screen. Handles come from small pools, so that calls use objects of
// earlier calls. Two invariants are checked at the end:
// - the buffer of a file that makes no random calls keeps its bytes, and work of that file runs;
// - after the other files, descriptors and mappings are closed, all pages are free again.
#pragma once

#include "fuzz/drm_screen.h"

namespace halogen::fuzz {

class DrmCallSequence : private DrmScreen {
 public:
  using DrmProgram::calls;
  using DrmScreen::DrmScreen;

  void run() {
    others_ = driver_.open({.render = true});
    const uint32_t theirs = make_others();
    const uint64_t free_before = free_bytes();
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0, "a pair of sockets");
    files_ = {driver_.open({.render = false, .events = ends[1]}), driver_.open({.render = true})};
    for (const auto& each : files_) prepare(*each);
    for (int i = 0; i < 64 && !data_.empty(); ++i) {
      file_ = files_[next() % 4 == 0 ? 1 : 0].get();
      act();
      std::array<char, 1024> event;
      while (read(ends[0], event.data(), event.size()) > 0) continue;
    }
    for (const Place& each : places_) unmap(each);
    for (const auto& each : files_) driver_.close(each);
    files_ = {};
    for (const int each : fds_) close(each);
    fds_.clear();
    turn_off();
    // Pages are freed when the work that holds them is done or found to hang.
    for (int round = 0; round < 50'000 && free_bytes() != free_before; ++round) run_others();
    check(free_bytes() == free_before, "pages leaked");
    run_others();
    std::array<std::byte, kTheirs> bytes;
    drm_i915_gem_pread look{
        .handle = theirs, .pad = 0, .offset = 0, .size = kTheirs, .data_ptr = address(bytes.data())};
    file_ = others_.get();
    if (read_there_) check(plain(DRM_IOCTL_I915_GEM_PREAD, look) == 0, "another's buffer cannot be read");
    for (size_t i = 0; read_there_ && i < bytes.size(); ++i) {
      check(bytes[i] == static_cast<std::byte>(i * 37), "another's buffer has changed");
    }
    driver_.close(others_);
  }

 private:
  static constexpr size_t kTheirs = 4096;

  // Creates an object of each kind.
  void prepare(driver::File& file) {
    file_ = &file;
    for (uint64_t pages = 1; pages <= 4; ++pages) {
      drm_i915_gem_create create{.size = 4096 * pages, .handle = 0, .pad = 0};
      plain(DRM_IOCTL_I915_GEM_CREATE, create);
      constexpr uint32_t kEnd[] = {0, 0x0500'0000};
      const driver::BufferRef buffer = file.buffers.find(create.handle);
      if (buffer->need_pages()) std::memcpy(buffer->bytes().data(), kEnd, sizeof kEnd);
      drm_syncobj_create sync{.handle = 0, .flags = static_cast<uint32_t>(pages % 2)};
      plain(DRM_IOCTL_SYNCOBJ_CREATE, sync);
    }
    drm_i915_gem_context_create_ext context{};
    plain(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, context);
    drm_set_client_cap atomic{.capability = DRM_CLIENT_CAP_ATOMIC, .value = 1};
    plain(DRM_IOCTL_SET_CLIENT_CAP, atomic);
    const drm_mode_modeinfo mode = driver::Kms::modes().back();
    drm_mode_create_blob blob{.data = address(&mode), .length = sizeof mode, .blob_id = 0};
    if (plain(DRM_IOCTL_MODE_CREATEPROPBLOB, blob) == 0) remember(blobs_, blob.blob_id);
    drm_mode_create_dumb dumb{};
    dumb.width = 640;
    dumb.height = 480;
    dumb.bpp = 32;
    if (plain(DRM_IOCTL_MODE_CREATE_DUMB, dumb) != 0) return;  // fails on a render node
    drm_mode_fb_cmd fb{};
    fb.width = dumb.width;
    fb.height = dumb.height;
    fb.pitch = dumb.pitch;
    fb.bpp = 32;
    fb.depth = 24;
    fb.handle = dumb.handle;
    if (plain(DRM_IOCTL_MODE_ADDFB, fb) == 0) remember(pictures_, fb.fb_id);
  }

  // A cursor outlives the file that set it, as in Linux, until the next master or the console removes it.
  void turn_off() {
    const auto next_master = driver_.open({.render = false});
    file_ = next_master.get();
    drm_mode_cursor cursor{};
    cursor.flags = DRM_MODE_CURSOR_BO;
    cursor.crtc_id = driver::kCrtcId;
    check(plain(DRM_IOCTL_MODE_CURSOR, cursor) == 0, "the cursor cannot be disabled");
    drm_mode_crtc crtc{};
    crtc.crtc_id = driver::kCrtcId;
    check(plain(DRM_IOCTL_MODE_SETCRTC, crtc) == 0, "the screen cannot be disabled");
    driver_.finish_display();
    driver_.close(next_master);
  }

  uint64_t free_bytes() {
    uint64_t sum = 0;
    driver_.with_lock([&] {
      driver::Hardware& hardware = driver_.gpu().hardware();
      sum = hardware.pages(false).free_bytes() + hardware.pages(true).free_bytes();
    });
    return sum;
  }

  uint32_t make_others() {
    file_ = others_.get();
    drm_i915_gem_create create{.size = kTheirs, .handle = 0, .pad = 0};
    plain(DRM_IOCTL_I915_GEM_CREATE, create);
    std::array<std::byte, kTheirs> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
    drm_i915_gem_pwrite write{};
    write.handle = create.handle;
    write.size = kTheirs;
    write.data_ptr = address(bytes.data());
    read_there_ = plain(DRM_IOCTL_I915_GEM_PWRITE, write) == 0;  // not available with local memory
    drm_i915_gem_create batch{.size = 4096, .handle = 0, .pad = 0};
    plain(DRM_IOCTL_I915_GEM_CREATE, batch);
    batch_ = batch.handle;
    constexpr uint32_t kEnd[] = {0, 0x0500'0000};
    const driver::BufferRef buffer = others_->buffers.find(batch_);
    check(buffer->need_pages(), "a page for a batch");
    std::memcpy(buffer->bytes().data(), kEnd, sizeof kEnd);
    run_others();
    return create.handle;
  }
  // Runs work on every engine, because an idle engine keeps its last context until it gets another one.
  void run_others() {
    file_ = others_.get();
    constexpr uint64_t kEngines[] = {I915_EXEC_RENDER, I915_EXEC_BSD | I915_EXEC_BSD_RING1,
                                     I915_EXEC_BSD | I915_EXEC_BSD_RING2, I915_EXEC_BLT, I915_EXEC_VEBOX};
    for (const uint64_t engine : kEngines) {
      drm_i915_gem_exec_object2 object{};
      object.handle = batch_;
      drm_i915_gem_execbuffer2 execute{};
      execute.buffers_ptr = address(&object);
      execute.buffer_count = 1;
      execute.flags = engine;
      const int result = plain(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute);
      if (result == -EINVAL && engine != I915_EXEC_RENDER) continue;  // the chip lacks this engine
      check(result == 0, "another's work is refused");
      drm_i915_gem_wait wait{.bo_handle = batch_, .flags = 0, .timeout_ns = -1};
      check(plain(DRM_IOCTL_I915_GEM_WAIT, wait) == 0, "another's work does not end");
    }
  }

  void act() {
    using Part = void (DrmCallSequence::*)();
    constexpr Part kParts[] = {
        &DrmCallSequence::create,       &DrmCallSequence::write_batch, &DrmCallSequence::write_batch,
        &DrmCallSequence::execute,      &DrmCallSequence::execute,     &DrmCallSequence::execute,
        &DrmCallSequence::buffer,       &DrmCallSequence::sync_object, &DrmCallSequence::sync_objects,
        &DrmCallSequence::timelines,    &DrmCallSequence::share,       &DrmCallSequence::map,
        &DrmCallSequence::make_context, &DrmCallSequence::spaces,      &DrmCallSequence::performance,
        &DrmCallSequence::picture,      &DrmCallSequence::show,        &DrmCallSequence::commit,
        &DrmCallSequence::screen,       &DrmCallSequence::blanks,      &DrmCallSequence::descriptors,
        &DrmCallSequence::lend,
    };
    (this->*kParts[one_of(std::size(kParts))])();
  }

  // ---- buffers and work

  void create() {
    if (next() % 4 == 0) {
      drm_gem_close close{.handle = handle(), .pad = 0};
      call(DRM_IOCTL_GEM_CLOSE, close);
      return;
    }
    drm_i915_gem_create create{.size = 4096 * (1 + uint64_t{one_of(16)}), .handle = 0, .pad = 0};
    if (next() % 32 == 0) create.size = uint64_t{1} << (20 + one_of(24));
    call(DRM_IOCTL_I915_GEM_CREATE, create);
  }

  void write_batch() {
    std::array<uint32_t, 16> dwords{};
    const uint32_t place = 0x10'0000 * handle();
    switch (one_of(6)) {
      case 0:  // an endless loop
        dwords = {0x1880'0101, place, 0};
        break;
      case 1:  // a store to a random address
        dwords = {0x1000'0002, place, 0, next(), 0x0500'0000};
        break;
      case 2:
        for (uint32_t& each : dwords) each = next() | uint32_t{next()} << 23 | uint32_t{next()} << 28;
        break;
      default:
        dwords = {0, 0x0500'0000};
    }
    drm_i915_gem_pwrite write{};
    write.handle = handle();
    write.size = sizeof dwords;
    write.data_ptr = address(dwords.data());
    if (call(DRM_IOCTL_I915_GEM_PWRITE, write) != -EOPNOTSUPP) return;
    const driver::BufferRef buffer = file_->buffers.find(write.handle);  // as a program does through its mapping
    if (buffer && !buffer->is_of_program() && buffer->size() <= (1 << 16) && buffer->need_pages()) {
      std::memcpy(buffer->bytes().data(), dwords.data(), sizeof dwords);
    }
  }

  void execute() {
    std::array<drm_i915_gem_exec_object2, 4> objects{};
    std::array<drm_i915_gem_relocation_entry, 2> relocations{};
    const uint32_t count = 1 + one_of(4);
    const bool pinned = next() % 2 == 0;
    for (drm_i915_gem_exec_object2& object : objects) {
      object.handle = handle();
      if (pinned) {
        object.offset = 0x10'0000 * object.handle;
        object.flags = EXEC_OBJECT_PINNED;
      }
      constexpr uint64_t kFlags[] = {0,
                                     0,
                                     EXEC_OBJECT_WRITE,
                                     EXEC_OBJECT_ASYNC,
                                     EXEC_OBJECT_NEEDS_FENCE,
                                     EXEC_OBJECT_CAPTURE,
                                     EXEC_OBJECT_PAD_TO_SIZE,
                                     EXEC_OBJECT_NEEDS_GTT};
      object.flags |= kFlags[one_of(std::size(kFlags))];
      object.pad_to_size = (object.flags & EXEC_OBJECT_PAD_TO_SIZE) != 0 ? 65536 : 0;
    }
    if (next() % 4 == 0) {
      for (drm_i915_gem_relocation_entry& each : relocations) {
        each = {.target_handle = handle(),
                .delta = one_of(64),
                .offset = 4 * one_of(64),
                .presumed_offset = 1,
                .read_domains = I915_GEM_DOMAIN_RENDER,
                .write_domain = one_of(2) * I915_GEM_DOMAIN_RENDER};
      }
      objects[count - 1].relocation_count = 2;
      objects[count - 1].relocs_ptr = address(relocations.data());
    }
    if (next() % 16 == 0) std::memcpy(&objects[one_of(count)].relocs_ptr, scratch_.data(), 8);
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = address(objects.data());
    execute.buffer_count = count;
    execute.flags = next() % 4 == 0 ? one_of(8) : 0;
    i915_execbuffer2_set_context_id(execute, context());
    std::array<drm_i915_gem_exec_fence, 2> fences{};
    drm_i915_gem_execbuffer_ext_timeline_fences timeline{};
    for (drm_i915_gem_exec_fence& each : fences) each = {.handle = handle(), .flags = 1 + one_of(3)};
    std::array<uint64_t, 2> points = {one_of(4), one_of(4)};
    switch (one_of(8)) {
      case 0:
        execute.flags |= I915_EXEC_FENCE_ARRAY;
        execute.cliprects_ptr = address(fences.data());
        execute.num_cliprects = 2;
        break;
      case 1:
        timeline.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES;
        timeline.fence_count = 2;
        timeline.handles_ptr = address(fences.data());
        timeline.values_ptr = address(points.data());
        execute.flags |= I915_EXEC_USE_EXTENSIONS;
        execute.cliprects_ptr = address(&timeline);
        break;
      case 2:
        execute.flags |= next() % 2 == 0 ? uint64_t{I915_EXEC_FENCE_IN} : uint64_t{I915_EXEC_FENCE_SUBMIT};
        execute.rsvd2 = static_cast<uint32_t>(descriptor());
        break;
      default:
        break;
    }
    constexpr uint64_t kFlags[] = {0, I915_EXEC_NO_RELOC, I915_EXEC_HANDLE_LUT, I915_EXEC_BATCH_FIRST};
    execute.flags |= kFlags[one_of(std::size(kFlags))];
    const bool out = next() % 4 == 0;
    if (out) execute.flags |= I915_EXEC_FENCE_OUT;
    const int result = call(out ? DRM_IOCTL_I915_GEM_EXECBUFFER2_WR : DRM_IOCTL_I915_GEM_EXECBUFFER2, execute);
    if (result == 0 && (execute.flags & I915_EXEC_FENCE_OUT) != 0) keep(static_cast<int>(execute.rsvd2 >> 32));
  }

  void buffer() {
    switch (one_of(8)) {
      case 0: {
        drm_i915_gem_wait wait{.bo_handle = handle(), .flags = 0, .timeout_ns = next() * 1000};
        call(DRM_IOCTL_I915_GEM_WAIT, wait);
        break;
      }
      case 1: {
        drm_i915_gem_busy busy{.handle = handle(), .busy = 0};
        call(DRM_IOCTL_I915_GEM_BUSY, busy);
        break;
      }
      case 2: {
        drm_i915_gem_set_domain domain{.handle = handle(), .read_domains = 1u << one_of(8), .write_domain = 0};
        if (next() % 2 == 0) domain.write_domain = domain.read_domains;
        call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain);
        break;
      }
      case 3: {
        drm_i915_gem_set_tiling tiling{};
        tiling.handle = handle();
        tiling.tiling_mode = one_of(3);
        tiling.stride = 128 * one_of(16);
        call(DRM_IOCTL_I915_GEM_SET_TILING, tiling);
        break;
      }
      case 4: {
        drm_i915_gem_caching caching{.handle = handle(), .caching = one_of(3)};
        call(DRM_IOCTL_I915_GEM_SET_CACHING, caching);
        break;
      }
      case 5: {
        drm_i915_gem_madvise advise{.handle = handle(), .madv = one_of(2), .retained = 0};
        call(DRM_IOCTL_I915_GEM_MADVISE, advise);
        break;
      }
      case 6: {
        drm_i915_gem_sw_finish finish{.handle = handle()};
        call(DRM_IOCTL_I915_GEM_SW_FINISH, finish);
        break;
      }
      default: {
        drm_i915_gem_pread look{.handle = handle(),
                                .pad = 0,
                                .offset = 64 * uint64_t{next()},
                                .size = next(),
                                .data_ptr = address(scratch_.data())};
        call(DRM_IOCTL_I915_GEM_PREAD, look);
      }
    }
  }

  // Makes a buffer from the program's own memory, which stays mapped until the pool drops it.
  void lend() {
    const size_t bytes = 4096 * (1 + one_of(4));
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    keep_place({memory, bytes});
    drm_i915_gem_userptr user{.user_ptr = address(memory), .user_size = bytes, .flags = 0, .handle = 0};
    if (next() % 8 == 0) user.flags = I915_USERPTR_READ_ONLY;
    if (next() % 8 == 0) user.flags |= I915_USERPTR_PROBE;
    plain(DRM_IOCTL_I915_GEM_USERPTR, user);
  }

  void map() {
    if (next() % 4 == 0 && !places_.empty()) {
      unmap(places_.front());
      places_.pop_front();
      return;
    }
    uint64_t offset = 0;
    if (next() % 3 == 0) {
      drm_i915_gem_mmap_gtt map{.handle = handle(), .pad = 0, .offset = 0};
      if (call(DRM_IOCTL_I915_GEM_MMAP_GTT, map) != 0) return;
      offset = map.offset;
    } else {
      drm_i915_gem_mmap_offset map{.handle = handle(), .pad = 0, .offset = 0, .flags = one_of(5), .extensions = 0};
      if (call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, map) != 0) return;
      offset = map.offset;
    }
    if (next() % 16 == 0) offset += 4096 * one_of(4);
    const size_t bytes = 4096 * (1 + one_of(2));
    void* const at = driver_.map_here(*file_, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, offset);
    if (at == MAP_FAILED) return;
    keep_place({at, bytes});
  }
  void keep_place(const Place& place) {
    places_.push_back(place);
    if (places_.size() <= 6) return;
    unmap(places_.front());
    places_.pop_front();
  }

  // ---- fences

  void sync_object() {
    switch (one_of(4)) {
      case 0: {
        drm_syncobj_destroy destroy{.handle = handle(), .pad = 0};
        call(DRM_IOCTL_SYNCOBJ_DESTROY, destroy);
        break;
      }
      case 1: {
        drm_syncobj_handle give{.handle = handle(), .flags = one_of(2), .fd = -1, .pad = 0};
        if (call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, give) == 0) keep(give.fd);
        break;
      }
      case 2: {
        drm_syncobj_handle take{.handle = handle(), .flags = one_of(2), .fd = descriptor(), .pad = 0};
        call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, take);
        break;
      }
      default: {
        drm_syncobj_create create{.handle = 0, .flags = one_of(2)};
        call(DRM_IOCTL_SYNCOBJ_CREATE, create);
      }
    }
  }
  void sync_objects() {
    std::array<uint32_t, 2> handles = {handle(), handle()};
    if (next() % 2 == 0) {
      drm_syncobj_wait wait{};
      wait.handles = address(handles.data());
      wait.count_handles = 1 + one_of(2);
      wait.timeout_nsec = soon();
      wait.flags = one_of(4);
      if (next() % 8 != 0) return void(plain(DRM_IOCTL_SYNCOBJ_WAIT, wait));
      wait.count_handles = static_cast<uint32_t>(wild());
      plain(DRM_IOCTL_SYNCOBJ_WAIT, wait);
      return;
    }
    drm_syncobj_array array{.handles = address(handles.data()), .count_handles = 1 + one_of(2), .pad = 0};
    call(next() % 2 == 0 ? DRM_IOCTL_SYNCOBJ_RESET : DRM_IOCTL_SYNCOBJ_SIGNAL, array);
  }
  void timelines() {
    std::array<uint32_t, 2> handles = {handle(), handle()};
    std::array<uint64_t, 2> points = {one_of(6), one_of(6)};
    switch (one_of(4)) {
      case 0: {
        drm_syncobj_timeline_wait wait{};
        wait.handles = address(handles.data());
        wait.points = address(points.data());
        wait.timeout_nsec = soon();
        wait.count_handles = 1 + one_of(2);
        wait.flags = one_of(8);
        plain(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, wait);
        break;
      }
      case 1: {
        drm_syncobj_transfer transfer{};
        transfer.src_handle = handles[0];
        transfer.dst_handle = handles[1];
        transfer.src_point = points[0];
        transfer.dst_point = points[1];
        transfer.flags = 0;
        plain(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer);
        break;
      }
      default: {
        drm_syncobj_timeline_array array{};
        array.handles = address(handles.data());
        array.points = address(points.data());
        array.count_handles = 1 + one_of(2);
        array.flags = next() % 4 == 0;
        call(next() % 2 == 0 ? DRM_IOCTL_SYNCOBJ_QUERY : DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, array);
      }
    }
  }
  void share() {
    drm_prime_handle prime{.handle = handle(), .flags = 0, .fd = descriptor()};
    if (next() % 2 == 0) {
      prime.flags = next() % 2 == 0 ? DRM_CLOEXEC | DRM_RDWR : DRM_CLOEXEC;
      if (call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime) == 0) keep(prime.fd);
    } else {
      call(DRM_IOCTL_PRIME_FD_TO_HANDLE, prime);
    }
  }
  void descriptors() {
    const int fd = descriptor();
    switch (one_of(5)) {
      case 0: {
        sync_merge_data merge{};
        merge.fd2 = descriptor();
        ++calls_;
        if (driver_.descriptor_ioctl(fd, SYNC_IOC_MERGE, address(&merge)) == 0) keep(merge.fence);
        break;
      }
      case 1: {
        sync_file_info info{};
        info.num_fences = one_of(3);
        info.sync_fence_info = address(scratch_.data());
        ++calls_;
        driver_.descriptor_ioctl(fd, SYNC_IOC_FILE_INFO, address(&info));
        break;
      }
      case 2: {
        dma_buf_sync sync{.flags = one_of(8)};
        ++calls_;
        driver_.descriptor_ioctl(fd, DMA_BUF_IOCTL_SYNC, address(&sync));
        break;
      }
      case 3: {
        dma_buf_export_sync_file give{.flags = 1 + one_of(3), .fd = -1};
        ++calls_;
        if (driver_.descriptor_ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, address(&give)) == 0) keep(give.fd);
        break;
      }
      default: {
        dma_buf_import_sync_file take{.flags = 1 + one_of(3), .fd = descriptor()};
        ++calls_;
        driver_.descriptor_ioctl(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, address(&take));
      }
    }
  }

  // ---- contexts

  void make_context() {
    struct __attribute__((packed)) Engines {
      uint64_t extensions;
      i915_engine_class_instance engines[3];
    };
    struct __attribute__((packed)) Balance {
      i915_user_extension base;
      uint16_t engine_index, num_siblings;
      uint32_t flags;
      uint64_t mbz64;
      i915_engine_class_instance engines[2];
    };
    Balance balance{};
    balance.base.name = next() % 3 == 0 ? I915_CONTEXT_ENGINES_EXT_BOND : I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE;
    balance.engine_index = static_cast<uint16_t>(one_of(3));
    balance.num_siblings = 2;
    for (int i = 0; i < 2; ++i) balance.engines[i] = {2, static_cast<uint16_t>(one_of(2))};
    Engines map{};
    map.extensions = next() % 2 == 0 ? address(&balance) : 0;
    for (int i = 0; i < 3; ++i) {
      map.engines[i] = {static_cast<uint16_t>(one_of(4)), static_cast<uint16_t>(next() % 8 == 0)};
    }
    if (map.extensions != 0) map.engines[balance.engine_index] = {0xffff, 0xfffe};
    drm_i915_gem_context_create_ext_setparam set{};
    set.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
    set.param.param = I915_CONTEXT_PARAM_ENGINES;
    set.param.size = sizeof map;
    set.param.value = address(&map);
    if (next() % 4 == 0) {
      constexpr uint64_t kNames[] = {I915_CONTEXT_PARAM_PRIORITY, I915_CONTEXT_PARAM_RECOVERABLE,
                                     I915_CONTEXT_PARAM_PERSISTENCE, I915_CONTEXT_PARAM_VM,
                                     I915_CONTEXT_PARAM_BANNABLE};
      set.param.param = kNames[one_of(std::size(kNames))];
      set.param.size = 0;
      set.param.value = one_of(4);
    }
    set.param.ctx_id = context();
    switch (one_of(5)) {
      case 0:
        call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, set.param);
        break;
      case 1:
        set.param.value = address(scratch_.data());
        set.param.size = 8 * one_of(8);
        call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, set.param);
        break;
      case 2: {
        drm_i915_gem_context_destroy destroy{.ctx_id = context(), .pad = 0};
        call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, destroy);
        break;
      }
      default: {
        set.param.ctx_id = 0;
        drm_i915_gem_context_create_ext create{
            .ctx_id = 0, .flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS, .extensions = address(&set)};
        if (next() % 2 == 0) create = {};
        call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create);
      }
    }
  }
  void spaces() {
    drm_i915_gem_vm_control control{.extensions = 0, .flags = 0, .vm_id = 1 + one_of(3)};
    call(next() % 3 == 0 ? DRM_IOCTL_I915_GEM_VM_DESTROY : DRM_IOCTL_I915_GEM_VM_CREATE, control);
    drm_i915_reset_stats stats{};
    stats.ctx_id = context();
    call(DRM_IOCTL_I915_GET_RESET_STATS, stats);
  }
  void performance() {
    switch (one_of(3)) {
      case 0: {
        drm_i915_perf_oa_config config{};
        std::memcpy(config.uuid, "01234567-0123-0123-0123-0123456789ab", sizeof config.uuid);
        config.n_mux_regs = one_of(3);
        config.mux_regs_ptr = address(scratch_.data());
        config.n_boolean_regs = one_of(3);
        config.boolean_regs_ptr = address(scratch_.data());
        call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config);
        break;
      }
      case 1: {
        uint64_t number = one_of(4);
        call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, number);
        break;
      }
      default: {
        std::array<uint64_t, 4> properties = {one_of(8), next(), one_of(8), next()};
        drm_i915_perf_open_param open{
            .flags = one_of(8), .num_properties = one_of(3), .properties_ptr = address(properties.data())};
        const int result = call(DRM_IOCTL_I915_PERF_OPEN, open);
        if (result > 0) keep(result);
      }
    }
  }

  std::array<std::shared_ptr<driver::File>, 2> files_;
  std::shared_ptr<driver::File> others_;  // file of the program that makes no random calls
  uint32_t batch_ = 0;
  bool read_there_ = false;
};

}  // namespace halogen::fuzz
