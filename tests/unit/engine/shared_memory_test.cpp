// Shared virtual memory as software programs it: the registers, queues and tables of the IOMMU, and contexts of engines
// that name a PASID. Layouts and offsets are typed from VT-d 2.x as Linux v4.x has them (intel-iommu.h, intel-svm.c).
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>
#include <vector>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

// Registers of the IOMMU.
constexpr uint32_t kVer = 0x00, kCap = 0x08, kEcap = 0x10, kGcmd = 0x18, kGsts = 0x1c, kRtaddr = 0x20, kCcmd = 0x28,
                   kFsts = 0x34, kFectl = 0x38, kIqh = 0x80, kIqt = 0x88, kIqa = 0x90, kIcs = 0x9c, kIectl = 0xa0,
                   kPqh = 0xc0, kPqt = 0xc8, kPqa = 0xd0, kPrs = 0xdc, kPectl = 0xe0;
constexpr uint32_t kTe = 1u << 31, kSrtp = 1u << 30, kQie = 1u << 26;
constexpr uint32_t kPro = 1u << 7, kIqe = 1u << 4, kPpf = 1u << 1, kPfo = 1u << 0;
constexpr uint64_t kExtended = 1u << 11;
constexpr uint32_t kSource = 0x10;  // bus 0, device 2, function 0
constexpr uint32_t kPasid = 5;
constexpr uint64_t kHalt = 1u << 6, kStream = 2u << 6;
constexpr uint64_t kAddress = 0x1234'5678'9000;

