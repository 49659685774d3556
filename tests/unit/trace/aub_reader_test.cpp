#include "trace/aub_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "aub_builder.h"

namespace halogen::trace::aub {
namespace {

using ::testing::HasSubstr;

// Calls a function with each record while its data is valid.
class Each final : public Visitor {
 public:
  explicit Each(std::function<void(const Place&, const Record&)> call) : call_(std::move(call)) {}
  void on(const Place& place, const Record& record) override { call_(place, record); }

 private:
  std::function<void(const Place&, const Record&)> call_;
};

Result<void> read(std::span<const std::byte> bytes, const std::function<void(const Place&, const Record&)>& call) {
  const auto source = open_memory(bytes);
  Reader reader(*source, "t.aub");
  Each each(call);
  return reader.read_all(each);
}

// Reads a version record and the record under test, and passes the latter to a function.
template <class T>
void expect_record(const AubBuilder& aub, const std::function<void(const T&)>& check) {
  int found = 0;
  const auto done = read(aub.bytes(), [&](const Place&, const Record& record) {
    if (const T* typed = std::get_if<T>(&record)) {
      ++found;
      check(*typed);
    }
  });
  EXPECT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(found, 1);
}

std::string error_of(std::span<const std::byte> bytes) {
  const auto done = read(bytes, [](const Place&, const Record&) {});
  return done.ok() ? "" : done.message();
}

TEST(AubReader, ReadsVersionRecordOfComputeRuntime) {
  // The six dwords of a real trace that contains no work.
  AubBuilder aub;
  aub.dwords({0xf70e0005, 0, 0x10041e00, 0, 0, 0x004f454e});
  expect_record<Version>(aub, [](const Version& r) {
    EXPECT_EQ(r.device, 30);
    EXPECT_EQ(r.recording, 1);
    EXPECT_EQ(r.tool, 1);
    EXPECT_EQ(r.text, "NEO");
  });
}

TEST(AubReader, PositionsCountBytesAndRecordsInBothFamilies) {
  AubBuilder aub;
  aub.version(11).comment("abc").classic(0x14, std::vector<uint32_t>(10, 0)).write_register(0x2030, 8);
  std::vector<std::pair<uint64_t, uint64_t>> places;
  ASSERT_TRUE(read(aub.bytes(), [&](const Place& p, const Record&) { places.emplace_back(p.index, p.offset); }).ok());
  // Version: 5 dwords and 2 of text; comment: 2 and 1; the classic record is 11 dwords long.
  const std::vector<std::pair<uint64_t, uint64_t>> expected{{0, 0}, {1, 28}, {2, 40}, {3, 84}};
  EXPECT_EQ(places, expected);
}

TEST(AubReader, RegisterRecordsAreRead) {
  expect_record<RegisterWrite>(AubBuilder().version(11).trace(0x03, {0x44, 0x2002'0040, 0xffff'ffff, 0, 0x1234}),
                               [](const RegisterWrite& r) {
                                 EXPECT_EQ(r.offset, 0x44u);
                                 EXPECT_EQ(r.space, RegisterSpace::pci_config);
                                 EXPECT_EQ(r.size_code, 2);
                                 EXPECT_EQ(r.source, 4);
                                 EXPECT_EQ(r.mask, 0xffff'ffffu);
                                 EXPECT_EQ(r.value, 0x1234u);
                               });
  expect_record<RegisterCompare>(AubBuilder().version(11).trace(0x01, {0x2034, 0x0003'0001, 1, 2, 3, 4}),
                                 [](const RegisterCompare& r) {
                                   EXPECT_TRUE(r.no_expect);
                                   EXPECT_EQ(r.size_code, 3);
                                   EXPECT_EQ(r.mask, 0x2'0000'0001u);
                                   EXPECT_EQ(r.expected, 0x4'0000'0003u);
                                 });
  expect_record<RegisterPoll>(AubBuilder().version(11).trace(0x02, {0x2234, 0x0002'0026, 0x100, 0, 0x100}),
                              [](const RegisterPoll& r) {
                                EXPECT_TRUE(r.ignore_timeout);
                                EXPECT_TRUE(r.not_equal);
                                EXPECT_EQ(r.operation, 2);
                                EXPECT_EQ(r.value, 0x100u);
                              });
}

TEST(AubReader, MemoryRecordsAreRead) {
  const auto flags = (2u << 28) | (42u << 20) | (1u << 2) | 1u;
  expect_record<MemoryWrite>(AubBuilder().version(11).trace(0x06, {0x1000, 0x40, flags, 5, 0x44332211, 0x55}),
                             [](const MemoryWrite& r) {
                               EXPECT_EQ(r.address, 0x40'0000'1000u);
                               EXPECT_EQ(r.space, MemorySpace::system);
                               EXPECT_EQ(r.hint, 42);
                               EXPECT_EQ(r.tiling, Tiling::x);
                               EXPECT_TRUE(r.frontdoor);
                               EXPECT_FALSE(r.repeat);
                               ASSERT_EQ(r.data.size(), 5u);
                               EXPECT_EQ(r.data[4], std::byte{0x55});
                             });
  expect_record<MemoryCompare>(AubBuilder().version(11).trace(0x04, {0x10, 0, 0x5000'0080, 4, 7}),
                               [](const MemoryCompare& r) {
                                 EXPECT_TRUE(r.not_equal);
                                 EXPECT_EQ(r.space, MemorySpace::ppgtt);
                                 EXPECT_EQ(r.bytes, 4u);
                               });
  expect_record<MemoryPoll>(AubBuilder().version(11).trace(0x05, {0x10, 0, 0x1000'0111, 0xff, 0, 9}),
                            [](const MemoryPoll& r) {
                              EXPECT_TRUE(r.not_equal);
                              EXPECT_TRUE(r.ignore_timeout);
                              EXPECT_EQ(r.size_code, 1);
                              EXPECT_EQ(r.mask, 0xffu);
                              EXPECT_EQ(r.value, 9u);
                            });
  expect_record<MemoryDump>(AubBuilder().version(11).trace(0x0a, {0x20, 1, 64, 32, 16, 0x21, 0x00706d62}),
                            [](const MemoryDump& r) {
                              EXPECT_EQ(r.address, 0x1'0000'0020u);
                              EXPECT_EQ(r.stride, 64u);
                              EXPECT_EQ(r.space, MemorySpace::local);
                              EXPECT_EQ(r.tiling, Tiling::y);
                              EXPECT_EQ(r.file_name, "bmp");
                            });
}

TEST(AubReader, DiscontiguousWriteGivesItsPiecesOneByOne) {
  std::vector<uint32_t> body(1 + 63 * 3, 0);
  body[0] = (2u << 28) | (2u << 4);
  body[1] = 0x1000;
  body[3] = 4;
  body[4] = 0x9000;
  body[6] = 8;
  body.insert(body.end(), {0xa, 0xb, 0xc});
  std::vector<std::pair<uint64_t, uint32_t>> pieces;
  const auto done = read(AubBuilder().version(11).trace(0x0b, body).bytes(), [&](const Place&, const Record& record) {
    if (const auto* r = std::get_if<DiscontiguousWrite>(&record)) {
      uint32_t first = 0;
      std::memcpy(&first, r->data.data(), 4);
      pieces.emplace_back(r->address, first);
      EXPECT_EQ(r->pieces, 2);
    }
  });
  ASSERT_TRUE(done.ok()) << done.message();
  const std::vector<std::pair<uint64_t, uint32_t>> expected{{0x1000, 0xa}, {0x9000, 0xb}};
  EXPECT_EQ(pieces, expected);
}

TEST(AubReader, SmallRecordsAreRead) {
  expect_record<FrameBegin>(AubBuilder().version(11).trace(0x07, {0xffff'0003}),
                            [](const FrameBegin& r) { EXPECT_EQ(r.number, 3); });
  expect_record<Comment>(AubBuilder().version(11).trace(0x08, {2, 0x00006968}), [](const Comment& r) {
    EXPECT_TRUE(r.sync_on_display);
    EXPECT_EQ(r.text, "hi");
  });
  expect_record<Delay>(AubBuilder().version(11).trace(0x09, {77}), [](const Delay& r) { EXPECT_EQ(r.time, 77u); });
  expect_record<TestPhase>(AubBuilder().version(11).trace(0x0c, {0x5123}), [](const TestPhase& r) {
    EXPECT_EQ(r.phase, 5);
    EXPECT_EQ(r.sub_phase, 0x123);
  });
  expect_record<ContiguousRegion>(AubBuilder().version(11).trace(0x0d, {1, 2, 3, 4}), [](const ContiguousRegion& r) {
    EXPECT_EQ(r.address, 0x2'0000'0001u);
    EXPECT_EQ(r.bytes, 0x4'0000'0003u);
  });
  expect_record<Predicate>(AubBuilder().version(11).trace(0x0f, {0x7}), [](const Predicate& r) {
    EXPECT_TRUE(r.state);
    EXPECT_EQ(r.target, 3);
  });
  std::vector<uint32_t> dump(23, 0);
  dump[0] = 0x1000;
  dump[2] = 640;
  dump[20] = 1;
  dump[21] = 9;
  expect_record<CompressedDump>(AubBuilder().version(11).trace(0x10, dump), [](const CompressedDump& r) {
    EXPECT_EQ(r.surface_address, 0x1000u);
    EXPECT_EQ(r.width, 640u);
    EXPECT_EQ(r.gtt_type, 1u);
    EXPECT_EQ(r.handle, 9u);
  });
}

TEST(AubReader, ClassicRecordsAreRead) {
  expect_record<PpgttContextCreate>(
      AubBuilder().version(22).classic(0x14, {0x9f07'2c8b, 2, 0x2000'0000, 0, 0, 0, 0, 0, 0, 0}),
      [](const PpgttContextCreate& r) {
        EXPECT_EQ(r.handle, 0x9f07'2c8bu);
        EXPECT_TRUE(r.is_64bit);
        EXPECT_FALSE(r.advanced);
        EXPECT_EQ(r.roots[0], 0x2000'0000u);
      });
  expect_record<BufferDump>(
      AubBuilder().version(22).classic(0x15, {0x1000, 0, 64, 0, 1, 0, 64, 0, 0x14, 5, 0, 0, 0x006e6962}),
      [](const BufferDump& r) {
        EXPECT_EQ(r.base, 0x1000u);
        EXPECT_EQ(r.gtt_type, 1);
        EXPECT_EQ(r.surface_type, 4);
        EXPECT_EQ(r.file_type, "bin");
      });
  expect_record<ImageDump>(AubBuilder().version(22).classic(0x44, {1, 2, 256, 0x20, 64, 32, 0x3000, 1, 0, 8}),
                           [](const ImageDump& r) {
                             EXPECT_EQ(r.base, 0x1'0000'3000u);
                             EXPECT_EQ(r.x_size, 64u);
                             EXPECT_EQ(r.handle, 8u);
                           });
}

TEST(AubReader, ClassicFileOfOldDriversIsRead) {
  std::vector<uint32_t> version(12, 0);
  version[0] = 0x0400'0000;
  version[1] = 0x0061'7373;  // "ssa"
  version[11] = 14;
  AubBuilder::append_text(version, "PCI-ID=0x29a2");
  AubBuilder aub;
  aub.classic(0x05, version);
  expect_record<ClassicVersion>(aub, [](const ClassicVersion& r) {
    EXPECT_EQ(r.major, 4);
    EXPECT_EQ(r.application, "ssa");
    EXPECT_EQ(r.comment, "PCI-ID=0x29a2");
  });
}

TEST(AubReader, ClassicBlockDataComesInPartsAndIsNotInTheLength) {
  constexpr uint32_t kBytes = 200'002;  // not a whole number of dwords
  std::vector<uint32_t> version(12, 0);
  AubBuilder aub;
  aub.classic(0x05, version);
  aub.classic(0x41, {0x0000'0101, 7, 0x4000, kBytes, 1});
  for (uint32_t i = 0; i < (kBytes + 3) / 4; ++i) aub.dwords({i});
  aub.classic(0x41, {0x0000'0200, 0, 0x8000, 4});
  aub.dwords({0x0500'0000});
  uint64_t sum = 0;
  int last_parts = 0;
  std::vector<uint64_t> addresses;
  const auto done = read(aub.bytes(), [&](const Place&, const Record& record) {
    const auto* r = std::get_if<ClassicBlock>(&record);
    if (r == nullptr) return;
    sum += r->data.size();
    EXPECT_LE(r->data.size(), 64u * 1024);
    if (r->is_last()) {
      ++last_parts;
      addresses.push_back(r->address);
    }
  });
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(sum, kBytes + 4u);
  EXPECT_EQ(last_parts, 2);
  EXPECT_EQ(addresses, (std::vector<uint64_t>{0x1'0000'4000, 0x8000}));
}

TEST(AubReader, UnknownRecordsAreSkippedByTheirFamilysRule) {
  AubBuilder aub;
  aub.version(11).trace(0x3f, {1, 2, 3}).classic(0x7f, {4, 5}).write_register(0x2030, 8);
  int unknown = 0;
  int writes = 0;
  const auto done = read(aub.bytes(), [&](const Place&, const Record& record) {
    unknown += std::holds_alternative<Unknown>(record) ? 1 : 0;
    writes += std::holds_alternative<RegisterWrite>(record) ? 1 : 0;
  });
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(unknown, 2);
  EXPECT_EQ(writes, 1);
}

TEST(AubReaderErrors, SayFileRecordAndByte) {
  AubBuilder aub;
  aub.version(11).write_memory(2, 0x1000, {1, 2, 3});
  const auto whole = aub.bytes();
  EXPECT_EQ(error_of(whole.first(whole.size() - 2)),
            "t.aub: record 1 at byte 0x1c: the file ends inside the record, 2 bytes short.");
  EXPECT_EQ(error_of(whole.first(30)), "t.aub: record 1 at byte 0x1c: the file ends inside the record's header.");
}

TEST(AubReaderErrors, EmptyAndForeignFilesAreReported) {
  EXPECT_EQ(error_of({}), "t.aub: empty file, not an AUB trace.");
  const std::array<uint32_t, 2> elf{0x464c457f, 0x00010102};
  EXPECT_EQ(error_of(std::as_bytes(std::span(elf))),
            "t.aub: not an AUB trace: it starts with 0x464c457f, not with a version record.");
}

TEST(AubReaderErrors, InvalidHeaderIsReported) {
  AubBuilder aub;
  aub.version(11).dwords({0x7a00'0004});
  EXPECT_THAT(error_of(aub.bytes()), HasSubstr("record 1 at byte 0x1c: 0x7a000004 is not a record header"));
  AubBuilder other;
  other.version(11).dwords({AubBuilder::header(0x2d, 6, 0)});
  EXPECT_THAT(error_of(other.bytes()), HasSubstr("is not a record header"));
}

TEST(AubReaderErrors, InconsistentRecordsAreReported) {
  EXPECT_THAT(error_of(AubBuilder().version(11).trace(0x06, {0, 0, 0, 100, 1}).bytes()),
              HasSubstr("claims 100 bytes and holds 4"));
  EXPECT_THAT(error_of(AubBuilder().version(11).trace(0x06, {0, 0}).bytes()),
              HasSubstr("the memory write record has 3 dwords; 5 are needed"));
  EXPECT_THAT(error_of(AubBuilder().version(11).trace(0x04, {0, 0, 0, 100, 1}).bytes()), HasSubstr("memory compare"));
  std::vector<uint32_t> pieces(1 + 63 * 3, 0);
  pieces[0] = 64u << 4;
  EXPECT_THAT(error_of(AubBuilder().version(11).trace(0x0b, pieces).bytes()),
              HasSubstr("64 pieces; the maximum is 63"));
  pieces[0] = 1u << 4;
  pieces[3] = 1;
  EXPECT_THAT(error_of(AubBuilder().version(11).trace(0x0b, pieces).bytes()), HasSubstr("1 bytes, but 0 are left"));
}

TEST(AubReaderErrors, EveryRecordKindSurvivesBeingTooShort) {
  for (uint32_t sub = 0; sub < 0x80; ++sub) {
    AubBuilder aub;
    aub.version(11).trace(sub, {});
    error_of(aub.bytes());
    AubBuilder classic;
    classic.version(11).classic(sub, {0});
    error_of(classic.bytes());
  }
}

}  // namespace
}  // namespace halogen::trace::aub
