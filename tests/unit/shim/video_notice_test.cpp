// The line on stderr of a program that asks for video work.
#include "video_notice.h"

#include <gtest/gtest.h>

#include <string>

namespace halogen::shim {
namespace {

Event event_of(EventKind kind, std::string_view detail) {
  return {.kind = kind, .item = "MFX_AVC_IMG_STATE", .path = "gpu0.vcs0", .detail = std::string(detail)};
}

TEST(VideoNotice, OneLineNamesTheFirstCommand) {
  VideoNotice notice;
  testing::internal::CaptureStderr();
  notice.on_event(event_of(EventKind::unsupported, engine::kVideoNotExecuted));
  notice.on_event(event_of(EventKind::unsupported, engine::kVideoNotExecuted));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "halogen: " + std::string(engine::kVideoNotExecuted) + " (first command: MFX_AVC_IMG_STATE).\n");
}

TEST(VideoNotice, OtherEventsAreNotPrinted) {
  VideoNotice notice;
  testing::internal::CaptureStderr();
  notice.on_event(event_of(EventKind::unsupported, "not implemented"));
  notice.on_event(event_of(EventKind::approximation, engine::kVideoNotExecuted));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace halogen::shim
