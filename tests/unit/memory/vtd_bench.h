// VtdBench: tables of an advanced context, written as numbers (VT-d 2.x layouts typed from the published structures):
// extended root table, context table of bus 0, PASID table, and second-level tables that map guest memory to other host
// addresses.
#pragma once

#include "memory/vtd.h"
#include "walk_rows_bench.h"

namespace halogen::memory::rows {

inline constexpr uint64_t kRoot = 0x0010'0000, kContexts = 0x0011'0000, kPasids = 0x0012'0000, kStates = 0x0013'0000;
inline constexpr uint64_t kSecondLevel = 0x0020'0000;
inline constexpr uint64_t kRootRegister = kRoot | bit_at(11);  // root table type: extended

// Bits of the extended context entry, by quadword.
inline constexpr uint64_t kCtxP = bit_at(0), kCtxDinve = bit_at(8), kCtxPre = bit_at(9), kCtxNeste = bit_at(10),
                          kCtxPaside = bit_at(11);
inline constexpr uint64_t kCtxAw48 = 2, kCtxAw39 = 1, kCtxNxe = bit_at(4), kCtxWpe = bit_at(5), kCtxCd = bit_at(6),
                          kCtxSmep = bit_at(24), kCtxEafe = bit_at(25), kCtxEre = bit_at(26), kCtxSlee = bit_at(27);
inline constexpr uint64_t kPatAllWb = uint64_t{0x6666'6666} << 32;  // eight entries of write-back
inline constexpr uint64_t kPasidP = bit_at(0), kPasid64k = bit_at(5), kPasidSre = bit_at(11);

struct VtdBench : Bench {
  explicit VtdBench(const char* device = "icl") : Bench(device) {
    put(kRoot, kContexts | 1);  // bus 0, devices 0 to 15
    put_context(0, base_context());
    put_pasid(5, kTables[0] | kPasidP);
  }

  static std::array<uint64_t, 4> base_context() {
    return {kCtxP | kCtxPaside | kCtxPre, kCtxAw48 | kCtxEre | kPatAllWb, kPasids | 4, kStates};  // 2^(4+5) PASIDs
  }
  // Device 2: entries 16 to 23 of the table, 32 bytes each.
  void put_context(unsigned function, const std::array<uint64_t, 4>& entry) {
    for (unsigned i = 0; i < 4; ++i) {
      put(kContexts + (2 * 8 + function) * 32 + 8 * i, entry[i]);
    }
  }
  void put_pasid(uint32_t pasid, uint64_t entry) { put(kPasids + 8 * pasid, entry); }
};

}  // namespace halogen::memory::rows
