// The messages of docs/client-protocol.md, as bytes that the tests write themselves.
#include "protocol.h"

#include <gtest/gtest.h>
#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/ioctl.h>

#include <string_view>
#include <vector>

#include "call_shapes.h"

namespace halogen::shim {
namespace {

class Bytes {
 public:
  Bytes& u32(uint32_t value) { return add(&value, sizeof value); }
  Bytes& u64(uint64_t value) { return add(&value, sizeof value); }
  Bytes& text(std::string_view value) { return add(value.data(), value.size()); }
  std::span<std::byte> all() { return bytes_; }
  std::span<std::byte> first(size_t count) {
    copy_.assign(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(count));  // so that a sanitizer sees the end
    return copy_;
  }
  size_t size() const { return bytes_.size(); }

 private:
  Bytes& add(const void* from, size_t count) {
    const auto* const start = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), start, start + count);
    return *this;
  }
  std::vector<std::byte> bytes_, copy_;
};

// An ioctl with these counts, before its pieces.
Bytes request_head(uint32_t ask, uint32_t pieces, uint32_t passed) {
  Bytes bytes;
  bytes.u32(ask).u32(1).u64(0xc010'6440).u64(0x7000).u32(5).u32(pieces).u32(passed).u32(0);
  for (uint32_t i = 0; i < 16; ++i) bytes.u32(100 + i).u32(i % 2);
  return bytes;
}

TEST(ClientRequest, IsDecoded) {
  Bytes bytes = request_head(0, 2, 3);
  bytes.u64(0x7000).u64(5).text(std::string_view("hello\0\0\0", 8)).u64(0x9000).u64(8).text("and more");
  const auto request = decode_request(bytes.all());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->head.no_wait, 1u);
  EXPECT_EQ(request->head.request, 0xc010'6440u);
  EXPECT_EQ(request->head.argument, 0x7000u);
  EXPECT_EQ(request->head.handle, 5u);
  EXPECT_EQ(request->head.numbers[2].number, 102);
  EXPECT_EQ(request->head.numbers[1].is_open, 1u);
  ASSERT_EQ(request->pieces.size(), 2u);
  EXPECT_EQ(request->pieces[0].address, 0x7000u);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(request->pieces[0].bytes.data()), 5), "hello");
  EXPECT_EQ(request->pieces[1].address, 0x9000u);
  EXPECT_EQ(request->pieces[1].bytes.size(), 8u);
}

TEST(ClientRequest, TruncatedRequestIsRefused) {
  Bytes bytes = request_head(0, 1, 0);
  bytes.u64(0x7000).u64(5).text(std::string_view("hello\0\0\0", 8));
  ASSERT_TRUE(decode_request(bytes.first(bytes.size())));
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(decode_request(bytes.first(length))) << length;
}

