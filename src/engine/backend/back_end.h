// What stands behind a streamer's front end: render, blit, video, ... Commands that are not the streamer's own go
// there, to the back end of the client that their header names. Left out so far: video; its commands are
// counted and reported as not executed.
#pragma once

#include <memory>

#include "base/fidelity.h"
#include "engine/stream/command.h"
#include "spec/device_model.h"

namespace halogen::engine {

class BackEnd {
 public:
  virtual ~BackEnd() = default;
  virtual Next execute(Engine& engine, const Command& command) = 0;
  // Waits for everything before it; caches are written back and forgotten.
  virtual void flush() {}
  virtual void reset() {}
  virtual void report(FidelityReport& /*report*/) const {}
};

std::unique_ptr<BackEnd> make_back_end(const spec::EngineModel& engine);

}  // namespace halogen::engine
