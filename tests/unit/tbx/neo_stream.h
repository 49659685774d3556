// The messages of Intel's OpenCL driver over TBX for one submission, written by hand from observed traffic: registers,
// global table, context image, page tables at fixed addresses, pages, ring, tail, submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

namespace halogen::tbx {

// A sequence of messages as bytes.
class Messages {
 public:
  Messages& message(uint32_t type, std::initializer_list<uint32_t> body) {
    words({type, next_id_++, static_cast<uint32_t>(body.size() * 4)});
    return words(body);
  }
  Messages& words(std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values) append(std::as_bytes(std::span(&value, 1)));
    return *this;
  }
  [[gnu::noinline]] Messages& append(
      std::span<const std::byte> bytes) {  // if it is inlined, GCC 12 gives a false warning
    const size_t at = bytes_.size();
    bytes_.resize(at + bytes.size());
    if (!bytes.empty()) std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
    return *this;
  }
  Messages& control(uint32_t value = 0x0032'0002) { return message(11, {value}); }
  Messages& write_register(uint32_t offset, uint32_t value) { return message(0, {0x9, offset, value}); }
  Messages& read_register(uint32_t offset) { return message(0, {0x8, offset, 0}); }
  Messages& entry(uint32_t index, uint64_t value) {
    return message(2, {1, index, static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
  }
  Messages& write(uint64_t address, std::span<const std::byte> data, bool local = false) {
    message(4, {static_cast<uint32_t>(address >> 32) << 24 | (local ? 0x40u : 0u), static_cast<uint32_t>(address),
                static_cast<uint32_t>(data.size())});
    return append(data);
  }
  Messages& write(uint64_t address, std::initializer_list<uint32_t> values, bool local = false) {
    return write(address, std::as_bytes(std::span(values.begin(), values.size())), local);
  }
  Messages& read(uint64_t address, uint32_t bytes) {
    return message(5, {static_cast<uint32_t>(address >> 32) << 24, static_cast<uint32_t>(address), bytes});
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  uint32_t next_id() const { return next_id_; }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
  uint32_t next_id_ = 0;
};

struct Product {
  const char* device;
  bool queue;          // true: submits through 0x2510..0x2550; false: through 0x2230
  uint32_t entry;      // low bits of page table entries
  bool local = false;  // local memory is enabled: tables and most pages are there
};

class NeoStream {
 public:
  static constexpr uint64_t kTag = 0x7f12'3456'7000;  // virtual addresses
  static constexpr uint64_t kBuffer = 0x7f12'3457'0000;
  static constexpr uint64_t kBatch = 0x5566'7788'9000;
  static constexpr uint64_t kImage = 0x6000;
  static constexpr uint64_t kRing = 0x2000;

  // Local pages begin after ring and image. (The driver itself lets them overwrite ring and image.)
  explicit NeoStream(const Product& product) : product_(product), next_local_(0x2'0000) {}

  Messages& out() { return out_; }

  void set_up() {
    const bool local = product_.local;
    out_.control();
    out_.write_register(0x20d8, 0x0002'0000).write_register(0x229c, 0xffff'8280);
    if (local) out_.write_register(0xcf58, 0x8000'0000);
    for (uint32_t page = 1; page <= 22; ++page) {
      out_.entry(page, page * 0x1000u | (local ? 3 : 1));
      if (page == 1) out_.write_register(0x2080, 0x1000);
    }
    std::vector<uint32_t> image(0x11000 / 4, 1);
    const auto put = [&image](size_t at, std::initializer_list<uint32_t> values) {
      std::copy(values.begin(), values.end(), image.begin() + static_cast<std::ptrdiff_t>(0x400 + at));
    };
    put(0x01, {0x1100'101b, 0x2244, 0x0001'0001, 0x2034, 0, 0x2030, 0, 0x2038, 0x2000, 0x203c, 0x3001});
    for (size_t pair = 0x0c; pair < 0x1e; pair += 2) put(pair, {0x2244, 0x0001'0001});
    put(0x21, {0x1100'1011, 0x20d8, 0x0020'0020});
    put(0x24, {0x228c, 0, 0x2288, 0, 0x2284, 0, 0x2280, 0, 0x227c, 0, 0x2278, 0, 0x2274, 0, 0x2270, 0x2000'0000});
    put(0x41, {0x1100'0001, 0x2094, 0});
    out_.write(kImage, std::as_bytes(std::span(image)), local);
  }

  // Writes a page of the process with its four table entries; returns its physical address.
  uint64_t page(uint64_t address, std::span<const uint32_t> content, bool local) {
    const uint64_t va = address & 0xffff'ffff'ffff;
    uint64_t& physical = pages_[va];
    if (physical == 0) {
      uint64_t& next = local ? next_local_ : next_system_;
      physical = next;
      next += 0x1000;
    }
    const uint64_t bits = product_.entry;
    const bool tables = product_.local;
    const auto write_entry = [&](uint64_t at, uint64_t value) {
      out_.write(at, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)}, tables);
    };
    write_entry(0x2000'0000 + 8 * (va >> 39), 0x4000'0000 + 0x1000 * (va >> 39) + bits);
    write_entry(0x4000'0000 + 8 * (va >> 30), 0x8000'0000 + 0x1000 * (va >> 30) + bits);
    write_entry(0x8000'0000 + 8 * (va >> 21), 0x1'0000'0000 + 0x1000 * (va >> 21) + bits);
    write_entry(0x1'0000'0000 + 8 * (va >> 12), physical | bits | (local ? 0x800 : 0));
    out_.write(physical, std::as_bytes(content), local);
    return physical;
  }

  // Submits a batch that stores `value` into the buffer and writes the tag.
  void submit(uint32_t value, uint32_t tag) {
    const bool local = product_.local;
    const std::vector<uint32_t> zeros(1024, 0);
    tag_page = page(kTag, zeros, false);
    buffer_page = page(kBuffer, zeros, local);
    const auto low = [](uint64_t address) { return static_cast<uint32_t>(address); };
    const auto high = [](uint64_t address) { return static_cast<uint32_t>(address >> 32) & 0xffff; };
    const std::vector<uint32_t> batch{0x1000'0002, low(kBuffer + 0x10), high(kBuffer), value, 0x7a00'0004, 0x0010'4020,
                                      low(kTag),   high(kTag),          tag,           0,     0x0500'0000};
    page(kBatch, batch, local);
    std::vector<uint32_t> ring;
    ring.reserve(8);
    if (tail_ == 0) ring = {product_.entry == 3 && product_.queue ? 0x1102'0001u : 0x1100'0001u, 0x2244, 0x0001'0000};
    ring.insert(ring.end(), {0x1880'0101, low(kBatch), high(kBatch), 0});
    out_.write(kRing + tail_, std::as_bytes(std::span(ring)), local);
    tail_ += static_cast<uint32_t>(ring.size() * 4);
    out_.write(kImage + 0x101c, {tail_}, false);  // in system memory, even if the image is in local memory
    if (product_.queue) {
      out_.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1);
    } else {
      for (const uint32_t dword : {0u, 0u, 0u, 0x6119u}) out_.write_register(0x2230, dword);
    }
  }

  uint64_t tag_page = 0;  // physical
  uint64_t buffer_page = 0;

 private:
  Product product_;
  Messages out_;
  std::map<uint64_t, uint64_t> pages_;
  uint64_t next_system_ = 0x17000;
  uint64_t next_local_;
  uint32_t tail_ = 0;
};

inline constexpr Product kProducts[]{{"bdw", false, 7}, {"skl", false, 7}, {"icl", true, 7},
                                     {"tgl", true, 3},  {"dg1", true, 3},  {"dg1", true, 3, true}};

}  // namespace halogen::tbx
