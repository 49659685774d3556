// The surfaces that messages name, by the binding table or bindless. A surface state is read once and kept until
// forget(), as hardware keeps it in state caches until they are invalidated.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "message/clear_blocks.h"
#include "message/environment.h"
#include "message/surface.h"
#include "message/surface_uses.h"
#include "spec/unread.h"

namespace halogen::message {

// The meaning of a binding table index. The highest indices do not name surfaces.
enum class Binding : uint8_t { surface, bindless, local_memory, stateless };
constexpr Binding binding_of(const MessageRules& rules, uint8_t index) {
  constexpr uint8_t kStatelessCoherent = 255;
  if (index == kStatelessCoherent || (index != 0 && index == rules.noncoherent_index)) {
    return Binding::stateless;
  }
  if (index != 0 && index == rules.local_index) {
    return Binding::local_memory;
  }
  return index != 0 && index == rules.bindless_index ? Binding::bindless : Binding::surface;
}

class SurfaceTable {
 public:
  // `client`: what the surfaces are used as.
  explicit SurfaceTable(MemoryClient client = MemoryClient::sampler) : client_(client) {}

  // Keeps clear pixels of sample maps, for an operation that changes the map itself. Otherwise a surface that is found
  // has a resolved map.
  void keep_maps(bool keep) { settles_ = !keep; }

  void forget() {
    by_index_.fill(nullptr);
    by_address_.clear();
    clear_blocks_.clear();
    ++age_;
  }
  const spec::UnreadFields& unread() const { return unread_; }  // of all states that were read
  spec::UnreadFields& unread() { return unread_; }
  SurfaceUses& uses() { return uses_; }
  uint64_t age() const { return age_; }  // number of forget() calls; pointers of an earlier age are invalid
  // Returns a surface. Null: stopped by a fault.
  const Surface* find(const Generation& generation, const Environment& environment, uint8_t index, uint32_t extended);
  // Fills the clear blocks of a surface that this table returned, for clients that do not look at states. A surface
  // that is too large keeps its states. False: stopped by a fault.
  bool make_plain(const Surface* surface, memory::AddressSpace& space);

 private:
  void watch(const Surface& surface);
  void find_clear_blocks(Surface& surface, memory::AddressSpace& space);
  const Surface* at(const Generation& generation, memory::AddressSpace& space, uint64_t address, uint64_t aux_table);

  std::array<const Surface*, 256> by_index_{};
  std::unordered_map<uint64_t, Surface> by_address_;
  std::deque<ClearBlocks> clear_blocks_;  // of surfaces in by_address_
  uint64_t age_ = 0;
  spec::UnreadFields unread_;
  MemoryClient client_;
  bool settles_ = true;
  bool watches_states_ = false;
  SurfaceUses uses_;
};

}  // namespace halogen::message
