// The state commands of the 3D pipeline as they were last parsed: a command replaces the one before it, except for
// those that change a part of what they hold. So a context image can hold them as they are, and resolve.h can read them
// with one unpack each. Gen4 to Gen12. Commands that only say how caches and URB are shared are kept and not looked at.
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
  // False: no state command of the 3D pipeline.
  bool change(const Generation& generation, const spec::CommandDesc& desc, std::span<const uint32_t> dwords);
  // In an order that may be parsed again.
  std::vector<uint32_t> commands() const;

  // Dwords of the last one; empty: never sent. `index`: of commands that exist once for each buffer, element or stage.
  std::span<const uint32_t> words(spec::CommandId id, uint32_t index = 0) const;
  bool has(spec::CommandId id, uint32_t index = 0) const { return !words(id, index).empty(); }
  // All zero when it was never sent.
  template <class T>
  T get(spec::GenId gen, uint32_t index = 0) const {
    const std::span<const uint32_t> dwords = words(T::kId, index);
    return dwords.empty() ? T{} : T::unpack(gen, dwords);
  }

  // Gen6: threads have written vertices to a stream; the next ones go behind them.
  void set_stream_index(spec::GenId gen, uint32_t number, uint32_t index);

  // Counts changes.
  uint64_t revision() const { return revision_; }
  bool operator==(const Settings& other) const { return packets_ == other.packets_; }

 private:
  void put(spec::CommandId id, uint32_t index, std::span<const uint32_t> dwords);
  void change_buffers(spec::GenId gen, std::span<const uint32_t> dwords);
  void change_all_constants(spec::GenId gen, std::span<const uint32_t> dwords);

  std::map<uint32_t, std::vector<uint32_t>> packets_;  // by command and index
  uint64_t revision_ = 0;
};

// The buffer of a stream that a command binds, whichever form it has on the generation. False: another command.
bool unpack_stream_buffer(spec::GenId gen, spec::CommandId id, std::span<const uint32_t> dwords,
                          hw::_3DSTATE_SO_BUFFER& bound);

}  // namespace halogen::pipe3d
