// Why commands of a codec are unsupported: the detail of their Events, and the reason in reports.
#pragma once

#include <string_view>

#include "spec/device_model.h"

namespace halogen::engine {

inline constexpr std::string_view kVideoNotExecuted =
    "video work is not executed: pictures and streams that it should write keep their content";

constexpr bool is_video(spec::EngineClass engine) {
  return engine == spec::EngineClass::video || engine == spec::EngineClass::vebox;
}

}  // namespace halogen::engine
