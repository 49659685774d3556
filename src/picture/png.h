// Writes PNG files. Equal pixels give equal bytes: no timestamps, no text, fixed compression. A picture without a
// transparent pixel has no alpha channel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "picture/image.h"

namespace halogen::picture {

// Fails for a picture without pixels, or one too large for the format.
Result<std::vector<std::byte>> to_png(const Image& image);
Result<void> write_png(const std::string& path, const Image& image);

}  // namespace halogen::picture
