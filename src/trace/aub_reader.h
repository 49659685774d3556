// Reads an AUB trace of either family record by record and passes typed records to a visitor. It streams: memory use is
// bounded by one record of the newer family (256 KiB), whatever the file says.
//
// Not done here: CRC checks of compare records, and playing a trace (player.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/aub_records.h"
#include "trace/byte_source.h"

namespace halogen::trace::aub {

class Reader {
 public:
  // `name`: the file's name, with which every error starts.
  Reader(ByteSource& source, std::string name) : source_(source), name_(std::move(name)) {}

  // Passes the next record to the visitor. False: end of file.
  Result<bool> next(Visitor& visitor);

  // Reads all remaining records.
  Result<void> read_all(Visitor& visitor);

  const std::string& name() const { return name_; }
  uint64_t records() const { return place_.index; }
  uint64_t bytes() const { return place_.offset; }

 private:
  Result<bool> read_dwords(size_t count);  // replaces record_ from its second dword on
  Result<void> dispatch_trace(Visitor& visitor, uint8_t sub);
  Result<void> dispatch_classic(Visitor& visitor, uint8_t sub);
  Result<void> dispatch_discontiguous(Visitor& visitor);
  Result<void> dispatch_block(Visitor& visitor);
  Result<void> need(size_t dwords, const char* what) const;
  Error error(const std::string& what) const;

  uint64_t qword(size_t index) const { return record_[index] | (uint64_t{record_[index + 1]} << 32); }
  // Returns the qword at `index`, or the last dword if only one is left, or zero.
  uint64_t value_at(size_t index) const;
  std::span<const std::byte> bytes_at(size_t index) const;

  ByteSource& source_;
  std::string name_;
  Place place_;
  uint64_t extra_bytes_ = 0;  // bytes of this record that were read beyond record_
  std::vector<uint32_t> record_;
};

// Returns whether a file with this first dword can be an AUB trace. Decides between a trace and raw dwords.
bool looks_like_aub(uint32_t first_dword);

}  // namespace halogen::trace::aub