TEST(ClientRequest, WrongCountsAreRefused) {
  for (const uint32_t pieces : {1u, 2u, 0x1000'0000u, ~0u}) {
    EXPECT_FALSE(decode_request(request_head(0, pieces, 0).all())) << pieces;
  }
  for (const uint32_t passed : {17u, 0x8000'0000u, ~0u}) {
    EXPECT_FALSE(decode_request(request_head(0, 0, passed).all())) << passed;
  }
  for (const uint32_t ask : {5u, ~0u}) EXPECT_FALSE(decode_request(request_head(ask, 0, 0).all())) << ask;
  EXPECT_TRUE(decode_request(request_head(2, 0, 16).all()));
  EXPECT_TRUE(decode_request(request_head(4, 0, 1).all()));
}

TEST(ClientRequest, PieceThatWrapsAroundIsRefused) {
  for (const uint64_t bytes : {uint64_t{9}, ~uint64_t{0}, ~uint64_t{7}, uint64_t{1} << 63}) {
    Bytes request = request_head(0, 1, 0);
    request.u64(0x7000).u64(bytes).u64(0);
    EXPECT_FALSE(decode_request(request.all())) << bytes;
  }
  Bytes last = request_head(0, 1, 0);
  last.u64(~uint64_t{0} - 7).u64(8).u64(0);
  EXPECT_FALSE(decode_request(last.all())) << "ends beyond the last address";
}

TEST(ClientAnswer, IsDecodedAndRefusedWhenCutOff) {
  Bytes bytes;
  bytes.u64(static_cast<uint64_t>(-5)).u64(0x3000).u32(1).u32(1).u32(1).u32(1);
  bytes.u64(0x7008).u64(1);           // a descriptor that the call made
  bytes.u32(44);                      // a number that is wanted
  bytes.u64(0x8000).u64(64);          // memory that is missing
  bytes.u64(0x7000).u64(8).u64(123);  // a write
  const auto answer = decode_answer(bytes.first(bytes.size()));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.result, -5);
  EXPECT_EQ(answer->head.offset, 0x3000u);
  EXPECT_EQ(answer->made.at(0).position, 0x7008u);
  EXPECT_EQ(answer->made.at(0).stays_open, 1u);
  EXPECT_EQ(answer->wanted.at(0), 44);
  EXPECT_EQ(answer->missing.at(0).address, 0x8000u);
  EXPECT_EQ(answer->missing.at(0).bytes, 64u);
  EXPECT_EQ(answer->writes.at(0).address, 0x7000u);
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(decode_answer(bytes.first(length))) << length;
}

TEST(PartWriter, StopsAtTheEndOfItsArea) {
  std::vector<std::byte> area(40);
  PartWriter writer(area);
  EXPECT_EQ(writer.add_part(1, 5).size(), 5u);
  EXPECT_EQ(writer.used(), 24u);
  EXPECT_TRUE(writer.add_part(1, 1).empty()) << "head and padding need 24 bytes";
  EXPECT_TRUE(writer.add_part(1, ~uint64_t{0}).empty());
  writer.remove_part(5);
  EXPECT_EQ(writer.add_part(1, 24).size(), 24u);
}

TEST(CallShapes, OtherDirectionsAndSizesAreRefused) {
  EXPECT_TRUE(has_known_shape(DRM_IOCTL_I915_GEM_CREATE));
  EXPECT_TRUE(has_known_shape(DRM_IOCTL_I915_GEM_EXECBUFFER2));
  EXPECT_TRUE(has_known_shape(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR));
  EXPECT_TRUE(has_known_shape(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT));
  EXPECT_TRUE(has_known_shape(DRM_IOCTL_I915_GEM_CONTEXT_CREATE));
  for (const unsigned long known : {DRM_IOCTL_I915_GEM_CREATE, DRM_IOCTL_PRIME_HANDLE_TO_FD, DRM_IOCTL_MODE_ATOMIC}) {
    const unsigned size = _IOC_SIZE(known);
    for (const unsigned other : {0u, size - 4, size - 1, size + 1, size + 4, 0x3fffu}) {
      EXPECT_FALSE(has_known_shape(_IOC(_IOC_DIR(known), 'd', _IOC_NR(known), other))) << other;
    }
    for (const unsigned direction : {unsigned{_IOC_NONE}, unsigned{_IOC_READ}, unsigned{_IOC_WRITE}}) {
      EXPECT_FALSE(has_known_shape(_IOC(direction, 'd', _IOC_NR(known), size))) << direction;
    }
    EXPECT_FALSE(has_known_shape(_IOC(_IOC_DIR(known), 'b', _IOC_NR(known), size))) << "another type";
  }
}

// Linux has extended these structures; drivers with older or newer headers pass other sizes.
TEST(CallShapes, SizesOfOtherHeadersAreKnown) {
  for (const unsigned size : {32u, 40u}) EXPECT_TRUE(has_known_shape(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xc3, size)));
  for (const unsigned size : {40u, 48u}) EXPECT_TRUE(has_known_shape(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xca, size)));
  EXPECT_FALSE(has_known_shape(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xc3, 56)));
}

}  // namespace
}  // namespace halogen::shim