struct SharedMemoryBench : ContextBench {
  explicit SharedMemoryBench(std::string_view chip, device::DeviceOptions options = {})
      : ContextBench(chip, std::move(options)) {
    root = page();
    contexts = page();
    pasids = page();
    put(root, contexts | 1);
    // Present, page requests, PASIDs; second level of 48 bits, execute requests, write-back; 2^9 PASIDs.
    put(contexts + 16 * 32, 1 | 1u << 9 | 1u << 11);
    put(contexts + 16 * 32 + 8, 2 | 1u << 26 | uint64_t{0x6666'6666} << 32);
    put(contexts + 16 * 32 + 16, pasids | 4);
    put(contexts + 16 * 32 + 24, page());
    process = page();
    put(pasids + 8 * kPasid, process | 1);
    batch = allocate(1);
    target = allocate(1);
    map_shared(0x1000, batch);
  }

  uint64_t page() { return host_address(allocate(1)); }
  void put(uint64_t physical, uint64_t value) { host.put<uint64_t>(physical, value); }
  uint64_t get(uint64_t physical) { return host.value_at<uint64_t>(physical); }

  // Maps a page in the tables of the process: present, writable, user.
  uint64_t entry_of(uint64_t address) {
    uint64_t table = process;
    for (const unsigned shift : {39u, 30u, 21u}) {
      const uint64_t at = table + 8 * (address >> shift & 0x1ff);
      if (get(at) == 0) put(at, page() | 7);
      table = get(at) & ~uint64_t{0xfff};
    }
    return table + 8 * (address >> 12 & 0x1ff);
  }
  void map_shared(uint64_t address, uint64_t global) { put(entry_of(address), host_address(global) | 7); }

  // A context of the process, whose batch stores `value` to the address.
  Context store_context(uint32_t id, uint32_t value, uint64_t form = kHalt, uint64_t address = kAddress) {
    Context context = create("rcs0", id);
    set_image(context, kImagePdp0, kPasid);
    set_image(context, kImagePdp0High, 0);
    context.bits = static_cast<uint32_t>(form);
    poke(batch,
         {0x1000'0002, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), value, 0x0500'0000});
    emit(context, {0x1880'0101, 0x1000, 0});
    emit(context, store(target + 0x800, id));  // in the global table: the ring went on
    return context;
  }

  // ---- the unit

  uint32_t unit(uint32_t offset) { return static_cast<uint32_t>(device->iommu_read(offset, 4)); }
  uint64_t unit64(uint32_t offset) { return device->iommu_read(offset, 8); }
  void set_unit(uint32_t offset, uint32_t value) { device->iommu_write(offset, 4, value); }
  void set_unit64(uint32_t offset, uint64_t value) { device->iommu_write(offset, 8, value); }

  void enable() {
    set_unit64(kRtaddr, root | kExtended);
    set_unit(kGcmd, kSrtp);
    set_unit(kGcmd, kTe);
  }
  void enable_queue() {
    queue = page();
    set_unit64(kIqt, 0);
    set_unit64(kIqa, queue);
    set_unit(kGcmd, kTe | kQie);
  }
  void enable_requests() {
    requests = page();
    set_unit64(kPqh, 0);
    set_unit64(kPqt, 0);
    set_unit64(kPqa, requests);
    set_message(kPectl, 0xfee0'1000, 0x51);
  }
  void set_message(uint32_t control, uint32_t address, uint32_t data) {
    set_unit(control + 4, data);
    set_unit(control + 8, address);
    set_unit(control + 12, 0);
    set_unit(control, 0);
  }
  void push(uint64_t low, uint64_t high = 0) {
    put(queue + next * 16, low);
    put(queue + next * 16 + 8, high);
    next = (next + 1) % 256;
    set_unit64(kIqt, next * 16);
  }
  size_t messages(uint32_t data) {
    return static_cast<size_t>(std::ranges::count_if(host.messages, [&](const auto& m) { return m.second == data; }));
  }

  uint64_t root = 0, contexts = 0, pasids = 0, process = 0;
  uint64_t batch = 0, target = 0;
  uint64_t queue = 0, requests = 0;
  uint64_t next = 0;
};

class SharedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  SharedMemoryBench b_{GetParam()};
};

TEST_P(SharedMemory, CapabilitiesNameWhatTheUnitHas) {
  EXPECT_EQ(b_.unit(kVer), 0x10u);
  const uint64_t cap = b_.unit64(kCap);
  EXPECT_EQ((cap >> 24 & 0x3ff) * 16, 0x200u) << "fault records";
  EXPECT_EQ(cap >> 40 & 0xff, 7u);
  EXPECT_EQ(cap >> 8 & 0x1f, 6u) << "second levels of 39 and 48 bits";
  const uint64_t ecap = b_.unit64(kEcap);
  for (const unsigned bit : {1u, 24u, 26u, 29u, 40u}) EXPECT_EQ(ecap >> bit & 1, 1u) << bit;
  for (const unsigned bit : {2u, 3u, 28u}) EXPECT_EQ(ecap >> bit & 1, 0u) << bit;
  EXPECT_EQ((ecap >> 8 & 0x3ff) * 16, 0x100u) << "IOTLB registers";
  EXPECT_EQ(ecap >> 35 & 0x1f, 19u) << "PASIDs of 20 bits";
  for (const uint32_t control : {kFectl, kIectl, kPectl}) EXPECT_EQ(b_.unit(control), 1u << 31) << "masked";
  EXPECT_EQ(b_.unit(kGsts), 0u);
  b_.set_unit64(kCap, 0);
  EXPECT_EQ(b_.unit64(kCap), cap) << "read-only";
}

// The root pointer counts from its command on, and translation from its own.
TEST_P(SharedMemory, RootTableTakesEffectWithItsCommands) {
  COVERS("ICL-MODE-04");
  b_.map_shared(kAddress, b_.target);
  b_.set_unit64(kRtaddr, b_.root | kExtended);
  EXPECT_EQ(b_.unit(kGsts), 0u);
  b_.set_unit(kGcmd, kSrtp);
  EXPECT_EQ(b_.unit(kGsts), kSrtp);
  b_.set_unit64(kRtaddr, 0x5000 | kExtended);  // without the command: no effect
  b_.set_unit(kGcmd, kTe);
  EXPECT_EQ(b_.unit(kGsts), kSrtp | kTe);
  Context context = b_.store_context(1, 0x77);
  b_.run(context);
  EXPECT_EQ(b_.peek(b_.target), 0x77u);
  EXPECT_EQ(b_.unit(kFsts), 0u);
}

TEST_P(SharedMemory, ContextWithoutTranslationIsRefusedAndRecorded) {
  b_.map_shared(kAddress, b_.target);
  b_.set_message(kFectl, 0xfee0'2000, 0x61);
  Context context = b_.store_context(1, 0x77, 0);
  b_.run(context);
  EXPECT_EQ(b_.peek(b_.target), 0u);
  EXPECT_EQ(b_.unit(kFsts), kPpf) << "record 0";
  EXPECT_EQ(b_.messages(0x61), 1u);
  EXPECT_EQ(b_.unit64(0x200), 0x1000u) << "the batch";
  // Valid, read, PASID, reason 1 (no root entry), PASID present, source.
  EXPECT_EQ(b_.unit64(0x208), 1ull << 63 | 1ull << 62 | uint64_t{kPasid} << 40 | 1ull << 32 | 1ull << 31 | kSource);
  b_.set_unit64(0x208, 1ull << 63);
  EXPECT_EQ(b_.unit64(0x208) >> 63, 0u);
  EXPECT_EQ(b_.unit(kFsts), 0u);
}

// Each missing table has its own reason, and disabled fault processing leaves no record.
TEST_P(SharedMemory, RecordsNameTheTableThatFailed) {
  struct Case {
    uint64_t SharedMemoryBench::*table;
    uint64_t offset, value, reason;
  };
  for (const Case& c : {Case{&SharedMemoryBench::root, 0, 0, 1}, Case{&SharedMemoryBench::contexts, 16 * 32, 0, 2},
                        Case{&SharedMemoryBench::contexts, 16 * 32, 1, 3},
                        Case{&SharedMemoryBench::contexts, 16 * 32, 3 | 1u << 11, 0}}) {
    SharedMemoryBench b(GetParam());
    b.put(b.*c.table + c.offset, c.value);
    if (c.reason == 0) b.put(b.pasids + 8 * kPasid, 0);
    b.enable();
    b.run(b.store_context(1, 0x77, 0));
    EXPECT_EQ(b.unit(0x20c) & 0xff, c.reason);
    EXPECT_EQ(b.unit(0x20c) >> 31, c.reason != 0 ? 1u : 0u);
  }
}

TEST_P(SharedMemory, QueueExecutesEntriesUpToTheTail) {
  b_.enable();
  b_.enable_queue();
  EXPECT_EQ(b_.unit(kGsts), kTe | kSrtp | kQie);
  b_.set_message(kIectl, 0xfee0'3000, 0x71);
  const uint64_t status = b_.page();
  b_.push(1 | 1 << 4);                                   // context cache, global
  b_.push(2 | 1 << 4);                                   // IOTLB, global
  b_.push(5 | 1 << 5 | uint64_t{0xabcd} << 32, status);  // wait: write status
  EXPECT_EQ(b_.host.value_at<uint32_t>(status), 0xabcdu);
  EXPECT_EQ(b_.unit64(kIqh), 3u * 16);
  EXPECT_EQ(b_.unit(kIcs), 0u);
  b_.push(5 | 1 << 4);  // wait: interrupt
  EXPECT_EQ(b_.unit(kIcs), 1u);
  EXPECT_EQ(b_.messages(0x71), 1u);
  b_.push(5 | 1 << 4);
  EXPECT_EQ(b_.messages(0x71), 1u) << "not again before software has seen the first";
  b_.set_unit(kIcs, 1);
  EXPECT_EQ(b_.unit(kIcs), 0u);
  // Masked: the message waits for the mask.
  b_.set_unit(kIectl, 1u << 31);
  b_.push(5 | 1 << 4);
  EXPECT_EQ(b_.messages(0x71), 1u);
  EXPECT_EQ(b_.unit(kIectl), 3u << 30);
  b_.set_unit(kIectl, 0);
  EXPECT_EQ(b_.messages(0x71), 2u);
  EXPECT_EQ(b_.unit(kIectl), 0u);
  EXPECT_EQ(b_.host.messages.back().first, 0xfee0'3000u);
  // Software has seen the completion before it unmasks: no message.
  b_.set_unit(kIcs, 1);
  b_.set_unit(kIectl, 1u << 31);
  b_.push(5 | 1 << 4);
  EXPECT_EQ(b_.unit(kIectl), 3u << 30);
  b_.set_unit(kIcs, 1);
  EXPECT_EQ(b_.unit(kIectl), 1u << 31);
  b_.set_unit(kIectl, 0);
  EXPECT_EQ(b_.messages(0x71), 2u);
  // Around the end of the page.
  for (unsigned i = 0; i < 300; ++i) b_.push(5 | 1 << 5 | uint64_t{i} << 32, status + 8);
  EXPECT_EQ(b_.host.value_at<uint32_t>(status + 8), 299u);
  EXPECT_EQ(b_.unit64(kIqh), b_.next * 16);
}

// An entry that is wrong stops the queue at its place until software has mended it and cleared the error.
TEST_P(SharedMemory, WrongEntriesStopTheQueue) {
  b_.enable();
  b_.set_message(kFectl, 0xfee0'2000, 0x61);
  const uint64_t status = b_.page();
  const std::pair<uint64_t, uint64_t> wrong[] = {{0, 0},
                                                 {11, 0},
                                                 {3 | uint64_t{kSource} << 32, 0},  // device TLB
                                                 {4, 0},                            // interrupt entries
                                                 {1, 0},                            // no granularity
                                                 {1 | 1 << 4 | 1 << 6, 0},          // reserved bits
                                                 {5 | 1 << 5 | 1 << 8, 0},
                                                 {7, 1}};
  size_t count = 0;
  for (const auto& [low, high] : wrong) {
    b_.next = 0;
    b_.set_unit(kGcmd, kTe);
    b_.enable_queue();
    b_.push(low, high);
    EXPECT_EQ(b_.unit(kFsts) & kIqe, kIqe) << std::hex << low;
    EXPECT_EQ(b_.unit64(kIqh), 0u);
    EXPECT_EQ(b_.messages(0x61), ++count);
    b_.push(5 | 1 << 5 | uint64_t{count} << 32, status);
    EXPECT_NE(b_.host.value_at<uint32_t>(status), count) << "stopped";
    b_.put(b_.queue, 1 | 1 << 4);
    b_.put(b_.queue + 8, 0);
    b_.set_unit(kFsts, kIqe);
    EXPECT_EQ(b_.unit(kFsts), 0u);
    b_.set_unit64(kIqt, b_.next * 16);
    EXPECT_EQ(b_.host.value_at<uint32_t>(status), count);
  }
  // A tail outside the queue, and a queue outside memory.
  b_.set_unit64(kIqt, 256 * 16);
  EXPECT_EQ(b_.unit(kFsts) & kIqe, kIqe);
  b_.set_unit(kFsts, kIqe);
  b_.set_unit(kGcmd, kTe);
  b_.set_unit64(kIqa, b_.host.top);
  b_.set_unit64(kIqt, 16);
  b_.set_unit(kGcmd, kTe | kQie);
  EXPECT_EQ(b_.unit(kFsts) & kIqe, kIqe);
}

// While a context waits, its tables change. It sees the change after each invalidation that names its process, and not
// after those of others. (The unit may invalidate more pages than it is asked to.)
TEST_P(SharedMemory, InvalidationsMakeChangedTablesVisible) {
  struct Case {
    uint64_t low, high;
    bool seen;
  };
  const uint64_t pasid = uint64_t{kPasid} << 32;
  for (const Case& c :
       {Case{5 | 1 << 6, 0, false}, Case{6, 0, true}, Case{6 | 1 << 4, 0, true}, Case{6 | 2 << 4 | pasid, 0, true},
        Case{6 | 2 << 4 | pasid << 1, 0, false}, Case{6 | 3 << 4 | pasid, kAddress, true},
        Case{6 | 3 << 4 | pasid, kAddress | 1, true}, Case{2 | 1 << 4, 0, true}, Case{7, 0, true},
        Case{7 | 1 << 4 | pasid, 0, true}, Case{7 | 1 << 4 | pasid << 1, 0, false}, Case{1 | 1 << 4, 0, true},
        Case{1 | 3 << 4 | uint64_t{kSource} << 32, 0, true}, Case{1 | 3 << 4 | uint64_t{kSource + 1} << 32, 0, false},
        Case{1 | 3 << 4 | uint64_t{0x18} << 32, 0, false}}) {
    SharedMemoryBench b(GetParam());
    const uint64_t other = b.allocate(1), flag = b.allocate(1);
    b.map_shared(kAddress, b.target);
    b.enable();
    b.enable_queue();
    Context context = b.store_context(1, 1);
    const auto low = static_cast<uint32_t>(kAddress);
    const auto high = static_cast<uint32_t>(kAddress >> 32);
    b.poke(b.batch + 0x100, {0x1000'0002, low, high, 2, 0x0500'0000});
    b.emit(context, b.wait_for(flag, 1));
    b.emit(context, {0x1880'0101, 0x1100, 0});
    b.submit({&context});
    b.device->advance(50'000);
    ASSERT_EQ(b.peek(b.target), 1u);
    b.map_shared(kAddress, other);
    b.push(c.low, c.high);
    EXPECT_EQ(b.unit(kFsts), 0u);
    b.poke(flag, 1);
    EXPECT_TRUE(b.device->settle());
    EXPECT_EQ(b.peek(other), c.seen ? 2u : 0u) << std::hex << c.low << ' ' << c.high;
    EXPECT_EQ(b.peek(b.target), c.seen ? 1u : 2u) << std::hex << c.low << ' ' << c.high;
  }
}

// The commands in registers do the same, and show what they did.
TEST_P(SharedMemory, RegisterCommandsInvalidate) {
  for (const uint32_t offset : {kCcmd, 0x108u}) {
    b_.enable();
    const unsigned request = offset == kCcmd ? 61 : 60;
    const unsigned done = offset == kCcmd ? 59 : 57;
    b_.set_unit64(offset, 1ull << 63 | 1ull << request);
    EXPECT_EQ(b_.unit64(offset), 1ull << request | 1ull << done) << std::hex << offset;
  }
}

// A page that is missing becomes an entry of the queue. The answer lets the access happen.
TEST_P(SharedMemory, PageRequestIsQueuedAndItsAnswerResumesTheContext) {
  b_.enable();
  b_.enable_queue();
  b_.enable_requests();
  Context context = b_.store_context(1, 0x77);
  b_.submit({&context});
  b_.device->advance(100'000);
  EXPECT_EQ(b_.unit64(kPqt), 16u);
  EXPECT_EQ(b_.unit(kPrs), 1u);
  EXPECT_EQ(b_.messages(0x51), 1u);
  const uint64_t low = b_.get(b_.requests), high = b_.get(b_.requests + 8);
  EXPECT_EQ(low & 0xffff'ffff, uint64_t{kPasid} << 4 | 1u << 3 | 1u << 2) << "last of its group, with a PASID, bus 0";
  EXPECT_EQ(high, kAddress | kSource << 4 | 1u << 1) << "a write";
  EXPECT_EQ(b_.peek(b_.target + 0x800), 0u) << "the engine waits";
  b_.map_shared(kAddress, b_.target);
  // Group response: index and private data as in the request.
  b_.push(9 | 1u << 4 | uint64_t{kSource} << 16 | uint64_t{kPasid} << 32, low >> 32 << 32);
  EXPECT_TRUE(b_.device->settle());
  EXPECT_EQ(b_.peek(b_.target), 0x77u);
  EXPECT_EQ(b_.peek(b_.target + 0x800), 1u);
  EXPECT_EQ(b_.unit(kFsts), 0u);
  b_.set_unit(kPrs, 1);
  EXPECT_EQ(b_.unit(kPrs), 0u);
}

TEST_P(SharedMemory, RefusedPageRequestIsAFault) {
  b_.enable();
  b_.enable_queue();
  b_.enable_requests();
  Context context = b_.store_context(1, 0x77);
  b_.submit({&context});
  b_.device->advance(100'000);
  const uint64_t low = b_.get(b_.requests);
  // Answers to others change nothing.
  for (const auto& [source, pasid, index] : {std::tuple{0x18u, kPasid, low >> 32}, std::tuple{kSource, 6u, low >> 32},
                                             std::tuple{kSource, kPasid, (low >> 32) + (1u << 23)}}) {
    b_.host.log.clear();
    b_.push(9 | 1u << 4 | uint64_t{source} << 16 | uint64_t{pasid} << 32, index << 32);
    EXPECT_EQ(b_.host.log.count(EventKind::undefined_behaviour), 1u);
    b_.device->advance(100'000);
    EXPECT_EQ(b_.unit(kFsts), 0u);
  }
  b_.push(9 | 1u << 4 | uint64_t{kSource} << 16 | uint64_t{kPasid} << 32, low >> 32 << 32 | 1);
  EXPECT_TRUE(b_.device->settle());
  EXPECT_EQ(b_.peek(b_.target + 0x800), 0u);
  EXPECT_EQ(b_.unit(kFsts), kPpf);
  EXPECT_EQ(b_.unit64(0x200), kAddress);
  EXPECT_EQ(b_.unit64(0x208) >> 62, 2u) << "valid, a write";
}

// Fault and stream: the request asks for an answer of its own, and the engine does not wait for it.
TEST_P(SharedMemory, StreamedRequestIsAnsweredByAStreamResponse) {
  b_.enable();
  b_.enable_queue();
  b_.enable_requests();
  Context context = b_.store_context(1, 0x77, kStream);
  b_.run(context);
  EXPECT_EQ(b_.peek(b_.target + 0x800), 1u) << "the access was dropped";
  const uint64_t low = b_.get(b_.requests);
  EXPECT_EQ(low & 1, 1u);
  b_.map_shared(kAddress, b_.target);
  b_.push(10 | uint64_t{kPasid} << 4 | low >> 32 << 32, kAddress | kSource << 4);
  EXPECT_EQ(b_.unit(kFsts), 0u);
  b_.run(b_.store_context(2, 0x78, kStream));
  EXPECT_EQ(b_.peek(b_.target), 0x78u) << "the cached fault is gone";
}

// A request that finds the queue full waits, and the overflow is shown until software clears it.
TEST_P(SharedMemory, FullQueueHoldsRequestsBack) {
  b_.enable();
  b_.enable_queue();
  b_.enable_requests();
  b_.set_message(kFectl, 0xfee0'2000, 0x61);
  b_.set_unit64(kPqh, 16);  // one behind the tail
  Context context = b_.store_context(1, 0x77);
  b_.submit({&context});
  b_.device->advance(100'000);
  EXPECT_EQ(b_.unit(kFsts), kPro);
  EXPECT_EQ(b_.messages(0x61), 1u);
  EXPECT_EQ(b_.unit64(kPqt), 0u);
  b_.set_unit64(kPqh, 0);
  EXPECT_EQ(b_.unit64(kPqt), 0u) << "not before the overflow is cleared";
  b_.set_unit(kFsts, kPro);
  EXPECT_EQ(b_.unit64(kPqt), 16u);
  EXPECT_EQ(b_.get(b_.requests + 8) & ~uint64_t{0xfff}, kAddress);
  EXPECT_EQ(b_.unit(kFsts), 0u);
}

// Eight records; one fault more is an overflow. A fault that is still shown is not recorded twice.
TEST_P(SharedMemory, FaultsWithoutAFreeRecordOverflow) {
  b_.put(b_.contexts + 16 * 32, 1 | 1u << 11);  // no page requests
  b_.enable();
  for (unsigned i = 0; i < 10; ++i) {
    const uint64_t address = kAddress + 0x1000 * (i == 1 ? 0 : i);
    b_.run(b_.store_context(i + 1, 1, kHalt, address));
    const unsigned records = i == 0 ? 1 : i;
    for (unsigned record = 0; record < 8; ++record) {
      EXPECT_EQ(b_.unit64(0x208 + 16 * record) >> 63, record < records ? 1u : 0u) << i;
    }
    EXPECT_EQ(b_.unit(kFsts), i < 9 ? kPpf : kPpf | kPfo) << i;
    b_.write(0x941c, 2);
    b_.forget_statuses("rcs0");
    b_.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(b_.status_page("rcs0")));
    b_.set_reg("rcs0", ContextBench::kMode, 0x8000'8000);
  }
  b_.set_unit(kFsts, kPfo);
  EXPECT_EQ(b_.unit(kFsts), kPpf);
}

// Modes 0 and 2 of the descriptor: the process's tables, without and with accessed and dirty bits.
TEST_P(SharedMemory, DescriptorSelectsAccessedAndDirtyBits) {
  COVERS("DG1-EL-09");
  for (const bool managed : {false, true}) {
    SharedMemoryBench b(GetParam());
    b.map_shared(kAddress, b.target);
    b.enable();
    b.run(b.store_context(1, 0x77, kHalt | (managed ? 1u << 4 : 0u)));
    EXPECT_EQ(b.peek(b.target), 0x77u);
    EXPECT_EQ(b.get(b.entry_of(kAddress)) >> 5 & 3, managed ? 3u : 0u);
    EXPECT_EQ(b.get(b.entry_of(0x1000)) >> 5 & 3, managed ? 1u : 0u) << "read only";
  }
}

// A reset of the graphics function leaves the unit alone; a snapshot holds it.
TEST_P(SharedMemory, UnitSurvivesFunctionResetsAndSnapshots) {
  COVERS("ICL-GAM-13");
  b_.map_shared(kAddress, b_.target);
  b_.enable();
  b_.enable_queue();
  const device::DeviceState saved = b_.device->snapshot();
  b_.set_unit(kGcmd, 0);
  b_.set_unit64(kRtaddr, 0);
  EXPECT_EQ(b_.unit(kGsts), kSrtp);
  b_.device->restore(saved);
  EXPECT_EQ(b_.unit(kGsts), kTe | kSrtp | kQie);
  b_.run(b_.store_context(1, 0x77));
  EXPECT_EQ(b_.peek(b_.target), 0x77u);
  b_.device->reset(device::ResetKind::function_level);
  EXPECT_EQ(b_.unit(kGsts), kTe | kSrtp | kQie);
  EXPECT_EQ(b_.unit64(kRtaddr), b_.root | kExtended);
  b_.device->reset(device::ResetKind::power_on);
  EXPECT_EQ(b_.unit(kGsts), 0u);
  EXPECT_EQ(b_.unit64(kRtaddr), 0u);
}

// Anything may be written anywhere, and every table and queue may point anywhere, also at the unit's own tables.
TEST_P(SharedMemory, HostileRegistersAndQueuesAreSafe) {
  std::mt19937_64 random(1);
  b_.map_shared(kAddress, b_.target);
  b_.enable();
  b_.enable_queue();
  b_.enable_requests();
  const uint64_t stolen = b_.device->memory_layout().dsm_base;
  for (unsigned i = 0; i < 20'000; ++i) {
    const auto offset = static_cast<uint32_t>(random() % 0x300);
    const unsigned bytes = random() % 8 == 0 ? static_cast<unsigned>(random() % 9) : 4u << random() % 2;
    const uint64_t places[] = {random(), b_.queue, b_.requests, b_.root, stolen, b_.contexts | kExtended, 1ull << 63};
    b_.device->iommu_write(offset & ~(random() % 4 == 0 ? 0u : 7u), bytes, places[random() % std::size(places)]);
    static_cast<void>(b_.device->iommu_read(offset, bytes));
    b_.put(b_.queue + random() % 512 * 8, random() % 2 == 0 ? random() : random() % 256);
    if (i % 1000 == 0) {
      Context context = b_.store_context(i / 1000 + 1, 1, i % 2000 == 0 ? kHalt : kStream);
      b_.submit({&context});
      b_.device->advance(50'000);
      b_.host.log.clear();
    }
  }
}

// No queue leads to memory that only the device may write.
TEST(IommuAccess, StolenMemoryIsNotWritten) {
  device::DeviceOptions options;
  options.stolen_base = 0xa000'0000;
  SharedMemoryBench b("icl", options);
  b.map(0x500, 0xa001'0000);
  b.enable();
  b.enable_queue();
  for (const uint64_t address : {uint64_t{0xa001'0000}, uint64_t{0x9fff'fffc}, b.host.top}) {
    b.host.log.clear();
    b.push(5 | 1 << 5 | uint64_t{0x5a5a'5a5a} << 32, address);
    EXPECT_EQ(b.host.log.count(EventKind::unmapped_memory), 1u) << std::hex << address;
  }
  EXPECT_EQ(b.aperture(0x50'0000), 0u);
  b.set_unit64(kPqa, 0xa001'0000);
  Context context = b.store_context(1, 1);
  b.submit({&context});
  b.host.log.clear();
  b.device->advance(100'000);
  EXPECT_EQ(b.host.log.count(EventKind::unmapped_memory), 1u) << "the request is lost";
  EXPECT_EQ(b.aperture(0x50'0000), 0u);
  EXPECT_EQ(b.unit(kFsts), 0u);
}

TEST(IommuAccess, WrongSizesAndPlacesAreReported) {
  SharedMemoryBench b("icl");
  for (const auto& [offset, bytes] : {std::pair{0x20u, 1u}, {0x20u, 2u}, {0x24u, 8u}, {0x21u, 4u}, {0x1000u, 4u}}) {
    b.host.log.clear();
    EXPECT_EQ(b.device->iommu_read(offset, bytes), 0u);
    b.device->iommu_write(offset, bytes, ~0ull);
    EXPECT_EQ(b.host.log.count(EventKind::bad_access), 2u) << offset;
  }
  b.host.log.clear();
  EXPECT_EQ(b.device->iommu_read(0x58, 4), 0u);
  EXPECT_EQ(b.host.log.count(EventKind::unclaimed_register), 1u);
  b.host.log.clear();
  b.set_unit(kGcmd, 1u << 25);
  EXPECT_EQ(b.host.log.count(EventKind::unsupported), 1u) << "interrupt remapping";
}

TEST(IommuAccess, ChipsWithoutAdvancedContextsHaveNoUnit) {
  ContextBench b("bdw");
  EXPECT_EQ(b.device->iommu_read(kVer, 4), 0xffff'ffffu);
}

INSTANTIATE_TEST_SUITE_P(Chips, SharedMemory, ::testing::Values("skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
