#include "table_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace halogen::memory::worlds {
namespace {

constexpr WalkMode kModes[] = {WalkMode::ggtt,     WalkMode::ppgtt_flat, WalkMode::ppgtt_directory,
                               WalkMode::legacy32, WalkMode::legacy48,   WalkMode::advanced48};

bool has_dword_entries(WalkMode mode, spec::GenId gen) {
  return mode == WalkMode::ppgtt_flat || mode == WalkMode::ppgtt_directory ||
         (mode == WalkMode::ggtt && gen <= spec::GenId::gen6);
}

unsigned address_bits_of(WalkMode mode) {
  switch (mode) {
    case WalkMode::ggtt:
    case WalkMode::legacy32:
      return 32;
    case WalkMode::ppgtt_flat:
    case WalkMode::ppgtt_directory:
      return 31;
    case WalkMode::legacy48:
    case WalkMode::advanced48:
      return 48;
  }
  return 0;
}

std::string describe(const Mapping& mapping) {
  return fmt::format("page 0x{:x} bits {} space {} rights {}{}{}{} null {} snooped {} type {}", mapping.address,
                     mapping.page_bits, static_cast<int>(mapping.space), mapping.writable ? 'w' : '-',
                     mapping.user ? 'u' : '-', mapping.executable ? 'x' : '-', mapping.dirty ? 'd' : '-', mapping.null,
                     mapping.snooped, mapping.type_index);
}

}  // namespace

// One copy of the frames of one memory space, from frame `first` on.
class World::Frames final : public FrameSource {
 public:
  Frames(const World& world, MemorySpace space, uint64_t first) : world_(&world), space_(space), first_(first) {}

  std::byte* frame(uint64_t number) override {
    number += first_;
    if (!world_->exists(space_, number)) {
      return nullptr;
    }
    std::unique_ptr<std::byte[]>& block = blocks_[number];
    if (!block) {
      block.reset(new std::byte[kFrameBytes]);
      world_->generate(space_, number, block.get());
    }
    return block.get();
  }
  void move() {
    for (auto& [number, block] : blocks_) {
      std::unique_ptr<std::byte[]> moved(new std::byte[kFrameBytes]);
      std::memcpy(moved.get(), block.get(), kFrameBytes);
      block = std::move(moved);
    }
  }
  MemorySpace space() const { return space_; }
  const auto& blocks() const { return blocks_; }

 private:
  const World* world_;
  MemorySpace space_;
  uint64_t first_;
  std::unordered_map<uint64_t, std::unique_ptr<std::byte[]>>
      blocks_;  // one heap block per frame, so that overruns are detected
};

class World::SlowFrames final : public slow::Memory {
 public:
  explicit SlowFrames(const World& world)
      : system_(world, MemorySpace::system, 0), local_(world, MemorySpace::local, 0) {}
  uint8_t* frame(MemorySpace space, uint64_t number) override {
    return reinterpret_cast<uint8_t*>((space == MemorySpace::system ? system_ : local_).frame(number));
  }
  const Frames& of(MemorySpace space) const { return space == MemorySpace::system ? system_ : local_; }

 private:
  Frames system_;
  Frames local_;
};

std::vector<WorldKind> all_kinds() {
  std::vector<WorldKind> kinds;
  for (const spec::DeviceModel& model : spec::device_models()) {
    for (const WalkMode mode : kModes) {
      if (PageFormats(model, model.physical_bits).find(mode) == nullptr) {
        continue;
      }
      kinds.push_back({&model, mode, model.physical_bits});
      if (!has_dword_entries(mode, model.gen)) {
        kinds.push_back({&model, mode, 46});
      }
    }
  }
  return kinds;
}

std::string name_of(const WorldKind& kind) {
  return fmt::format("{} {} haw {}", kind.model->name, memory::name_of(kind.mode), kind.haw);
}

