// Reads an AUB trace record by record, both families, and hands typed records to a visitor. Streams: memory use is
// bounded by one record of the newer family (256 KiB), whatever the file says.
//
// Left out: CRC checks of compare records, and playing a trace (that is the device's business).
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
  // `name` opens every error sentence: the file's name.
  Reader(ByteSource& source, std::string name) : source_(source), name_(std::move(name)) {}

  // Hands the next record to the visitor; false at the end of the file.
  Result<bool> next(Visitor& visitor);

  // All records that are left.
  Result<void> read_all(Visitor& visitor);

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
  // The qword at `index`, or the single dword that is there, or zero.
  uint64_t value_at(size_t index) const;
  std::span<const std::byte> bytes_at(size_t index) const;

  ByteSource& source_;
  std::string name_;
  Place place_;
  uint64_t extra_bytes_ = 0;  // read for this record beyond record_
  std::vector<uint32_t> record_;
};

// True when the first dword of a file can open an AUB trace; decides between a trace and raw dwords.
bool looks_like_aub(uint32_t first_dword);

}  // namespace halogen::trace::aub
