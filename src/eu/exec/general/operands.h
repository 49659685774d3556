// Loads and stores operands of any form, one lane at a time: the bits of an element, and its value with modifiers. Part
// of the general path, not written for speed. An element outside its register file reads zero and is not written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "eu/exec/prepared.h"

namespace halogen::eu {

struct Value {
  Wide integer = 0;   // if its type is an integer
  double real = 0.0;  // if its type is a float
};

// The bytes of a register file while an instruction runs. A computed file is a copy in `computed_`.
class FileView {
 public:
  FileView() = default;
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  void open(Frame& frame, const Prepared& prepared, ir::File file, const ir::Access& access, Type type);

  // Returns the offset of a lane's element in the file. Negative: the element is outside the file.
  [[nodiscard]] int32_t offset(unsigned lane) const;
  [[nodiscard]] uint64_t load(unsigned lane) const;
  void store(unsigned lane, uint64_t bits);
  // Return the content of the copy of a computed file.
  [[nodiscard]] uint16_t word(size_t index) const;
  [[nodiscard]] uint32_t dword() const;

 private:
  const ir::Lowered* lowered_ = nullptr;
  const ir::Access* access_ = nullptr;
  const Thread* thread_ = nullptr;
  std::byte* data_ = nullptr;  // first byte of the file
  int32_t bytes_ = 0;
  int32_t first_ = 0;  // offset of the file in the thread
  uint8_t size_ = 4;
  std::array<std::byte, ir::kComputedBytes> computed_;
};

// Applies a write to a computed file, or to a file whose change has effects. True: the ip was written.
bool commit(Frame& frame, const ir::Target& target, const FileView& view);

class SourceReader {
 public:
  void open(Frame& frame, const Prepared& prepared, const ir::Source& source);
  [[nodiscard]] uint64_t bits(unsigned lane) const;  // without modifiers
  [[nodiscard]] Value value(unsigned lane) const;    // with modifiers, in its own type
  [[nodiscard]] Type type() const { return source_->type; }
  [[nodiscard]] bool is_float() const { return traits(source_->type).is_float; }
  [[nodiscard]] const ir::Source& source() const { return *source_; }

 private:
  const ir::Source* source_ = nullptr;
  const ir::Lowered* lowered_ = nullptr;
  const Thread* thread_ = nullptr;
  FileView view_;
};

using SourceSet = std::array<SourceReader, ir::Lowered::kMaxSources>;

// Read and write one element of the accumulators. Integers include the bits above their element. `offset` is the byte
// in the accumulators; an element outside of them reads zero and is not written.
Wide accumulator_integer(const Thread& thread, int32_t offset, Type type);
void set_accumulator_integer(Thread& thread, int32_t offset, Type type, Wide value);
void set_accumulator_bits(Thread& thread, int32_t offset, unsigned bytes, uint64_t bits);

}  // namespace halogen::eu