World::World(const WorldKind& kind, uint64_t seed)
    : kind_(kind), seed_(seed), formats_(std::make_unique<PageFormats>(*kind.model, kind.haw)) {
  Random random(seed);
  hostility_ = static_cast<unsigned>(random.below(3) * 4);
  const uint64_t frames = uint64_t{1} << (kind.haw - kFrameBits);
  for (uint64_t number = 0; number < 6; ++number) {
    pool_.push_back(number);
  }
  for (unsigned i = 0; i < 4; ++i) {
    pool_.push_back(random.below(frames));
    pool_.push_back(align_down(random.below(frames), 16));
    pool_.push_back(align_down(random.below(frames), 512));
    pool_.push_back(align_down(random.below(frames), 512 * 512));
  }
  pool_.push_back(frames - 1);

  second_window_ = random.below(frames / 2);
  second_frames_ = 1 + random.below(frames - second_window_);
  fast_.push_back(std::make_unique<Frames>(*this, MemorySpace::system, 0));
  fast_.push_back(std::make_unique<Frames>(*this, MemorySpace::system, second_window_));
  fast_.push_back(std::make_unique<Frames>(*this, MemorySpace::local, 0));
  slow_ = std::make_unique<SlowFrames>(*this);
  add_windows();

  slow::Context& slow = slow_context_;
  slow.haw = kind.haw;
  for (uint64_t& root : slow.root) {
    root = pool_[random.below(pool_.size())] << kFrameBits;
  }
  const bool has_local = kind.model->has(spec::Feature::local_memory);
  const bool advanced = kind.mode == WalkMode::advanced48;
  slow.table_space = has_local && random.percent(50) ? MemorySpace::local : MemorySpace::system;
  slow.local_memory = has_local;
  slow.medium_pages = random.percent(75);
  slow.accessed_dirty = advanced && random.percent(75);
  slow.extended_accessed = advanced && random.percent(50);
  slow.execute_disable = advanced && random.percent(50);
  slow.write_protect = random.percent(75);
  slow.supervisor = advanced && random.percent(25);
  const bool counted =
      kind.mode == WalkMode::ggtt || kind.mode == WalkMode::ppgtt_flat || kind.mode == WalkMode::ppgtt_directory;
  if (counted && random.percent(50)) {
    slow.entries = 1 + random.below(kind.mode == WalkMode::ppgtt_directory ? 512 : 1 << 20);
  }

  context_.format = formats_->find(kind.mode);
  std::copy(std::begin(slow.root), std::end(slow.root), std::begin(context_.roots));
  context_.table_space = slow.table_space;
  context_.entries = slow.entries;
  context_.local_memory = slow.local_memory;
  context_.medium_pages = slow.medium_pages;
  context_.accessed_dirty = slow.accessed_dirty;
  context_.extended_accessed = slow.extended_accessed;
  context_.execute_disable = slow.execute_disable;
  context_.write_protect = slow.write_protect;
  context_.supervisor = slow.supervisor;
}

World::~World() = default;

// Maps a window over everything, another window that hides a part of it, and local memory.
void World::add_windows() {
  const uint64_t bytes = uint64_t{1} << kind_.haw;
  memory_.add({MemorySpace::system, MemoryKind::ram, 0, bytes, fast_[0].get()});
  memory_.add({MemorySpace::system, MemoryKind::data_stolen, second_window_ << kFrameBits, second_frames_ << kFrameBits,
               fast_[1].get()});
  memory_.add({MemorySpace::local, MemoryKind::local, 0, bytes, fast_[2].get()});
}

void World::move_frames() {
  memory_.remove_all(MemorySpace::system);
  memory_.remove_all(MemorySpace::local);
  for (const auto& frames : fast_) {
    frames->move();
  }
  add_windows();
}

void World::set_root(unsigned which, uint64_t address) {
  slow_context_.root[which % 4] = address;
  context_.roots[which % 4] = address;
}

slow::Memory& World::slow_memory() {
  return *slow_;
}

bool World::exists(MemorySpace space, uint64_t number) const {
  return number >> (kind_.haw - kFrameBits) == 0 &&
         Random(seed_ ^ (number * 2 + static_cast<uint64_t>(space))).below(hostility_ == 0 ? 64 : 12) != 0;
}

void World::generate(MemorySpace space, uint64_t number, std::byte* into) const {
  Random random(seed_ + number * 3 + static_cast<uint64_t>(space));
  const bool dwords = has_dword_entries(kind_.mode, kind_.model->gen);
  const size_t bytes = dwords ? 4 : 8;
  for (size_t at = 0; at < kFrameBytes; at += bytes) {
    const uint64_t entry = dwords ? random_dword_entry(random) : random_entry(random);
    std::memcpy(into + at, &entry, bytes);
  }
}

