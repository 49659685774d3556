// Starts QEMU with a device at 00:02.0 and runs a command in the guest.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "base/result.h"
#include "device/options.h"
#include "mmio/register_answer.h"
#include "recorder.h"
#include "spec/device_model.h"

namespace halogen::vm {

struct LaunchOptions {
  const spec::DeviceModel* model = nullptr;
  device::DeviceOptions device;
  std::string image;                 // folder with vmlinux and base.cpio (scripts/vm-image.sh)
  std::vector<std::string> command;  // run in the guest
  std::vector<std::string> added;    // files of the host that are added to the guest's /bin
  std::string module_options;        // for i915
  bool show_kernel_log = false;      // print the whole kernel log, not only the command's output
  std::string trace;                 // file for an AUB trace; empty: none
  EventSink* events = nullptr;
  // Called when the emulator (a child process) has started and before anything that the guest says is read. Null:
  // nothing.
  std::function<Result<void>(pid_t emulator)> confine;
  int stop = -1;  // a descriptor that becomes readable when the machine must end; -1: none
  std::string emulator = "qemu-system-x86_64";  // found in PATH
};

// A register that the guest accessed.
struct RegisterUse {
  uint32_t offset = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
  mmio::RegisterAnswer answer;
};

struct LaunchResult {
  std::optional<int> status;            // of the command, 0 to 255; no value: the command did not end
  std::string ending;                   // one sentence: why the command did not end
  uint64_t commands = 0;                // executed by the engines
  std::optional<RecordedRun> recorded;  // with a trace: the result of its replay
  uint64_t bar_accesses = 0;
  std::array<uint64_t, 8> by_bar{};
  uint64_t interrupts = 0;
  std::vector<RegisterUse> registers;  // by offset
  FidelityReport fidelity;
};

// Creates the image of a kernel package in a folder with scripts/vm-image.sh, unless it exists.
Result<void> make_image(const std::string& script, const std::string& package, const std::string& folder);

Result<LaunchResult> launch(const LaunchOptions& options);

}  // namespace halogen::vm
