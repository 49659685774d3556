#include "tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "device/config_space.h"
#include "driver/hw/hardware.h"
#include "driver/perf/perf_limits.h"
#include "hw/pci_header.h"
#include "paths.h"
#include "pmu_events.h"
#include "spec/interface_model.h"
#include "spec/pci.h"
#include "tree_files.h"

namespace halogen::shim {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMajor = 226;
constexpr unsigned kCardMinor = 0;
constexpr unsigned kRenderMinor = 128;
constexpr char kHeldFile[] = "/held";  // locked by every user of the tree
constexpr char kTreePrefix[] = "halogen-";

class Builder {
 public:
  Builder(const spec::DeviceModel& model, std::string root)
      : model_(model),
        config_(model, options_),
        root_(std::move(root)),
        slot_(pci_slot(model)),
        device_((spec::interface_of(model.id).discrete ? "sys/devices/pci0000:00/0000:00:1c.0/"
                                                       : "sys/devices/pci0000:00/") +
                slot_) {
    for (const spec::PciWrite& write : driver::firmware_writes(model, options_)) {
      config_.write(write.offset, write.bytes, write.value);
    }
  }

  bool build() {
    add_nodes();
    add_device();
    add_drm();
    add_bus();
    add_debug();
    add_perf();
    add_pmu();
    return good_;
  }