uint64_t World::random_dword_entry(Random& random) const {
  const uint64_t roll = random.next();
  if (roll % 100 < hostility_) {
    return roll >> 32;
  }
  const uint64_t target = pool_[(roll >> 32) % pool_.size()] << kFrameBits;
  return (target & 0xffff'f000) | ((target >> 28) & 0xff0) | ((roll >> 8) & 0xe) | 1;
}

uint64_t World::random_entry(Random& random) const {
  const uint64_t roll = random.next();
  if (roll % 100 < hostility_) {
    const uint64_t choice = random.below(8);
    return choice < 5 ? 0 : (choice < 7 ? random.next() : ~uint64_t{0});
  }
  uint64_t entry = pool_[(roll >> 32) % pool_.size()] << kFrameBits;
  entry |= (roll >> 8) & 0x578;  // PWT, PCD, A, D, G, EA: random
  const auto set = [&](unsigned bit, unsigned chance) { entry |= random.percent(chance) ? uint64_t{1} << bit : 0; };
  set(0, 100 - hostility_ / 2);
  set(1, 85);
  set(2, 100 - hostility_);
  if (random.percent(15)) {
    set(7, 100);
    if (!random.percent(hostility_)) {  // else the low address bits stay set: reserved in advanced tables
      entry &= ~(random.percent(50) ? uint64_t{0x3fff'e000} : uint64_t{0x1f'e000});
    }
  }
  set(9, 5);
  set(11, 25);
  set(63, 8);
  if (random.percent(hostility_ / 2)) {
    entry |= (roll >> 16) << kind_.haw;
  }
  return entry;
}

std::byte* World::fast_frame(MemorySpace space, uint64_t number) {
  return memory_.frame(space, PhysAddr(number << kFrameBits));
}

uint64_t World::random_address(Random& random) {
  const unsigned bits = address_bits_of(kind_.mode);
  const uint64_t roll = random.below(100);
  uint64_t address = random.next() & low_mask(bits);
  if (roll < 65 && !recent_.empty()) {
    address = recent_[random.below(recent_.size())];
    switch (random.below(4)) {
      case 0:
        address = (address & ~low_mask(12)) + random.below(1 << 14);
        break;
      case 1:
        address = (address & ~low_mask(21)) + random.below(1 << 22);
        break;
      case 2:
        address = (address | low_mask(12)) - random.below(16);
        break;
      default:
        break;
    }
  } else if (roll < 68) {
    address = random.next();
  } else if (roll < 70) {
    address = low_mask(bits) - random.below(64);
  } else if (bits == 48 && bit(address, 47)) {
    address |= ~low_mask(48);
  } else if (slow_context_.entries != 0 && roll < 95) {
    const uint64_t end = slow_context_.entries << (kind_.mode == WalkMode::ppgtt_directory ? 22 : 12);
    address = roll < 90 ? address % end : end - (1 << 20) + random.below(1 << 21);
  }
  if (recent_.size() < 32) {
    recent_.push_back(address);
  } else {
    recent_[random.below(32)] = address;
  }
  return address;
}

uint64_t World::in_range(uint64_t number) const {
  const unsigned bits = address_bits_of(kind_.mode);
  number &= low_mask(bits);
  return bits == 48 ? static_cast<uint64_t>(sign_extend(number, 48)) : number;
}

slow::Outcome World::expect(uint64_t address, Access access, bool update) {
  slow::Context context = slow_context_;
  context.accessed_dirty = context.accessed_dirty && update;
  return slow::find_walk(kind_.model->gen, kind_.mode)(*slow_, context, address, access);
}

bool World::flip(MemorySpace space, uint64_t address, uint64_t bits) {
  std::byte* fast = fast_frame(space, address >> kFrameBits);
  uint8_t* slow = slow_->frame(space, address >> kFrameBits);
  if (fast == nullptr || slow == nullptr) {
    return false;
  }
  const uint64_t offset = address & (kFrameBytes - 8);
  uint64_t value = 0;
  std::memcpy(&value, slow + offset, 8);
  value ^= bits;
  std::memcpy(fast + offset, &value, 8);
  std::memcpy(slow + offset, &value, 8);
  return true;
}

void World::adopt() {
  for (const auto& frames : fast_) {
    for (const auto& [number, block] : frames->blocks()) {
      std::memcpy(slow_->frame(frames->space(), number), block.get(), kFrameBytes);
    }
  }
}

std::string World::compare_memory() {
  const auto differ = [&](MemorySpace space, uint64_t number) -> std::string {
    const std::byte* fast = fast_frame(space, number);
    const uint8_t* slow = slow_->frame(space, number);
    if ((fast == nullptr) != (slow == nullptr)) {
      return fmt::format("frame 0x{:x} exists on one side only", number);
    }
    if (fast != nullptr && std::memcmp(fast, slow, kFrameBytes) != 0) {
      size_t at = 0;
      while (fast[at] == std::byte{slow[at]}) {
        ++at;
      }
      return fmt::format("memory space {} at 0x{:x}: 0x{:02x}, must be 0x{:02x}", static_cast<int>(space),
                         (number << kFrameBits) + at, std::to_integer<unsigned>(fast[at]), slow[at]);
    }
    return {};
  };
  const auto differ_in = [&](const Frames& frames) -> std::string {
    std::vector<uint64_t> numbers;
    for (const auto& [number, block] : frames.blocks()) {
      numbers.push_back(number);
    }
    for (const uint64_t number : numbers) {
      if (std::string text = differ(frames.space(), number); !text.empty()) {
        return text;
      }
    }
    return {};
  };
  for (const auto& frames : fast_) {
    if (std::string text = differ_in(*frames); !text.empty()) {
      return text;
    }
  }
  for (const MemorySpace space : {MemorySpace::system, MemorySpace::local}) {
    if (std::string text = differ_in(slow_->of(space)); !text.empty()) {
      return text;
    }
  }
  return {};
}

std::string compare_walk(World& world, uint64_t address, Access access) {
  const slow::Outcome expected = world.expect(address, access);
  const WalkResult result = walk(world.memory(), world.context(), address, access);
  if (result.fault.reason != expected.reason) {
    return fmt::format("0x{:x} {}{}: {}, must be {}", address, access.writes() ? 'w' : 'r',
                       access.instruction ? 'x' : '-', name_of(result.fault.reason), name_of(expected.reason));
  }
  if (!result.fault && result.mapping != expected.mapping) {
    return fmt::format("0x{:x} {}{}: {}, must be {}", address, access.writes() ? 'w' : 'r',
                       access.instruction ? 'x' : '-', describe(result.mapping), describe(expected.mapping));
  }
  return {};
}

}  // namespace halogen::memory::worlds
