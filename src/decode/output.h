// The results of decoding. Library code never prints: an Output turns decoded items into text or JSON and passes it to
// a sink that the front end provides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong.h"
#include "decode/field_list.h"
#include "decode/register_names.h"
#include "engine/stream/command_stream.h"
#include "spec/descriptors.h"

namespace halogen::decode {

enum class NodeKind : uint8_t {
  command,
  unknown_command,
  structure,  // in memory, reached through a pointer
  kernel,     // EU code; its size is known only after disassembly
  data,       // plain bytes: vertices, constants, indirect data
  missing,    // a pointer to unmapped memory
};

// A decoded item with everything it points to.
struct Node {
  NodeKind kind = NodeKind::command;
  const spec::ItemDesc* item = nullptr;  // commands and structures
  std::string label;                     // how it was reached: "binding_table[2]", "kernel_start_pointer"
  GpuVa address;
  engine::StreamSpace space = engine::StreamSpace::ppgtt;
  uint8_t level = 0;                // of the stream; commands only
  std::vector<uint32_t> dwords;     // complete; for data, the beginning
  uint64_t bytes = 0;               // size of data; 0: unknown
  FieldList fields;                 // of commands and structures
  bool guessed = false;             // the number of elements was assumed, so this may not be a structure
  std::vector<std::string> faults;  // errors of the item: a bad length, a loop
  std::vector<Node> children;
};

// One record of a trace file.
struct RecordLine {
  uint64_t offset = 0;
  uint64_t index = 0;
  std::string_view kind;  // "register write"
  std::string text;       // one line of description
};

class Output {
 public:
  virtual ~Output() = default;
  virtual void record(const RecordLine& line) = 0;
  virtual void heading(std::string_view text) = 0;  // a submission, a batch
  virtual void node(const Node& node, spec::GenId gen) = 0;
  // False: the reader of the output is gone.
  virtual bool open() const = 0;
};

// Takes text. False: the reader of the output is gone.
using TextSink = std::function<bool(std::string_view)>;

struct OutputStyle {
  bool color = false;     // of text
  bool payloads = false;  // registers that threads start with, below commands and states that start threads
};

std::unique_ptr<Output> make_text_output(TextSink sink, OutputStyle style, const RegisterNames* registers);

// One JSON object per line: records, headings and commands, the latter with fields and their targets.
std::unique_ptr<Output> make_json_output(TextSink sink, OutputStyle style, const RegisterNames* registers);

}  // namespace halogen::decode
