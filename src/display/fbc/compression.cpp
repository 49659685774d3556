#include "display/fbc/compression.h"

#include <utility>

#include "display/display_state.h"
#include "display/fbc/dpfc.h"
#include "display/fbc/fbc.h"

namespace halogen::display {

std::unique_ptr<FrameCompressor> make_compressor(CompressionParts parts, DisplayState& state) {
  if (parts.bank.map().find("FBC_CONTROL") != nullptr) {
    return std::make_unique<fbc::Fbc>(std::move(parts), state.fbc);
  }
  if (parts.bank.map().find("DPFC_CONTROL") != nullptr) {
    return std::make_unique<dpfc::Dpfc>(std::move(parts), state.dpfc);
  }
  return nullptr;
}

}  // namespace halogen::display
