// Decodes an AUB trace: builds memory from its writes and, at each submission, walks the context's ring and all its
// batches. Supports three kinds of submission: execution lists, where a context image holds ring and page tables; the
// ring commands of classic traces; and the registers of a ring.
//
// Limits: tiled and repeated writes are stored as they are; compares and polls are printed but not checked.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "decode/memory_image.h"
#include "decode/output.h"
#include "decode/register_names.h"
#include "trace/aub_records.h"

namespace halogen::decode {

// Creates the Output when the device is known. May return null: the decoder then only counts. The names live as long as
// the decoder.
using OutputFactory = std::function<std::unique_ptr<Output>(const RegisterNames&)>;

class AubDecoder final : public trace::aub::Visitor {
 public:
  // `device` null: the trace must name it. `events` may be null.
  AubDecoder(const spec::DeviceModel* device, OutputFactory make_output, EventSink* events = nullptr);

  // Ignores records after a failure, or when the output is closed.
  void on(const trace::aub::Place& place, const trace::aub::Record& record) override;

  // Returns why the trace cannot be decoded, without the file's name. Empty: it can.
  const std::string& failure() const { return failure_; }
  bool wants_more() const { return failure_.empty() && (output_ == nullptr || output_->open()); }

  const spec::DeviceModel* device() const { return device_; }
  PagedImage* memory() { return memory_.get(); }  // null before the device is known

  // Contexts submitted with a usable ring, in order.
  struct Submission {
    std::string_view engine;
    uint64_t image;  // graphics address of the context image
    PageTableRoot root;
  };
  const std::vector<Submission>& submissions() const { return submissions_; }
  Counts counts() const;
  void set_command_limit(uint64_t commands) { command_limit_ = commands; }

 private:
  struct Engine {
    const spec::EngineModel* model = nullptr;
    std::unique_ptr<Decoder> decoder;
    std::array<uint32_t, 4> port{};  // the submit port takes four writes
    size_t port_writes = 0;
    std::array<uint32_t, 16> queue{};  // the submit queue has eight descriptors, low dword first
    struct {
      uint32_t start, head, control;
    } ring{};  // its registers, as written
  };
  struct Handler;

  void set_device(const spec::DeviceModel* device);
  void choose_device(const spec::DeviceModel* found, const std::string& what);
  void store(trace::aub::MemorySpace space, uint64_t address, std::span<const std::byte> data);
  void store_block(const trace::aub::ClassicBlock& block);
  void write_register(uint32_t offset, uint32_t value);
  bool write_ring(Engine& engine, uint32_t relative, uint32_t value);  // false: not a register of the ring
  void submit(Engine& engine, std::array<uint32_t, 2> descriptor);     // low dword first
  void run_classic_ring(uint64_t address, uint64_t bytes, uint8_t type);
  Engine* engine_of_class(spec::EngineClass engine_class);

  const spec::DeviceModel* device_ = nullptr;
  OutputFactory make_output_;
  EventSink* events_;
  std::unique_ptr<RegisterNames> registers_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<PagedImage> memory_;
  std::vector<Engine> engines_;
  std::vector<Submission> submissions_;
  std::string failure_;
  std::optional<uint64_t> last_record_;
  Counts counts_;
  uint64_t command_limit_ = Decoder::kCommandLimit;
};

}  // namespace halogen::decode
