#include "driver/hw/page_tables.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "driver/hw/packed.h"
#include "hw/context.h"
#include "hw/mode.h"
#include "hw/page_tables.h"

namespace halogen::driver {
namespace {

class GlobalOnly final : public PageTables {
 public:
  explicit GlobalOnly(GlobalTable& global) : global_(global) {}
  bool map(uint64_t address, const PageRun& run) override {
    global_.write(address, run);
    return true;
  }
  void unmap(uint64_t address, uint64_t bytes) override { global_.clear(address, bytes); }

 private:
  GlobalTable& global_;
};

// The page directory lies among the entries of the global table. Each of its entries points to a page of 1024 entries.
class BesideGlobal final : public PageTables {
 public:
  BesideGlobal(Hardware& hardware, GlobalTable& global)
      : hardware_(hardware), global_(global), format_(format_of(hardware.model(), memory::WalkMode::ppgtt_directory)) {
    hw::GTT_PTE cached;
    cached.cacheability = hw::GTT_PTE::Cacheability::LLC;
    cached_ = packed(cached, hardware.model());
    const std::optional<uint64_t> first = global.reserve_entries(kDirectoryEntries);
    check(first.has_value(), "the global table has space for a page directory");
    directory_ = *first;
    const std::optional<PageRun> nothing = hardware.allocate(kPageBytes);
    check(nothing.has_value(), "memory holds a scratch page");
    nothing_ = *nothing;
    for (uint64_t i = 0; i < kDirectoryEntries; ++i) {
      const std::optional<PageRun> table = hardware.allocate(kPageBytes);
      check(table.has_value(), "memory holds the page tables");
      tables_.push_back(*table);
      for (uint64_t page = 0; page < kTableEntries; ++page) put(i * kTableEntries + page, nothing_.address);
      hardware.write_entry(directory_ + i, entry(format_.levels[0].table, table->address));
    }
  }
  void load(const spec::EngineModel& engine) override {
    const spec::DeviceModel& model = hardware_.model();
    hw::GFX_MODE mode;  // only the render engine has it
    mode.ppgtt_enable = true;
    hw::PP_DIR_BASE base;
    base.page_directory_base_offset = static_cast<uint16_t>(directory_ * hardware_.entry_bytes() / kBaseUnit);
    hardware_.write(model.engines[0], at(hw::GFX_MODE::kDesc), Hardware::masked(packed32(mode, model), true));
    hardware_.write(engine, at(hw::PP_DIR_DCLV::kDesc), 0xffff'ffff);
    hardware_.write(engine, at(hw::PP_DIR_BASE::kDesc), packed32(base, model));
  }
  bool map(uint64_t address, const PageRun& run) override {
    global_.write(address, run);
    for (uint64_t done = 0; done < run.bytes; done += kPageBytes) {
      put((address + done) / kPageBytes, run.address + done);
    }
    return true;
  }
  void unmap(uint64_t address, uint64_t bytes) override {
    global_.clear(address, bytes);
    for (uint64_t done = 0; done < bytes; done += kPageBytes) put((address + done) / kPageBytes, nothing_.address);
  }

 private:
  static constexpr uint64_t kDirectoryEntries = 512;
  static constexpr uint64_t kTableEntries = 1024;
  static constexpr uint64_t kBaseUnit = 64;  // bytes of the global table

  uint32_t at(const spec::RegisterDesc& desc) const { return desc.offset(hardware_.model().id); }
  static uint64_t entry(const memory::EntryFormat& format, uint64_t address) {
    return entry_address(format, address) | format.present;
  }
  void put(uint64_t page, uint64_t address) {
    hardware_.store(tables_[page / kTableEntries], page % kTableEntries * 4,
                    static_cast<uint32_t>(entry(format_.levels[1].table, address) | cached_));
  }

  Hardware& hardware_;
  GlobalTable& global_;
  memory::PageFormat format_;
  uint64_t cached_ = 0;  // cached in the last-level cache
  uint64_t directory_ = 0;
  PageRun nothing_;
  std::vector<PageRun> tables_;
};

// Trees with 512 entries per table. A table is created when an address below it is first mapped.
class Tree final : public PageTables {
 public:
  explicit Tree(Hardware& hardware)
      : hardware_(hardware),
        local_(hardware.has(spec::Feature::local_memory)),
        levels_(hardware.has(spec::Feature::ppgtt_4level) ? 4 : 3),
        format_(format_of(hardware.model(), levels_ == 4 ? memory::WalkMode::legacy48 : memory::WalkMode::legacy32)) {
    // Context images name the root tables, so these never change.
    for (size_t i = 0; i < static_cast<size_t>(root_count()); ++i) roots_[i] = make();
  }
  // False: out of memory for the root tables.
  bool complete() const {
    return std::all_of(roots_.begin(), roots_.begin() + root_count(), [](const auto& root) { return root != nullptr; });
  }
  bool map(uint64_t address, const PageRun& run) override {
    for (uint64_t done = 0; done < run.bytes; done += kPageBytes) {
      Node* const leaf = find(address + done, true);
      if (leaf == nullptr) return false;
      const memory::EntryFormat& entry = format_.levels.back().table;
      const uint64_t place = run.local ? entry.local_memory : 0;
      const uint64_t present = entry.present | (run.read_only ? 0 : entry.writable);
      hardware_.store<uint64_t>(leaf->page, index(address + done, 0) * 8,
                                entry_address(entry, run.address + done) | place | present);
    }
    return true;
  }
  void unmap(uint64_t address, uint64_t bytes) override {
    for (uint64_t done = 0; done < bytes; done += kPageBytes) {
      if (Node* const leaf = find(address + done, false)) {
        hardware_.store<uint64_t>(leaf->page, index(address + done, 0) * 8, 0);
      }
    }
  }
  std::array<uint64_t, 4> roots() const override {
    std::array<uint64_t, 4> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = roots_[i] ? roots_[i]->page.address : 0;
    return all;
  }

