#include "driver/perf/perf_config.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <utility>

namespace halogen::driver {

bool is_uuid(std::string_view text) {
  constexpr size_t kDashes[] = {8, 13, 18, 23};
  if (text.size() != PerfConfig::kUuidBytes) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = std::find(std::begin(kDashes), std::end(kDashes), i) != std::end(kDashes);
    if (is_dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return false;
  }
  return true;
}

// Adds and removes the sets that other processes have added to the folder and removed from it.
void PerfConfigs::refresh() {
  if (!folder_.is_used()) return;
  const std::map<uint32_t, std::string> there = folder_.list();
  std::erase_if(all_, [&](const auto& each) {
    const auto found = there.find(each.first);
    return found == there.end() || found->second != each.second->uuid;
  });
  constexpr size_t kMaxRead = size_t{4} << 20;  // registers; the next call reads on
  size_t read = 0;
  for (const auto& [id, uuid] : there) {
    if (read > kMaxRead) break;
    if (id < kFirstId || !is_uuid(uuid) || all_.contains(id)) continue;
    auto config = std::make_shared<PerfConfig>();
    config->id = id;
    config->uuid = uuid;
    const bool loaded = folder_.load(uuid, {&config->mux, &config->boolean, &config->flexible});
    read += config->mux.size() + config->boolean.size() + config->flexible.size();
    if (loaded) all_.emplace(id, std::move(config));
  }
}

int PerfConfigs::add(PerfConfig config) {
  const ConfigFolder::Guard guard(folder_);
  refresh();
  if (std::any_of(all_.begin(), all_.end(), [&](const auto& each) { return each.second->uuid == config.uuid; })) {
    return -EADDRINUSE;
  }
  if (all_.size() >= ConfigFolder::kMaxSets) return -ENOMEM;
  config.id = kFirstId;
  while (all_.contains(config.id)) ++config.id;
  const auto added = std::make_shared<const PerfConfig>(std::move(config));
  const auto entry = all_.emplace(added->id, added).first;
  if (folder_.is_used() && !folder_.store(added->id, added->uuid, {&added->mux, &added->boolean, &added->flexible})) {
    all_.erase(entry);
    return -ENOMEM;
  }
  return static_cast<int>(added->id);
}

int PerfConfigs::remove(uint64_t id) {
  const ConfigFolder::Guard guard(folder_);
  refresh();
  const auto found = id > UINT32_MAX ? all_.end() : all_.find(static_cast<uint32_t>(id));
  if (found == all_.end()) return -ENOENT;
  if (folder_.is_used()) folder_.erase(found->second->uuid);
  all_.erase(found);
  return 0;
}

PerfConfigRef PerfConfigs::find(uint64_t id) {
  const ConfigFolder::Guard guard(folder_);
  refresh();
  const auto found = id > UINT32_MAX ? all_.end() : all_.find(static_cast<uint32_t>(id));
  return found == all_.end() ? nullptr : found->second;
}

PerfConfigRef PerfConfigs::find(std::string_view uuid) {
  const ConfigFolder::Guard guard(folder_);
  refresh();
  for (const auto& [id, config] : all_) {
    if (config->uuid == uuid) return config;
  }
  return nullptr;
}

std::vector<uint64_t> PerfConfigs::ids() {
  const ConfigFolder::Guard guard(folder_);
  refresh();
  std::vector<uint64_t> all{kTestId};
  for (const auto& [id, config] : all_) all.push_back(id);
  return all;
}

}  // namespace halogen::driver
