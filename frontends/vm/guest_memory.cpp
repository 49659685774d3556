#include "guest_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

// Seals the size of a memory file and checks that its pages cannot go away. Other kinds of files have no seals, and
// huge pages may run out when they are touched.
Result<void> check(const File& file) {
  static_cast<void>(fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK));  // fails if it is sealed already
  const int seals = fcntl(file.descriptor(), F_GET_SEALS);
  if (seals < 0) return Error{"cannot map the machine's memory: it must be a memory file (memory-backend-memfd)."};
  if ((seals & F_SEAL_SHRINK) == 0) {
    return Error{"cannot map the machine's memory: its size is not sealed (memory-backend-memfd with seal=on)."};
  }
  struct statfs where {};
  if (fstatfs(file.descriptor(), &where) != 0 || where.f_type != TMPFS_MAGIC) {
    return Error{
        "cannot map the machine's memory: huge pages are not supported (memory-backend-memfd with hugetlb=off)."};
  }
  return {};
}

}  // namespace

GuestMemory::~GuestMemory() {
  for (const Mapping& mapping : mappings_) munmap(mapping.memory, mapping.bytes);
}

Result<GuestMemory::Mapping> GuestMemory::mapping_of(const File& file) {
  if (const auto checked = check(file); !checked) return checked.error();
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0 || status.st_size <= 0) {
    return Error{"cannot map the machine's memory: its file is empty."};
  }
  const auto bytes = static_cast<uint64_t>(status.st_size);
  const auto known = std::ranges::find_if(mappings_, [&](const Mapping& mapping) {
    return mapping.device == status.st_dev && mapping.number == status.st_ino && mapping.bytes == bytes;
  });
  if (known != mappings_.end()) return *known;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) {
    return Error{fmt::format("cannot map the machine's memory: {}.", std::strerror(errno))};
  }
  mappings_.push_back({status.st_dev, status.st_ino, static_cast<std::byte*>(memory), bytes});
  return mappings_.back();
}

Result<void> GuestMemory::set_map(const MemoryMap& map, std::span<const File> files, const Revoke& revoke) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < std::min(files.size(), MemoryMap::kPieces); ++i) {
    const auto mapping = mapping_of(files[i]);
    if (!mapping) return mapping.error();
    if (map.offset[i] > mapping->bytes || map.bytes[i] > mapping->bytes - map.offset[i] ||
        map.address[i] + map.bytes[i] < map.address[i]) {
      return Error{fmt::format("the machine's memory at {:#x} extends beyond its file.", map.address[i])};
    }
    if (map.bytes[i] != 0) pieces.push_back({map.address[i], map.bytes[i], mapping->memory + map.offset[i]});
  }
  std::vector<Piece> ordered = pieces;
  std::ranges::sort(ordered, {}, &Piece::address);
  for (size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i].address - ordered[i - 1].address >= ordered[i - 1].bytes) continue;
    return Error{fmt::format("the machine's memory at {:#x} overlaps memory before it.", ordered[i].address)};
  }
  std::vector<Piece> gone;
  for (const Piece& each : pieces_) {
    if (std::ranges::find(pieces, each) == pieces.end()) gone.push_back(each);
  }
  const bool changed = pieces != pieces_;
  pieces_ = std::move(pieces);
  if (changed) revoke(gone);
  unmap_unused();
  return {};
}

void GuestMemory::unmap_unused() {
  std::erase_if(mappings_, [&](const Mapping& mapping) {
    const bool used = std::ranges::any_of(pieces_, [&](const Piece& piece) {
      return piece.memory >= mapping.memory && piece.memory < mapping.memory + mapping.bytes;
    });
    if (!used) munmap(mapping.memory, mapping.bytes);
    return !used;
  });
}

const GuestMemory::Piece* GuestMemory::piece_at(uint64_t address) const {
  const auto found = std::ranges::find_if(
      pieces_, [&](const Piece& piece) { return address >= piece.address && address - piece.address < piece.bytes; });
  return found == pieces_.end() ? nullptr : &*found;
}

std::span<std::byte> GuestMemory::at(uint64_t address, uint64_t bytes) const {
  const Piece* piece = piece_at(address);
  if (piece == nullptr || bytes > piece->bytes - (address - piece->address)) return {};
  return {piece->memory + (address - piece->address), bytes};
}

bool GuestMemory::read(uint64_t address, std::span<std::byte> into) const {
  const std::span<std::byte> from = at(address, into.size());
  std::ranges::copy(from, into.begin());
  return from.size() == into.size();
}

bool GuestMemory::write(uint64_t address, std::span<const std::byte> from) const {
  const std::span<std::byte> to = at(address, from.size());
  if (to.size() != from.size()) return false;
  std::ranges::copy(from, to.begin());
  return true;
}

}  // namespace halogen::vm
