// The state commands of the 3D pipeline as they were last parsed. A command replaces its predecessor, except for
// commands that update part of their state. Therefore a context image can hold them unchanged, and resolve.h can read
// them with one unpack each. Gen4 to Gen12. Commands that only divide caches and URB are stored and not used.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "gen/generation.h"
#include "hw/3d_so.h"
#include "spec/descriptors.h"
#include "spec/item_ids.h"

namespace halogen::pipe3d {

class Settings {
 public:
  // Applies a command. False: it is not a state command of the 3D pipeline.
  bool change(const Generation& generation, const spec::CommandDesc& desc, std::span<const uint32_t> dwords);
  // Returns all commands in an order in which they can be parsed again.
  std::vector<uint32_t> commands() const;

  // Returns the dwords of the last command. Empty: never sent. `index`: for commands that exist once per buffer,
  // element or stage.
  std::span<const uint32_t> words(spec::CommandId id, uint32_t index = 0) const;
  bool has(spec::CommandId id, uint32_t index = 0) const { return !words(id, index).empty(); }
  // Returns the command's fields. All zero: never sent.
  template <class T>
  T get(spec::GenId gen, uint32_t index = 0) const {
    const std::span<const uint32_t> dwords = words(T::kId, index);
    return dwords.empty() ? T{} : T::unpack(gen, dwords);
  }

  // Gen6: sets the index at which the next vertices of a stream are written.
  void set_stream_index(spec::GenId gen, uint32_t number, uint32_t index);

  // Returns the number of changes.
  uint64_t revision() const { return revision_; }
  bool operator==(const Settings& other) const { return packets_ == other.packets_; }

 private:
  void put(spec::CommandId id, uint32_t index, std::span<const uint32_t> dwords);
  void change_buffers(spec::GenId gen, std::span<const uint32_t> dwords);
  void change_all_constants(spec::GenId gen, std::span<const uint32_t> dwords);

  std::map<uint32_t, std::vector<uint32_t>> packets_;  // by command and index
  uint64_t revision_ = 0;
};

// Unpacks the command that binds a stream's buffer, in the form of the generation. False: another command.
bool unpack_stream_buffer(spec::GenId gen, spec::CommandId id, std::span<const uint32_t> dwords,
                          hw::_3DSTATE_SO_BUFFER& bound);

}  // namespace halogen::pipe3d
