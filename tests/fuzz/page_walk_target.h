// Page tables with a hostile guest: any device and mode, tables of random entries whose bits the input flips, roots
// anywhere, accesses of any size and address, invalidations, memory that moves. Every frame is a separate heap block,
// so that the sanitizers see accesses outside; every access is compared with the slow walker of the unit tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "fuzz/input.h"
#include "unit/memory/table_world.h"

namespace halogen::fuzz {

class PageWalk final : private Input {
 public:
  explicit PageWalk(std::span<const uint8_t> data) : Input(data) {}

  void run() {
    static const std::vector<memory::worlds::WorldKind> kKinds = memory::worlds::all_kinds();
    const memory::worlds::WorldKind& kind = kKinds[take<uint8_t>() % kKinds.size()];
    constexpr unsigned kTlbEntries[] = {1, 2, 7, 32, 64, 256, 448, 768};
    memory::worlds::World world(kind, take<uint16_t>());
    memory::worlds::SpaceTwin twin(world, kTlbEntries[take<uint8_t>() % 8], take<uint8_t>());
    constexpr unsigned kSteps = 96;
    for (unsigned step = 0; step < kSteps && !empty(); ++step) {
      demand(do_step(world, twin), kind);
    }
    demand(world.compare_memory(), kind);
  }

 private:
  size_t take_size() {
    const auto kind = take<uint8_t>();
    return kind < 0xe0 ? kind % size_t{65} : take<uint16_t>() % size_t{12'000};
  }
  uint64_t take_address(const memory::worlds::World& world) {
    const auto how = take<uint8_t>();
    uint64_t address = 0;
    if (how < 16) {
      address = take<uint64_t>();
    } else if (how < 96) {
      address = world.in_range(take<uint64_t>());
    } else if (how < 128) {
      address = (last_ | 0xfff) - take<uint8_t>() % 32;
    } else {
      address = last_ + static_cast<uint64_t>(int64_t{take<int16_t>()} * (how < 192 ? 1 : 4096));
    }
    last_ = address;
    return address;
  }
  std::vector<std::byte> take_bytes(size_t count) {
    std::vector<std::byte> data(count, static_cast<std::byte>(take<uint8_t>()));
    for (size_t at = 0; at < count && at < 16; ++at) {
      data[at] = static_cast<std::byte>(take<uint8_t>());
    }
    return data;
  }
  std::vector<GpuVa> take_addresses(const memory::worlds::World& world) {
    std::vector<GpuVa> addresses;
    for (unsigned i = take<uint8_t>() % 70; i > 0; --i) {
      addresses.push_back(GpuVa(take_address(world)));
    }
    return addresses;
  }

  // Changes bits of an entry on the walk to an address, with or without an invalidation of the caches.
  void flip_entry(memory::worlds::World& world, memory::worlds::SpaceTwin& twin, bool tell) {
    const memory::slow::Outcome way = world.expect(take_address(world), {}, false);
    if (way.entries.empty()) {
      return;
    }
    const uint64_t entry = way.entries[take<uint8_t>() % way.entries.size()];
    const auto how = take<uint8_t>();
    const uint64_t bits = how < 192 ? uint64_t{1} << how % 64 : take<uint64_t>();
    world.flip(world.slow_context().table_space, entry, bits);
    if (tell) {
      twin.space().invalidate();
    } else {
      // Cached entries may be stale: only checks that nothing breaks, then makes both sides equal.
      std::vector<std::byte> bytes(take_size());
      static_cast<void>(twin.space().read(GpuVa(take_address(world)), bytes));
      twin.space().view(GpuVa(take_address(world)), {});
      twin.space().load_value<uint32_t>(GpuVa(take_address(world)));
      twin.space().invalidate();
      world.adopt();
    }
  }

  static memory::Access access_of(uint8_t how) {
    return {.direction = (how & 1) != 0 ? memory::Direction::write : memory::Direction::read,
            .instruction = (how & 2) != 0};
  }

  std::string do_step(memory::worlds::World& world, memory::worlds::SpaceTwin& twin) {
    switch (take<uint8_t>() % 16) {
      case 0:
      case 1: {
        const uint64_t address = take_address(world);
        return twin.write(address, take_bytes(take_size()));
      }
      case 2: {
        const uint64_t address = take_address(world);
        const auto how = take<uint8_t>();
        return twin.view(address, access_of(how));
      }
      case 3:
        twin.space().invalidate();
        return {};
      case 4:
        twin.space().invalidate_page(GpuVa(take_address(world)));
        return {};
      case 5:
        return twin.read_each(take_addresses(world), take_size() % 128);
      case 6: {
        const std::vector<GpuVa> addresses = take_addresses(world);
        const size_t bytes = take_size() % 128;
        return twin.write_each(addresses, bytes, take_bytes(bytes * addresses.size()));
      }
      case 7:
      case 8:
        flip_entry(world, twin, true);
        return {};
      case 9:
        flip_entry(world, twin, false);
        return {};
      case 10:
        world.set_root(take<uint8_t>(), take<uint64_t>() >> take<uint8_t>() % 64);
        twin.reload();
        return {};
      case 11:
        world.move_frames();
        return {};
      case 12:
        twin.set_action(take<uint8_t>() % 2 == 0 ? memory::FaultAction::skip : memory::FaultAction::stop);
        return {};
      case 13: {
        const auto how = take<uint8_t>();
        const uint64_t address = take_address(world);
        return memory::worlds::compare_walk(world, address, access_of(how));
      }
      default: {
        const uint64_t address = take_address(world);
        const bool instruction = take<uint8_t>() % 4 == 0;
        return twin.read(address, take_size(), instruction);
      }
    }
  }

  void demand(const std::string& difference, const memory::worlds::WorldKind& kind) {
    if (!difference.empty()) {
      std::fprintf(stderr, "%s: %s\n", memory::worlds::name_of(kind).c_str(), difference.c_str());
      std::abort();
    }
  }

  uint64_t last_ = 0;
};

inline void page_walk(std::span<const uint8_t> data) {
  PageWalk(data).run();
}

}  // namespace halogen::fuzz
