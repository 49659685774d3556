#include "base/event.h"

#include <gtest/gtest.h>

#include "base/fidelity.h"
#include "base/json.h"
#include "base/probe.h"

namespace halogen {
namespace {

TEST(Event, PrintsOneLineWithPathFirst) {
  const Event event{EventKind::unknown_command, "", "gpu0.rcs0", 0x1000, 0x7fff0000, "type 3"};
  EXPECT_EQ(event.to_string(), "gpu0.rcs0 unknown_command address=0x1000 value=0x7fff0000 detail=\"type 3\"");
}

TEST(EventLog, CountsEventsByKind) {
  EventLog log;
  log.on_event({EventKind::fault, "", "gpu0", 1, 0, ""});
  log.on_event({EventKind::fault, "", "gpu0", 2, 0, ""});
  log.on_event({EventKind::reserved_bits, "", "gpu0", 3, 0, ""});
  EXPECT_EQ(log.count(EventKind::fault), 2u);
  EXPECT_EQ(log.count(EventKind::unsupported), 0u);
}

TEST(Probe, IsInactiveBeforeAndAfterASubscription) {
  Probe<int, int> probe;
  EXPECT_FALSE(probe.watched());
  int sum = 0;
  {
    const auto first = probe.listen([&](int a, int b) { sum += a * b; });
    const auto second = probe.listen([&](int a, int) { sum += a; });
    EXPECT_TRUE(probe.watched());
    probe(3, 5);
    EXPECT_EQ(sum, 18);
  }
  EXPECT_FALSE(probe.watched());
  probe(3, 5);
  EXPECT_EQ(sum, 18);
}

TEST(Probe, CopiesHaveNoListeners) {
  Probe<int> probe;
  int seen = 0;
  const auto subscription = probe.listen([&](int value) { seen = value; });
  const Probe<int> copy = probe;
  copy(1);
  EXPECT_EQ(seen, 0);
  probe(2);
  EXPECT_EQ(seen, 2);
}

TEST(Fidelity, WorstClassIsKeptWithItsReason) {
  FidelityReport report;
  report.touch(FidelityKind::command, "MI_NOOP", FidelityClass::exact);
  report.touch(FidelityKind::command, "PIPE_CONTROL", FidelityClass::approximate, "no cache model");
  report.touch(FidelityKind::command, "PIPE_CONTROL", FidelityClass::exact);
  const auto& entry = report.entries().at({FidelityKind::command, "PIPE_CONTROL"});
  EXPECT_EQ(entry.count, 2u);
  EXPECT_EQ(entry.fidelity, FidelityClass::approximate);
  EXPECT_EQ(entry.reason, "no cache model");
  EXPECT_EQ(report.to_json("dg1"),
            "{\"device\":\"dg1\",\"summary\":{\"exact\":1,\"approximate\":1,\"unsupported\":0},\"commands\":["
            "{\"name\":\"MI_NOOP\",\"count\":1,\"class\":\"exact\"},"
            "{\"name\":\"PIPE_CONTROL\",\"count\":2,\"class\":\"approximate\",\"reason\":\"no cache model\"}"
            "],\"instructions\":[],\"messages\":[],\"registers\":[],\"fields\":[]}\n");
}

TEST(Json, QuotesControlBytesAndReplacesBadUtf8) {
  EXPECT_EQ(json_quote("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
  EXPECT_EQ(json_quote("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(json_quote("\xc3("), "\"\\ufffd(\"");
  EXPECT_EQ(json_quote("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

}  // namespace
}  // namespace halogen
