// Direction and size of the ioctls that clients may make, as the host's headers define them.
#pragma once

namespace halogen::shim {

// Returns whether a request has the direction and the size that its number has in a published header, or has a number
// that the table does not list, because the driver refuses those.
bool has_known_shape(unsigned long request);

}  // namespace halogen::shim
