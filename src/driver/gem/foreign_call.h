// A call of another process. The driver has no access to the memory and the descriptors of that process. The call
// brings copies of the memory that it needs (pieces) and the descriptors themselves, and takes back what the driver
// writes and the descriptors that it makes.
//
// If the driver reads memory that is not in a piece, the read fails, and the range is noted as missing. The front end
// then discards the results, asks the other process for the range and repeats the call. An ioctl must therefore read
// all memory of the program before it has an effect that a repetition would double.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halogen::driver {

class DescriptorAccount;

// The process that makes a call, as far as the front end has verified it.
class ForeignCaller {
 public:
  virtual ~ForeignCaller() = default;
  virtual pid_t process() const = 0;
  virtual bool may_administrate() const = 0;
  virtual bool is_gone() const { return false; }  // waits on its behalf end
  // Returns the account of the descriptors that this process holds for it. Null: they are not limited.
  virtual std::shared_ptr<DescriptorAccount> descriptors() const { return nullptr; }
};

class ForeignCall {
 public:
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  // A copy of memory of the caller, private to this process.
  struct Piece {
    uint64_t address = 0;
    std::span<std::byte> bytes;
  };
  struct Write {
    Range place;
    size_t start = 0;  // in written_bytes()
  };
  // A descriptor that came with the call, with its number in the other process. -1: not open there.
  struct Passed {
    int number = -1;
    int descriptor = -1;
  };
  // A descriptor for the other process, and the address at which the process expects its number.
  struct Made {
    int descriptor = -1;
    uint64_t position = 0;
  };
  static constexpr size_t kMaxWrittenBytes = (size_t{4} << 20) + (size_t{64} << 10);
  static constexpr size_t kMaxWrites = size_t{1} << 17;
  static constexpr size_t kMaxMissing = 64;
  static constexpr size_t kMaxMade = 16;

  // Makes this the call of the thread during its lifetime. `argument`: the address of the argument block.
  ForeignCall(const ForeignCaller& caller, uint64_t argument, std::vector<Piece> pieces,
              std::span<const Passed> passed);
  ~ForeignCall();  // closes the descriptors that were not taken
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;
  // Returns the call of this thread. Null: the calling program is this process.
  static ForeignCall* current();

  const ForeignCaller& caller() const { return caller_; }
  uint64_t argument() const { return argument_; }

  // False: the memory did not come with the call.
  bool has(uint64_t address, uint64_t bytes);
  bool read(uint64_t address, void* into, size_t bytes);
  // False: the results are too long.
  bool write(uint64_t address, const void* from, size_t bytes);
  // Returns this process's copy of the caller's descriptor `number`. -1: none, or it did not come with the call.
  int descriptor(int number);
  // Takes ownership of a descriptor, which the caller receives if the call succeeds. False: there are too many.
  bool give(int descriptor, uint64_t position);
  void forget_results();

  bool is_incomplete() const { return !missing_.empty() || !wanted_.empty(); }
  const std::vector<Range>& missing() const { return missing_; }
  const std::vector<int>& wanted() const { return wanted_; }  // numbers of descriptors that did not come
  const std::vector<Write>& writes() const { return writes_; }
  std::span<const std::byte> written_bytes() const { return written_; }
  const std::vector<Made>& made() const { return made_; }

 private:
  std::byte* find(uint64_t address, uint64_t bytes);

  ForeignCall* before_;
  const ForeignCaller& caller_;
  uint64_t argument_;
  std::vector<Piece> pieces_;  // by address, then by size
  std::span<const Passed> passed_;
  std::vector<Range> missing_;
  std::vector<int> wanted_;
  std::vector<Write> writes_;
  std::vector<std::byte> written_;
  std::vector<Made> made_;
};

// Returns this process's copy of the calling program's descriptor `number`. -1: it has none.
int descriptor_of_program(int number);
// Hands a new descriptor to the calling program. `position`: an offset in the ioctl's argument block. Returns the
// number to write there, or a negative errno if the descriptor was closed.
int give_in_argument(int descriptor, size_t position);
// The same for a number that the program expects at an address. Returns 0 or a negative errno; then it is closed.
int give_at(int descriptor, uint64_t address);
// The same for a number that is the result of the call. Returns this result, or a negative errno.
int give_as_result(int descriptor);
// Undoes give_at().
void take_back(int descriptor, uint64_t address);

}  // namespace halogen::driver
