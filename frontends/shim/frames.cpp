#include "frames.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "picture/png.h"
#include "report.h"
#include "settings.h"

namespace halogen::shim {

std::function<void(const picture::Image&)> frame_writer(const std::string& root) {
  const char* const folder = secure_getenv(kFramesVariable);
  if (folder == nullptr || *folder == '\0') return {};
  const std::string name = claim_name(std::string(folder) + "/frame", root, "frames");
  return [name, count = 0](const picture::Image& image) mutable {
    const std::string file = fmt::format("{}-{:04}.png", name, ++count);
    if (const auto written = picture::write_png(file, image); !written) {
      std::fprintf(stderr, "halogen: %s\n", written.message().c_str());
    }
  };
}

}  // namespace halogen::shim
