// The text of /proc/PID/fdinfo/N for an open node, with Linux's keys of DRM clients.
#pragma once

#include <string>
#include <string_view>

#include "driver/perf/load_page.h"
#include "spec/device_model.h"

namespace halogen::shim {

// Returns the lines of i915 in Linux 6.1. Chips whose contexts do not count their time have no times.
std::string client_info(const spec::DeviceModel& model, const driver::ClientTimes& client);
// Returns the lines of the host about the file, without those about its being a socket.
std::string lines_of_file(std::string_view host);

// Returns the path of the open file, /proc/PID/fd/N, for the path of its text, /proc/PID/fdinfo/N. Empty: another path.
std::string path_of_file(std::string_view path);

}  // namespace halogen::shim
