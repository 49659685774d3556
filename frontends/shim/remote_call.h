// One call of a client while it is made: the request in the shared area, repeated until it has all memory that the
// owner needs, and the effects of the answer on this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "board.h"
#include "protocol.h"

namespace halogen::shim {

class RemoteCall {
 public:
  // The part of a request that does not depend on memory.
  struct Content {
    Ask ask = Ask::ioctl;
    bool no_wait = false;
    uint64_t request = 0;
    uint64_t argument = 0;
    uint32_t handle = 0;
    int stream = -1;  // the descriptor of a call on a stream
    // The answer to a map: the file, which the caller closes, and the rest.
    int file = -1;
    AnswerHead answer{};
  };

  RemoteCall(Board& board, Content& content);
  // Makes the call. Returns its result. No value: the channel is broken, or the answer cannot be decoded.
  std::optional<int> make(int channel);

 private:
  bool add_memory(uint64_t address, uint64_t bytes);
  int add_argument();
  void add_known_parts();
  void add_execution();
  void add_atomic();
  void add_descriptor(int number);
  bool mentions(int number) const;
  int supply(const Answer& answer);
  int apply(const Answer& answer, Descriptors& received);

  Board& board_;
  Content& content_;
  RequestHead head_;
  PartWriter writer_;
  std::vector<int> passed_;  // descriptors of this process that the call passes
};

}  // namespace halogen::shim
