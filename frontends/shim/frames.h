// `halogen run --frames`: writes the screen as one PNG file after each change.
#pragma once

#include <functional>
#include <string>

#include "picture/image.h"

namespace halogen::shim {

// Empty: not requested. Files are frame-0001.png and so on; in further processes frame.PID-0001.png.
std::function<void(const picture::Image&)> frame_writer(const std::string& root);

}  // namespace halogen::shim
