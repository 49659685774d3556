// Records an AUB trace of what the driver does to a process's device. The result is stored in the run's private folder
// for `halogen run`.
#pragma once

#include <memory>
#include <string>

#include "driver/core/driver.h"
#include "trace/recorder.h"

namespace halogen::shim {

class Recording final : public driver::HardwareListener {
 public:
  // Null: not requested, or the file cannot be written (after a message).
  static std::unique_ptr<Recording> start(const spec::DeviceModel& model, const std::string& root);

  void on_device(device::Device& device, driver::DriverHost& host) override;
  void on_page(uint64_t address, std::span<const std::byte> bytes) override { recorder_->on_page(address, bytes); }
  void on_forget(uint64_t address, uint64_t bytes) override { recorder_->forget(address, bytes); }
  void before_write(unsigned bar, uint64_t offset) override { recorder_->before_write(bar, offset); }
  void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) override {
    recorder_->after_write(bar, offset, bytes, value);
  }
  void after_entries(uint64_t offset, std::span<const std::byte> entries) override {
    recorder_->after_entries(offset, entries);
  }
  void after_config_write(uint32_t offset, unsigned bytes, uint32_t value) override {
    recorder_->after_config_write(offset, bytes, value);
  }
  void before_time() override { recorder_->before_time(); }
  void after_time() override { recorder_->after_time(); }

  // Ends the file; later accesses are not recorded.
  void finish();

 private:
  Recording(std::unique_ptr<trace::Recorder> recorder, std::string file, std::string results)
      : recorder_(std::move(recorder)), file_(std::move(file)), results_(std::move(results)) {}

  std::unique_ptr<trace::Recorder> recorder_;
  std::string file_;
  std::string results_;
  bool finished_ = false;
};

}  // namespace halogen::shim
