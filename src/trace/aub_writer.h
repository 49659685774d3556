// Writes an AUB trace: the inverse of the reader, in layouts that other readers accept. As a visitor it copies a trace;
// the pieces of a discontiguous write become separate writes.
//
// The first failure of the sink is kept and later records are dropped. finish() reports it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/device_model.h"
#include "trace/aub_records.h"
#include "trace/byte_sink.h"

namespace halogen::trace::aub {

class Writer final : public Visitor {
 public:
  // Largest data of one record; longer writes and comparisons are split.
  static constexpr size_t kMaxData = (0xffff - 4) * sizeof(uint32_t);

  explicit Writer(ByteSink& sink) : sink_(sink) {}

  // Writes the first record of a trace. Its text holds the PCI id, as in traces of Mesa and IGT.
  void open(const spec::DeviceModel& model, std::string_view text);
  void write(const Record& record);
  void on(const Place& /*place*/, const Record& record) override { write(record); }

  uint64_t bytes() const { return bytes_; }
  Result<void> finish();

 private:
  struct Handler;

  void put(std::span<const std::byte> bytes);
  void put(std::span<const uint32_t> dwords) { put(std::as_bytes(dwords)); }
  void pad(uint64_t bytes);  // with zeros to the next dword
  // Writes a record: header, `body`, `data`, and zeros up to the next dword.
  void trace(uint32_t sub, std::initializer_list<uint32_t> body, std::span<const std::byte> data = {});
  void classic(uint32_t sub, std::initializer_list<uint32_t> body, std::span<const std::byte> data = {});
  void record(uint32_t opcode, uint32_t sub, unsigned bias, std::initializer_list<uint32_t> body,
              std::span<const std::byte> data);

  ByteSink& sink_;
  uint64_t bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace halogen::trace::aub
