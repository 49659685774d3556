// Interrupt handlers of drivers, in the step order of Linux i915, with events between any two steps. After each event
// the handler must see the engine once more; otherwise a waiter would sleep forever. Interrupts are MSI: only rising
// edges are delivered.
#include "unit/interrupt/bench.h"

#include <map>
#include <random>

#include "covers.h"

namespace halogen::interrupt {
namespace {

// A driver that handles random interrupts. The clock counts register reads and events; an event counts as delivered if
// the handler saw its engine at a later time.
class DriverModel {
 public:
  DriverModel(std::string_view device, std::vector<std::string> engines, unsigned seed)
      : bench(device), engines_(std::move(engines)), random_(seed) {}
  virtual ~DriverModel() = default;

  void run(unsigned rounds) {
    install();
    for (unsigned round = 0; round < rounds; ++round) {
      maybe_raise(2);
      drain();
    }
    for (const std::string& engine : engines_) {
      if (raised_.contains(engine)) {
        EXPECT_GT(seen_[engine], raised_[engine]) << engine;
      }
    }
    EXPECT_FALSE(bench.level);
    EXPECT_EQ(bench.log.events().size(), 0u)
        << (bench.log.events().empty() ? "" : bench.log.events().front().to_string());
  }

 protected:
  virtual void install() = 0;
  virtual void handler() = 0;

  uint32_t read(uint32_t offset) {
    maybe_raise(6);
    ++clock_;
    return bench.read(offset);
  }
  void write(uint32_t offset, uint32_t value) {
    maybe_raise(6);
    bench.write(offset, value);
  }
  void saw(const std::string& engine) { seen_[engine] = clock_; }

  InterruptBench bench;

 private:
  void maybe_raise(unsigned one_in) {
    if (random_() % one_in == 0) {
      const std::string& engine = engines_[random_() % engines_.size()];
      raised_[engine] = clock_++;
      bench.user(engine);
    }
  }
  void drain() {
    while (handled_ < bench.rises) {
      handled_ = bench.rises;  // a message that arrives while the handler runs makes it run once more
      handler();
    }
  }

  std::vector<std::string> engines_;
  std::mt19937 random_;
  uint64_t clock_ = 1;
  unsigned handled_ = 0;
  std::map<std::string, uint64_t> raised_;
  std::map<std::string, uint64_t> seen_;
};

class Snb final : public DriverModel {
 public:
  explicit Snb(unsigned seed) : DriverModel("snb", {"rcs0", "vcs0", "bcs0"}, seed) {}
  void install() override {
    bench.write(0x20a8, ~1u);
    bench.write(0x120a8, ~(1u << 12));
    bench.write(0x220a8, ~(1u << 22));
    bench.write(0x44014, ~kAll);
    bench.write(0x4401c, kAll);
    bench.write(0x4400c, 1u << 31);
  }
  void handler() override {
    write(0x4400c, 0);
    const uint32_t iir = read(0x44018);
    if (iir != 0) {
      write(0x44018, iir);
      if ((iir & 1u) != 0) saw("rcs0");
      if ((iir & 1u << 12) != 0) saw("vcs0");
      if ((iir & 1u << 22) != 0) saw("bcs0");
    }
    write(0x4400c, 1u << 31);
  }

 private:
  static constexpr uint32_t kAll = 1u | 1u << 12 | 1u << 22;
};

class Bdw final : public DriverModel {
 public:
  Bdw(std::string_view device, unsigned seed) : DriverModel(device, {"rcs0", "bcs0", "vcs0", "vecs0"}, seed) {}
  void install() override {
    bench.write(0x20a8, ~1u);
    bench.write(0x220a8, ~(1u << 16));
    bench.write(0x120a8, ~1u);
    bench.write(0x1a0a8, ~1u);
    for (const uint32_t bank : {0u, 1u, 3u}) {
      bench.write(0x44304 + 0x10 * bank, ~0x10001u);
      bench.write(0x4430c + 0x10 * bank, 0x10001u);
    }
    bench.write(0x44200, 1u << 31);
  }
  // Wakes the waiters before it clears the bits that it read.
  void handler() override {
    write(0x44200, 0);
    const uint32_t master = read(0x44200);
    if ((master & 3u) != 0) serve(0, "rcs0", "bcs0");
    if ((master & 0xcu) != 0) serve(1, "vcs0", "");
    if ((master & 0x40u) != 0) serve(3, "vecs0", "");
    write(0x44200, 1u << 31);
  }