 private:
  struct Node {
    explicit Node(Hardware& the_hardware) : hardware(the_hardware) {}
    ~Node() { hardware.release(page); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    Hardware& hardware;
    PageRun page;
    std::array<std::unique_ptr<Node>, 512> below;
  };

  ptrdiff_t root_count() const { return levels_ == 4 ? 1 : std::ssize(roots_); }
  static uint64_t index(uint64_t address, unsigned level) { return address >> (12 + 9 * level) & 0x1ff; }

  std::unique_ptr<Node> make() {
    auto node = std::make_unique<Node>(hardware_);
    const std::optional<PageRun> page = hardware_.allocate(kPageBytes, local_);
    if (!page) return nullptr;
    node->page = *page;
    return node;
  }
  // Returns the last-level table for an address.
  Node* find(uint64_t address, bool create) {
    Node* node = roots_[levels_ == 4 ? 0 : address >> 30 & 3].get();
    for (unsigned level = levels_ == 4 ? 3 : 1; node != nullptr && level > 0; --level) {
      std::unique_ptr<Node>& next = node->below[index(address, level)];
      if (!next && create) {
        next = make();
        if (next) {
          const memory::EntryFormat& entry = format_.levels[format_.levels.size() - 1 - level].table;
          hardware_.store<uint64_t>(node->page, index(address, level) * 8,
                                    entry_address(entry, next->page.address) | entry.present | entry.writable);
        }
      }
      node = next.get();
    }
    return node;
  }

  Hardware& hardware_;
  bool local_;
  unsigned levels_;
  memory::PageFormat format_;
  std::array<std::unique_ptr<Node>, 4> roots_;
};

}  // namespace

std::unique_ptr<PageTables> make_shared_tables(Hardware& hardware, GlobalTable& global) {
  if (hardware.has(spec::Feature::ppgtt_2level)) return std::make_unique<BesideGlobal>(hardware, global);
  return std::make_unique<GlobalOnly>(global);
}

std::unique_ptr<PageTables> make_own_tables(Hardware& hardware) {
  auto tree = std::make_unique<Tree>(hardware);
  if (!tree->complete()) return nullptr;
  return tree;
}

}  // namespace halogen::driver
