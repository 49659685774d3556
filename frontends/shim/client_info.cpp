#include "client_info.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "spec/interface_model.h"
#include "tree_files.h"

namespace halogen::shim {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

std::string client_info(const spec::DeviceModel& model, const driver::ClientTimes& client) {
  constexpr std::array kClasses = {"render", "copy", "video", "video-enhance", "compute"};
  std::string text = fmt::format("drm-driver:\ti915\ndrm-pdev:\t{}\ndrm-client-id:\t{}\n", pci_slot(model), client.id);
  if (!spec::interface_of(model.id).client_times) return text;
  std::array<unsigned, driver::kUserClasses> engines{};
  for (const UserEngine& each : user_engines(model)) ++engines[each.user_class];
  for (size_t i = 0; i < engines.size(); ++i) {
    if (engines[i] != 0) text += fmt::format("drm-engine-{}:\t{} ns\n", kClasses[i], client.busy[i]);
    if (engines[i] > 1) text += fmt::format("drm-engine-capacity-{}:\t{}\n", kClasses[i], engines[i]);
  }
  return text;
}

std::string lines_of_file(std::string_view host) {
  std::string text;
  while (!host.empty()) {
    const size_t length = std::min(host.find('\n'), host.size() - 1) + 1;
    if (!host.starts_with("scm_fds:")) text += host.substr(0, length);
    host.remove_prefix(length);
  }
  return text;
}

std::string path_of_file(std::string_view path) {
  constexpr std::string_view kProc = "/proc/", kFolder = "/fdinfo/";
  const size_t folder = path.rfind(kFolder);
  if (!path.starts_with(kProc) || folder == std::string_view::npos || folder <= kProc.size()) return {};
  const std::string_view number = path.substr(folder + kFolder.size());
  if (!is_number(number)) return {};
  return fmt::format("{}/fd/{}", path.substr(0, folder), number);
}

}  // namespace halogen::shim
