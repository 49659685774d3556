// Shared functions have the numbers of the manual, and threads access memory only through data ports:
// docs/requirements/notes.md, SF-01 and SF-02.
#include <map>
#include <random>
#include <set>

#include "covers.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

// An entry for every handle.
class OneEntry final : public Urb {
 public:
  std::span<uint32_t> entry(eu::Thread& /*thread*/, uint32_t /*handle*/) override { return dwords; }
  std::array<uint32_t, 64> dwords{};
};

class Functions : public MessageBench {
 protected:
  Functions() {
    map_low();
    environment_.urb = &urb_;
    begin();
  }
  bool since(spec::GenId gen) const { return model_.gen >= gen; }
  eu::Message message(uint8_t number, uint32_t descriptor) {
    eu::Message made;
    made.function = number;
    made.descriptor = descriptor;
    made.first = thread_.registers(kPayload, descriptor >> 25 & 15);
    made.response = thread_.registers(kResponse, descriptor >> 20 & 31);
    made.channels = 0xff;
    made.exec_size = 8;
    return made;
  }
  // Returns the names of the called functions, without their operations.
  static std::set<std::string> called(const SharedFunctions& functions) {
    FidelityReport report;
    functions.report(report);
    std::set<std::string> names;
    for (const auto& [key, entry] : report.entries()) {
      names.insert(key.second.substr(0, key.second.find(' ')));
    }
    return names;
  }
  // Returns the functions of this generation by number. The notes know no others.
  std::map<uint8_t, std::string> numbers() const {
    std::map<uint8_t, std::string> all{{0, "null"}, {2, "smpl"}, {3, "gtwy"}, {6, "urb"}, {7, "ts"}};
    if (!since(spec::GenId::gen6)) {
      all.insert({{4, "dprd"}, {5, "dpwr"}});
    } else {
      all.insert({{5, "rc"}, {9, "dcro"}});
      all[4] = since(spec::GenId::gen7_5) ? "dc2" : "dpsc";
    }
    if (since(spec::GenId::gen7)) {
      all.insert({{10, "dc0"}, {11, "pixi"}});
    }
    if (since(spec::GenId::gen7_5)) {
      all[12] = "dc1";
    }
    return all;
  }
  OneEntry urb_;
};

TEST_P(Functions, FunctionCodesMatchTheManual) {
  COVERS("NOTES-SF-01");
  for (const auto& [number, name] : numbers()) {
    SharedFunctions fresh;
    fresh.begin(generation_, environment_);
    fresh.send(thread_, message(number, 2u << 25 | 1u << 20 | 1u << 19));
    EXPECT_EQ(called(fresh), (std::set{name})) << unsigned{number};
  }
}

// Each message has an effect that only its function has.
TEST_P(Functions, FunctionsPerformTheirMessages) {
  COVERS("NOTES-SF-01");
  // The null function returns zeros.
  grf(kResponse, 3) = 77;
  EXPECT_EQ(send(0, 1u << 25 | 1u << 20, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 3), 0u);
  // The return buffer writes dwords to an entry. Gen4 to Gen6 need a flag. Other sub-functions: urb_test.cpp.
  grf(kPayload + 1, 0) = 0x1234;
  const uint32_t used = since(spec::GenId::gen7) ? 7 : 1u << 14;
  EXPECT_EQ(send(6, 2u << 25 | 1u << 19 | used, 1, 8), SendOutcome::done);
  EXPECT_EQ(urb_.dwords[0], 0x1234u);
  // The gateway handles barriers of groups (Gen7 and later).
  if (since(spec::GenId::gen7)) {
    EXPECT_EQ(send(3, 1u << 25 | 4, 0xff, 8), SendOutcome::done);
    EXPECT_EQ(group_.arrived, 1u);
  }
  // The spawner ends threads. A request to start another thread raises an Event.
  eu::Message last = message(7, 1u << 25 | 1u << 4);
  last.end_of_thread = true;
  const size_t before = log_.events().size();
  EXPECT_EQ(functions_.send(thread_, last), SendOutcome::done);
  EXPECT_EQ(log_.events().size(), before);
  last.end_of_thread = false;
  EXPECT_EQ(functions_.send(thread_, last), SendOutcome::done);
  EXPECT_EQ(log_.events().size(), before + 1);
}

// Random messages to each function change memory only if the function is a data port.
TEST_P(Functions, OnlyDataPortsWriteMemory) {
  COVERS("NOTES-SF-02");
  std::mt19937 random(7);
  const auto any = [&] { return static_cast<uint32_t>(random()); };
  const std::set<std::string> ports{"dprd", "dpwr", "dpsc", "rc", "dcro", "dc0", "dc1", "dc2"};
  size_t writers = 0;
  for (const auto& [number, name] : numbers()) {
    for (uint8_t index = 0; index < 8; ++index) {
      if (since(spec::GenId::gen7)) {
        bind_raw(index, 0x1'0000u * index, 0x8000);
      } else {
        bind(index, {4u << 29, 0x1'0000u * index, 0x7fu << 6 | 15u << 19, 15u << 3, 0, 0});
      }
    }
    const std::span reached = memory_.bytes();
    const std::vector<std::byte> before(reached.begin(), reached.end());
    for (unsigned turn = 0; turn < 250; ++turn) {
      for (size_t reg = 0; reg < 6; ++reg) {
        for (size_t i = 0; i < 8; ++i) {
          grf(kPayload + reg, i) = any() % 4 == 0 ? any() : any() % 0x400;
        }
      }
      const uint32_t length = 1 + any() % 6;
      const uint32_t control = (any() & 0x7'ff00) | any() % 8;
      send(number, length << 25 | (any() % 5) << 20 | 1u << 19 | control, any() & 0xffff, any() % 2 == 0 ? 8 : 16);
    }
    const bool changed = std::memcmp(reached.data(), before.data(), before.size()) != 0;
    if (!ports.contains(name)) {
      EXPECT_FALSE(changed) << name;
    }
    writers += changed ? 1 : 0;
    std::memcpy(reached.data(), before.data(), before.size());
  }
  EXPECT_GE(writers, 1u) << "at least one function writes memory";
}

INSTANTIATE_TEST_SUITE_P(Chips, Functions, testing::Values("i965", "g45", "snb", "bdw", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