 private:
  void serve(unsigned bank, const char* low, const char* high) {
    const uint32_t iir = read(0x44308 + 0x10 * bank);
    if ((iir & 1u) != 0) saw(low);
    if ((iir & 1u << 16) != 0) saw(high);
    write(0x44308 + 0x10 * bank, iir);
  }
};

class Icl : public DriverModel {
 public:
  Icl(std::string_view device, unsigned seed) : DriverModel(device, {"rcs0", "bcs0", "vcs0", "vcs2", "vecs0"}, seed) {}
  void install() override {
    bench.write(0x190030, 0x0001'0001);
    bench.write(0x190034, 0x0001'0001);
    for (const uint32_t mask : {0x190090u, 0x1900a0u, 0x1900a8u, 0x1900acu, 0x1900d0u}) {
      bench.write(mask, ~0x0001'0001u);
    }
    bench.write(0x190010, 1u << 31);
  }
  void handler() override {
    write(0x190010, 0);
    serve(read(0x190010));
    write(0x190010, 1u << 31);
  }

 protected:
  void serve(uint32_t master) {
    for (uint32_t bank = 0; bank < 2; ++bank) {
      if ((master & 1u << bank) == 0) {
        continue;
      }
      const uint32_t dword = read(0x190018 + 4 * bank);
      for (unsigned bit = 0; bit < 32; ++bit) {
        if ((dword & 1u << bit) != 0) {
          write(0x190070 + 4 * bank, 1u << bit);
          const uint32_t identity = read(0x190060 + 4 * bank);
          EXPECT_NE(identity & 1u << 31, 0u) << "valid";
          write(0x190060 + 4 * bank, 1u << 31);
          if ((identity & 1u) != 0) saw(name(identity >> 16 & 7, identity >> 20 & 63));
        }
      }
      write(0x190018 + 4 * bank, dword);
    }
  }

 private:
  static std::string name(uint32_t engine_class, uint32_t instance) {
    constexpr std::string_view kNames[] = {"rcs", "vcs", "vecs", "bcs", "other", "ccs", "", ""};
    return std::string(kNames[engine_class]) + std::to_string(instance);
  }
};

class Dg1 final : public Icl {
 public:
  explicit Dg1(unsigned seed) : Icl("dg1", seed) {}
  void install() override {
    Icl::install();
    bench.write(0x190010, 0);
    bench.write(0x190008, 1u << 31);
  }
  void handler() override {
    write(0x190008, 0);
    const uint32_t tiles = read(0x190008);
    if (tiles != 0) {
      write(0x190008, tiles);
      const uint32_t master = read(0x190010);
      write(0x190010, master);
      serve(master);
    }
    write(0x190008, 1u << 31);
  }
};

TEST(Driver, EveryUserInterruptIsSeenOnSandyBridge) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Snb(seed).run(200);
  }
}

TEST(Driver, EveryUserInterruptIsSeenOnBroadwellAndLater) {
  for (const char* device : {"bdw", "chv", "skl"}) {
    for (unsigned seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(device + std::to_string(seed));
      Bdw(device, seed).run(200);
    }
  }
}

TEST(Driver, EveryUserInterruptIsSeenOnIceLakeAndTigerLake) {
  COVERS("DG1-IRQ-08");
  for (const char* device : {"icl", "tgl"}) {
    for (unsigned seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(device + std::to_string(seed));
      Icl(device, seed).run(200);
    }
  }
}

TEST(Driver, EveryUserInterruptIsSeenOnDg1) {
  COVERS("DG1-IRQ-08");
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Dg1(seed).run(200);
  }
}

}  // namespace
}  // namespace halogen::interrupt