 private:
  std::string whole(std::string_view path) const { return root_ + "/" + std::string(path); }
  void file(const std::string& path, std::string_view text, mode_t mode = 0644) {
    folder(path.substr(0, path.rfind('/')));
    const int made = open(whole(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    good_ = good_ && made >= 0 && write(made, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    good_ = good_ && fchmod(made, mode) == 0;  // independent of the program's umask
    if (made >= 0) close(made);
  }
  // Creates a folder and its parents.
  void folder(const std::string& path) {
    if (path.empty() || !folders_.insert(path).second) return;
    const size_t end = path.rfind('/');
    if (end != std::string::npos) folder(path.substr(0, end));
    good_ = good_ && (mkdir(whole(path).c_str(), 0755) == 0 || errno == EEXIST);
  }
  // Creates a relative link, as in sysfs, so that it works under both roots. It ends with the name of the target, also
  // if that is a folder above: programs take the name from there.
  void link(const std::string& path, const std::string& target) {
    folder(path.substr(0, path.rfind('/')));
    const fs::path to = fs::path("/") / target;
    const fs::path folder_of = to.parent_path().lexically_relative(fs::path("/" + path).parent_path());
    const fs::path relative = (folder_of / to.filename()).lexically_normal();
    good_ = good_ && symlink(relative.c_str(), whole(path).c_str()) == 0;
  }

  void add_nodes() {
    for (const char* const node : {"dev/dri/card0", "dev/dri/renderD128"}) {
      file(node, "", 0666);
    }
    link("dev/dri/by-path/pci-" + slot_ + "-card", "dev/dri/card0");
    link("dev/dri/by-path/pci-" + slot_ + "-render", "dev/dri/renderD128");
  }

  void add_device() {
    const auto id = config_.get<hw::PCI_ID>();
    const auto board = config_.get<hw::PCI_SUBSYSTEM>();
    const auto [revision, class_code] = config_.get<hw::PCI_CLASS>();
    const uint32_t vendor = id.vendor_id, device = id.device_id;
    const uint32_t subsystem_vendor = board.vendor_id, subsystem = board.subsystem_id;
    file(device_ + "/vendor", fmt::format("{:#06x}\n", vendor));
    file(device_ + "/device", fmt::format("{:#06x}\n", device));
    file(device_ + "/revision", fmt::format("{:#04x}\n", revision));
    file(device_ + "/class", fmt::format("{:#08x}\n", class_code));
    file(device_ + "/subsystem_vendor", fmt::format("{:#06x}\n", subsystem_vendor));
    file(device_ + "/subsystem_device", fmt::format("{:#06x}\n", subsystem));
    const std::string alias =
        fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}", vendor, device, subsystem_vendor,
                    subsystem, class_code >> 16, class_code >> 8 & 0xff, class_code & 0xff);
    file(device_ + "/modalias", alias + "\n");
    file(device_ + "/uevent",
         fmt::format("DRIVER=i915\nPCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\n"
                     "PCI_SLOT_NAME={}\nMODALIAS={}\n",
                     class_code, vendor, device, subsystem_vendor, subsystem, slot_, alias));
    file(device_ + "/boot_vga", "1\n");
    file(device_ + "/enable", "1\n");
    file(device_ + "/irq", fmt::format("{}\n", config_.get<hw::PCI_INTERRUPT_LINE>().line));
    file(device_ + "/numa_node", "-1\n");
    file(device_ + "/resource", resources());
    std::string config;
    for (uint32_t offset = 0; offset < device::kConfigBytes; ++offset) {
      config.push_back(static_cast<char>(config_.read(offset, 1)));
    }
    file(device_ + "/config", config);
    link(device_ + "/subsystem", "sys/bus/pci");
    link(device_ + "/driver", "sys/bus/pci/drivers/i915");
  }

  uint32_t word_of(const hw::PCI_BAR& bar) const { return spec::pci_write(model_, bar).value; }

  // Returns six BARs, the ROM and bridge windows: first address, last address, flags of Linux.
  std::string resources() {
    constexpr unsigned kLines = 13;
    constexpr unsigned kBars = 6;
    constexpr uint64_t kIo = 0x100, kMemory = 0x200, kPrefetch = 0x2000, kWide = 0x10'0000, kSized = 0x4'0000;
    std::string text;
    for (unsigned line = 0; line < kLines; ++line) {
      uint64_t start = 0, end = 0, flags = 0;
      for (const spec::BarModel& bar : model_.bars) {
        if (line >= kBars || bar.index != line) continue;
        const auto low = config_.get<hw::PCI_BAR>(line);
        start = config_.bar_address(bar.index);
        // The flags of Linux repeat the low bits of the register.
        if (low.io_space) {
          flags = kSized | kIo | word_of(hw::PCI_BAR{.io_space = true});
        } else {
          const bool wide = low.memory_type == hw::PCI_BAR::MemoryType::address_64;
          flags = kSized | kMemory | (low.prefetchable ? kPrefetch : 0) | (wide ? kWide : 0) |
                  word_of(hw::PCI_BAR{.memory_type = low.memory_type, .prefetchable = low.prefetchable});
        }
        end = start + device::bar_bytes(bar, options_) - 1;
      }
      text += fmt::format("{:#018x} {:#018x} {:#018x}\n", start, end, flags);
    }
    return text;
  }

  void add_drm() {
    struct Row {
      const char* name;
      unsigned minor;
    };
    for (const Row& row : {Row{"card0", kCardMinor}, Row{"renderD128", kRenderMinor}}) {
      const std::string folder_of = device_ + "/drm/" + row.name;
      const std::string number = fmt::format("{}:{}", kMajor, row.minor);
      file(folder_of + "/dev", number + "\n");
      file(folder_of + "/uevent",
           fmt::format("MAJOR={}\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n", kMajor, row.minor, row.name));
      link(folder_of + "/device", device_);
      link(folder_of + "/subsystem", "sys/class/drm");
      link("sys/dev/char/" + number, folder_of);
      link(std::string("sys/class/drm/") + row.name, folder_of);
    }
    const std::string card = device_ + "/drm/card0";
    const auto add_files = [&](const std::string& folder_of, const std::vector<TreeFile>& files) {
      for (const TreeFile& each : files) file(folder_of + "/" + each.path, each.text);
    };
    add_files(card, engine_files(model_));
    add_files(card, clock_files(model_));
    file(card + "/error", "No error state collected\n", 0600);
    const std::string connector = card + "/" + kConnectorName;
    add_files(connector, connector_files());
    link(connector + "/device", card);
    link(connector + "/subsystem", "sys/class/drm");
    link(std::string("sys/class/drm/") + kConnectorName, connector);
    file("sys/class/drm/version", "drm 1.1.0 20060810\n");
  }

  void add_bus() {
    link("sys/bus/pci/devices/" + slot_, device_);
    folder("sys/bus/pci/drivers/i915");
    link("sys/bus/pci/drivers/i915/" + slot_, device_);
    link("sys/bus/pci/drivers/i915/module", "sys/module/i915");
    folder("sys/module/i915/parameters");
  }

  // Metric sets, and what administrators allow.
  void add_perf() {
    if (spec::interface_of(model_.id).perf) {
      folder(device_ + "/drm/card0/metrics");
      folder(std::string(kMetricRegisters).substr(1));
    }
    const std::string limits = std::string(kLimitsFolder).substr(1) + "/";
    file(limits + driver::kParanoidFile, fmt::format("{}\n", driver::kDefaultParanoid));
    file(limits + driver::kMaxRateFile, fmt::format("{}\n", driver::kDefaultMaxRate));
  }

  void add_pmu() {
    const std::string pmu = "sys/devices/" + pmu_name(model_);
    for (const TreeFile& each : pmu_files(model_)) file(pmu + "/" + each.path, each.text);
    link(pmu + "/subsystem", "sys/bus/event_source");
    link("sys/bus/event_source/devices/" + pmu_name(model_), pmu);
  }

  void add_debug() {
    const std::string debug = "sys/kernel/debug/dri/0";
    file(debug + "/name", fmt::format("i915 dev={} unique={}\n", slot_, slot_));
    file(debug + "/i915_gem_drop_caches", "0x00000000\n", 0666);
    // Constant values, because these files cannot be written.
    file(debug + "/i915_params/reset", "2\n", 0444);
    file(debug + "/i915_params/error_capture", "N\n", 0444);
    file(debug + "/i915_params/enable_hangcheck", "Y\n", 0444);
    link("sys/kernel/debug/dri/128", debug);
  }

  const spec::DeviceModel& model_;
  device::DeviceOptions options_{};
  device::ConfigSpace config_;
  std::string root_;
  std::string slot_;
  std::string device_;
  std::set<std::string> folders_;  // that exist
  bool good_ = true;
};

}  // namespace

Result<void> make_tree(const spec::DeviceModel& model, const std::string& root) {
  if (!Builder(model, root).build()) return Error{fmt::format("{}: cannot create files there.", root)};
  return {};
}

int hold_tree(const std::string& root) {
  // Uses the system call directly: open(2) of this library would need the tree.
  const long file = syscall(SYS_openat, AT_FDCWD, (root + kHeldFile).c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) flock(static_cast<int>(file), LOCK_SH | LOCK_NB);
  return static_cast<int>(file);
}

// Uses the system call directly too. A tree without this file is still being created.
void remove_unused_tree(const std::string& root) {
  if (!fs::path(root).filename().string().starts_with(kTreePrefix)) return;  // not created by us
  const auto file =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, (root + kHeldFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file < 0) return;
  std::error_code error;
  if (flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove_all(root, error);
  close(file);
}

// Removes trees of runs that were killed.
static void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
    remove_unused_tree(each.path());
  }
}

Result<std::string> make_private_tree(const spec::DeviceModel& model) {
  // Prefers memory: creating a hundred small files on a disk takes longer than starting the device.
  constexpr char kMemory[] = "/dev/shm";
  const char* folder = secure_getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = access(kMemory, W_OK | X_OK) == 0 ? kMemory : "/tmp";
  remove_abandoned(folder);
  std::string root = fmt::format("{}/{}XXXXXX", folder, kTreePrefix);
  if (mkdtemp(root.data()) == nullptr) {
    return Error{fmt::format("{}: cannot create a folder: {}.", root, std::strerror(errno))};
  }
  // A program of the superuser that gives up its rights still finds the files. Others can then read them too.
  if (geteuid() == 0) chmod(root.c_str(), 0711);
  // Links inside must not depend on the path to the folder.
  std::error_code error;
  root = std::filesystem::canonical(root, error).string();
  if (const auto done = make_tree(model, root); !done) return done.error();
  return root;
}

}  // namespace halogen::shim
