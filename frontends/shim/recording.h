// An AUB trace of what the driver does to a process's device, by the recorder of the virtual machine door. Left out:
// devices with local memory, which programs write without anybody seeing it.
#pragma once

#include <memory>
#include <string>

#include "driver/kernel.h"
#include "recorder.h"

namespace halogen::shim {

class Recording final : public driver::HardwareListener {
 public:
  // Null: nobody wants one, or the file cannot be written (then it says so).
  static std::unique_ptr<Recording> start(const spec::DeviceModel& model, const std::string& root);

  void on_page(uint64_t address, std::span<const std::byte> bytes) override { recorder_->on_page(address, bytes); }
  void before_write(unsigned bar, uint64_t offset) override { recorder_->before_write(bar, offset); }
  void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) override {
    recorder_->after_write(bar, offset, bytes, value);
  }
  void after_config_write(uint32_t offset, unsigned bytes, uint32_t value) override {
    recorder_->after_config_write(offset, bytes, value);
  }
  void after_time(uint64_t nanoseconds) override { recorder_->pass(nanoseconds); }

  // Ends the file; what comes after is not in it.
  void finish();

 private:
  explicit Recording(std::unique_ptr<vm::Recorder> recorder) : recorder_(std::move(recorder)) {}

  std::unique_ptr<vm::Recorder> recorder_;
};

}  // namespace halogen::shim
