// Hostile software: memory full of random entries, random descriptors, registers and accesses. The model must not
// crash, hang or access memory outside the windows, and the number of reports is limited.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gam_bench.h"
#include "memory/trtt.h"

namespace halogen::memory::rows {
namespace {

class RandomGam : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomGam, SurvivesRandomTablesAndRegisters) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  std::mt19937_64 random(GetParam());
  const char* devices[] = {"bdw", "skl", "icl", "tgl", "dg1"};
  const spec::DeviceModel& model = *spec::find_device(devices[random() % std::size(devices)]);
  constexpr uint64_t kBytes = 64 * kFrameBytes;
  std::vector<std::byte> bytes(kBytes);
  // Entries that mostly point into memory, with random low bits.
  for (uint64_t at = 0; at < kBytes; at += 8) {
    uint64_t entry = (random() % kBytes) & ~uint64_t{0xfff};
    entry |= random() & 0xfff & (random() % 4 == 0 ? 0xfffu : 0xf67u);
    entry |= random() % 16 == 0 ? random() : 0;
    entry |= random() % 8 == 0 ? 0u : 1u;
    std::memcpy(bytes.data() + at, &entry, 8);
  }
  FlatFrames frames(bytes);
  PhysicalMemory memory;
  memory.add({MemorySpace::system, MemoryKind::ram, 0, kBytes, &frames});
  const PageFormats formats(model, model.physical_bits);
  EventLog events;
  TlbSet tlbs(model);
  MemoryTypes types(model);
  VtdUnit vtd(model, memory, {});
  FaultUnit faults(model, {.queue_entries = 3}, events, "gpu0");
  Gam gam(model, {formats, tlbs, faults, types, vtd}, events, "gpu0");
  TlbInvalidation invalidation(model, gam);
  TrttRegisters trtt(model, events, "gpu0");
  EngineFaults handler(faults, 0);
  AddressSpace space(memory, tlbs.of(TlbClient::l3), 1, handler);
  TiledResources tiles(trtt, 0, space);
  gam.attach(0, space);
  space.set_pre_translation(&tiles);
  WalkContext global;
  global.format = formats.find(WalkMode::ggtt);
  global.entries = 512;
  gam.set_global(global);

  // A valid path to PASID 1, so that advanced contexts often start; their page tables are random.
  const auto put = [&](uint64_t at, uint64_t value) { std::memcpy(bytes.data() + at, &value, 8); };
  const auto plant = [&] {
    put(0x1000, 0x2001);
    const auto entry = VtdBench::base_context();
    for (unsigned i = 0; i < 4; ++i) {
      put(0x2000 + 16 * 32 + 8 * i, entry[i]);
    }
    put(0x2000 + 16 * 32, entry[0] | (random() % 2 != 0 ? kCtxNeste | 0x4000 : 0) | kCtxDinve);
    put(0x2000 + 16 * 32 + 16, 0x5000 | (random() % 16));
    put(0x2000 + 16 * 32 + 24, 0x6000);
    put(0x5008, (random() % kBytes & ~uint64_t{0xfff}) | 1);
  };
  std::vector<spec::RegisterId> registers;
  for (const spec::RegisterDesc* desc : spec::registers()) {
    if (trtt.owns(desc->id)) {
      registers.push_back(desc->id);
    }
  }
  for (int step = 0; step < 400; ++step) {
    switch (random() % 12) {
      case 0:
        plant();
        vtd.set_root(0x1000 | bit_at(11));
        break;
      case 1:
        vtd.set_root(random() % kBytes | (random() & bit_at(11)));
        break;
      case 2:
      case 3: {
        gam.on_message(0, 0x1'0001);
        gam.write_descriptor(0, 0, random() & ~uint64_t{0xe00});
        gam.write_descriptor(0, 1, random() % 2 == 0 ? 1 : random() % kBytes);
        for (unsigned part = 2; part < 5; ++part) {
          gam.write_descriptor(0, part, random() % kBytes);
        }
        gam.on_message(0, 0x2'0002);
        break;
      }
      case 4:
        if (!registers.empty()) {
          const uint32_t values[] = {0xff, 3, 1, static_cast<uint32_t>(random() % kBytes),
                                     static_cast<uint32_t>(random())};
          trtt.write(registers[random() % registers.size()], static_cast<unsigned>(random() % 10),
                     static_cast<unsigned>(random() % 2), values[random() % std::size(values)]);
        }
        break;
      case 5:
        gam.invalidate({static_cast<DirectedInvalidation::Level>(random() % 4), std::nullopt, std::nullopt, random()});
        break;
      case 6: {
        const auto& sent = faults.state().outstanding;
        const PageRequest request = sent.empty() || random() % 4 == 0
                                        ? PageRequest{.pasid = 1, .address = random() % kBytes}
                                        : sent[random() % sent.size()];
        (void)gam.page_response({request.pasid, request.address, random() % 2 == 0});
        break;
      }
      case 7:
        (void)gam.reset_engine(0);
        break;
      case 8:
        gam.flush(0);
        break;
      default:
        for (int i = 0; i < 8; ++i) {
          uint64_t va = random() % 4 == 0 ? random() : random() % (uint64_t{1} << (12 + random() % 37));
          va = random() % 4 == 0 ? va | 0xffff'f000'0000'0000 : va;
          if (random() % 2 == 0) {
            (void)space.load_value<uint64_t>(GpuVa(va));
          } else {
            (void)space.store_value<uint32_t>(GpuVa(va), static_cast<uint32_t>(random()));
          }
          const Direction direction = random() % 2 == 0 ? Direction::write : Direction::read;
          (void)space.view(GpuVa(va), {direction, random() % 4 == 0});
        }
        break;
    }
    ASSERT_LE(faults.outstanding(), 3u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGam, ::testing::Range<uint64_t>(1, 61));

}  // namespace
}  // namespace halogen::memory::rows
