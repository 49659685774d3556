// A file of Chrome trace events, which Perfetto opens. The file is valid JSON after every write, and several processes
// can write to one file. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace halogen::driver {

// A file without events.
constexpr std::string_view kEmptyEvents = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n";

class TraceFile {
 public:
  explicit TraceFile(std::string file) : file_(std::move(file)) {}

  // Adds an event, given as the members of its object without the process.
  void add(std::string_view members);
  // Adds the name that the program has among the processes of the file.
  void add_process_name(std::string_view device);
  // Adds the name of a track of this process.
  void add_track_name(unsigned track, std::string_view name);

  // Inserts the events before the end of the list, which another process may have written.
  Result<void> flush();
  bool is_long() const { return text_.size() > kTogether; }  // events wait that should be written

  // Returns a time as trace events have it, in microseconds.
  static std::string microseconds(uint64_t nanoseconds);

 private:
  static constexpr size_t kTogether = size_t{64} * 1024;  // bytes

  std::string file_;
  std::string text_;  // not yet written to the file
};

}  // namespace halogen::driver
