// The manual's tables of page table entries, bit by bit, for pte_rows_test.cpp: Ice Lake PRM vol. 6
// (seed 001), rows ICL-PTE-01 to -17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "walk_rows_bench.h"

namespace halogen::memory::rows {

enum class Means : uint8_t {
  ignored,      // no effect
  reserved,     // set: reserved bit fault
  address,      // part of the address
  present,      // clear: not present fault
  write,        // clear: writes are denied
  no_write,     // a write permission without effect
  user,         // clear: supervisor page
  execute_off,  // set: fetches are denied, if the context enables it
  accessed,     // set by the walk
  dirty,        // set by a write
  extended,     // set by the walk, if the context enables it
  type0,        // index of the memory type
  type1,
  type2,
  size,    // changes the kind of the entry
  medium,  // the table below holds 64 KB pages
  null,    // null page: no memory
  local,   // local memory, on devices that have it
};

// kTop stands for the host address width: HAW-1 is the last address bit, 51:HAW lies above.
constexpr unsigned kTop = 100;
struct BitRow {
  unsigned hi;
  unsigned lo;
  Means means;
};

struct EntryKind {
  const char* name;
  WalkMode mode;
  Size size;
  size_t level;  // level of the entry in the chain
  std::vector<BitRow> rows;
};

using enum Means;

// ICL-PTE-01 to -07.
inline const EntryKind kAdvancedPml4e{"advanced PML4E",
                                      WalkMode::advanced48,
                                      Size::k4,
                                      0,
                                      {{63, 63, execute_off},
                                       {62, 52, ignored},
                                       {51, kTop, reserved},
                                       {kTop - 1, 12, address},
                                       {11, 11, ignored},
                                       {10, 10, extended},
                                       {9, 8, ignored},
                                       {7, 7, reserved},
                                       {6, 6, ignored},
                                       {5, 5, accessed},
                                       {4, 4, ignored},
                                       {3, 3, ignored},
                                       {2, 2, user},
                                       {1, 1, write},
                                       {0, 0, present}}};
inline const EntryKind kAdvancedPdpe{"advanced PDPE",
                                     WalkMode::advanced48,
                                     Size::k4,
                                     1,
                                     {{63, 63, execute_off},
                                      {62, 52, ignored},
                                      {51, kTop, reserved},
                                      {kTop - 1, 12, address},
                                      {11, 11, ignored},
                                      {10, 10, extended},
                                      {9, 8, ignored},
                                      {7, 7, size},
                                      {6, 6, ignored},
                                      {5, 5, accessed},
                                      {4, 3, ignored},
                                      {2, 2, user},
                                      {1, 1, write},
                                      {0, 0, present}}};
inline const EntryKind kAdvancedPdpe1g{"advanced PDPE 1 GB",
                                       WalkMode::advanced48,
                                       Size::g1,
                                       1,
                                       {{63, 63, execute_off},
                                        {62, 52, ignored},
                                        {51, kTop, reserved},
                                        {kTop - 1, 30, address},
                                        {29, 13, reserved},
                                        {12, 12, type2},
                                        {11, 11, ignored},
                                        {10, 10, extended},
                                        {9, 9, ignored},
                                        {8, 8, ignored},
                                        {7, 7, size},
                                        {6, 6, dirty},
                                        {5, 5, accessed},
                                        {4, 4, type1},
                                        {3, 3, type0},
                                        {2, 2, user},
                                        {1, 1, write},
                                        {0, 0, present}}};
inline const EntryKind kAdvancedPde{"advanced PDE",
                                    WalkMode::advanced48,
                                    Size::k4,
                                    2,
                                    {{63, 63, execute_off},
                                     {62, 52, ignored},
                                     {51, kTop, reserved},
                                     {kTop - 1, 12, address},
                                     {11, 11, medium},
                                     {10, 10, extended},
                                     {9, 8, ignored},
                                     {7, 7, size},
                                     {6, 6, ignored},
                                     {5, 5, accessed},
                                     {4, 3, ignored},
                                     {2, 2, user},
                                     {1, 1, write},
                                     {0, 0, present}}};
inline const EntryKind kAdvancedPde2m{"advanced PDE 2 MB",
                                      WalkMode::advanced48,
                                      Size::m2,
                                      2,
                                      {{63, 63, execute_off},
                                       {62, 52, ignored},
                                       {51, kTop, reserved},
                                       {kTop - 1, 21, address},
                                       {20, 13, reserved},
                                       {12, 12, type2},
                                       {11, 11, ignored},
                                       {10, 10, extended},
                                       {9, 9, ignored},
                                       {8, 8, ignored},
                                       {7, 7, size},
                                       {6, 6, dirty},
                                       {5, 5, accessed},
                                       {4, 4, type1},
                                       {3, 3, type0},
                                       {2, 2, user},
                                       {1, 1, write},
                                       {0, 0, present}}};
inline const EntryKind kAdvancedPte64k{"advanced PTE 64 KB",
                                       WalkMode::advanced48,
                                       Size::k64,
                                       3,
                                       {{63, 63, execute_off},
                                        {62, 52, ignored},
                                        {51, kTop, reserved},
                                        {kTop - 1, 16, address},
                                        {15, 12, reserved},
                                        {11, 11, ignored},
                                        {10, 10, extended},
                                        {9, 9, ignored},
                                        {8, 8, ignored},
                                        {7, 7, type2},
                                        {6, 6, dirty},
                                        {5, 5, accessed},
                                        {4, 4, type1},
                                        {3, 3, type0},
                                        {2, 2, user},
                                        {1, 1, write},
                                        {0, 0, present}}};
inline const EntryKind kAdvancedPte{"advanced PTE 4 KB",
                                    WalkMode::advanced48,
                                    Size::k4,
                                    3,
                                    {{63, 63, execute_off},
                                     {62, 52, ignored},
                                     {51, kTop, reserved},
                                     {kTop - 1, 12, address},
                                     {11, 11, ignored},
                                     {10, 10, extended},
                                     {9, 9, ignored},
                                     {8, 8, ignored},
                                     {7, 7, type2},
                                     {6, 6, dirty},
                                     {5, 5, accessed},
                                     {4, 4, type1},
                                     {3, 3, type0},
                                     {2, 2, user},
                                     {1, 1, write},
                                     {0, 0, present}}};
// ICL-PTE-08 to -10. Bit 11 of the directory entry is row ICL-WALK-05's.
inline const EntryKind kNarrowPde{"32-bit PDE",
                                  WalkMode::legacy32,
                                  Size::k4,
                                  0,
                                  {{63, kTop, ignored},
                                   {kTop - 1, 12, address},
                                   {11, 11, medium},
                                   {10, 2, ignored},
                                   {1, 1, no_write},
                                   {0, 0, present}}};
inline const EntryKind kNarrowPte64k{"32-bit PTE 64 KB",
                                     WalkMode::legacy32,
                                     Size::k64,
                                     1,
                                     {{63, kTop, ignored},
                                      {kTop - 1, 16, address},
                                      {15, 12, ignored},
                                      {11, 11, local},
                                      {10, 10, ignored},
                                      {9, 9, null},
                                      {8, 8, ignored},
                                      {7, 7, type2},
                                      {6, 5, ignored},
                                      {4, 4, type1},
                                      {3, 3, type0},
                                      {2, 2, ignored},
                                      {1, 1, write},
                                      {0, 0, present}}};
inline const EntryKind kNarrowPte{"32-bit PTE 4 KB",
                                  WalkMode::legacy32,
                                  Size::k4,
                                  1,
                                  {{63, kTop, ignored},
                                   {kTop - 1, 12, address},
                                   {11, 11, local},
                                   {10, 10, ignored},
                                   {9, 9, null},
                                   {8, 8, ignored},
                                   {7, 7, type2},
                                   {6, 5, ignored},
                                   {4, 4, type1},
                                   {3, 3, type0},
                                   {2, 2, ignored},
                                   {1, 1, write},
                                   {0, 0, present}}};
// ICL-PTE-11 to -17.
inline const EntryKind kLegacyPml4e{
    "48-bit PML4E",
    WalkMode::legacy48,
    Size::k4,
    0,
    {{63, kTop, ignored}, {kTop - 1, 12, address}, {11, 2, ignored}, {1, 1, no_write}, {0, 0, present}}};
inline const EntryKind kLegacyPdpe{"48-bit PDPE",
                                   WalkMode::legacy48,
                                   Size::k4,
                                   1,
                                   {{63, kTop, ignored},
                                    {kTop - 1, 12, address},
                                    {11, 8, ignored},
                                    {7, 7, size},
                                    {6, 2, ignored},
                                    {1, 1, no_write},
                                    {0, 0, present}}};
inline const EntryKind kLegacyPdpe1g{"48-bit PDPE 1 GB",
                                     WalkMode::legacy48,
                                     Size::g1,
                                     1,
                                     {{63, kTop, ignored},
                                      {kTop - 1, 30, address},
                                      {29, 13, ignored},
                                      {12, 12, type2},
                                      {11, 11, local},
                                      {10, 10, ignored},
                                      {9, 9, null},
                                      {8, 8, ignored},
                                      {7, 7, size},
                                      {6, 5, ignored},
                                      {4, 4, type1},
                                      {3, 3, type0},
                                      {2, 2, ignored},
                                      {1, 1, write},
                                      {0, 0, present}}};
inline const EntryKind kLegacyPde{"48-bit PDE",
                                  WalkMode::legacy48,
                                  Size::k4,
                                  2,
                                  {{63, kTop, ignored},
                                   {kTop - 1, 12, address},
                                   {11, 11, medium},
                                   {10, 8, ignored},
                                   {7, 7, size},
                                   {6, 2, ignored},
                                   {1, 1, no_write},
                                   {0, 0, present}}};
inline const EntryKind kLegacyPde2m{"48-bit PDE 2 MB",
                                    WalkMode::legacy48,
                                    Size::m2,
                                    2,
                                    {{63, kTop, ignored},
                                     {kTop - 1, 21, address},
                                     {20, 13, ignored},
                                     {12, 12, type2},
                                     {11, 11, local},
                                     {10, 10, ignored},
                                     {9, 9, null},
                                     {8, 8, ignored},
                                     {7, 7, size},
                                     {6, 5, ignored},
                                     {4, 4, type1},
                                     {3, 3, type0},
                                     {2, 2, ignored},
                                     {1, 1, write},
                                     {0, 0, present}}};
inline const EntryKind kLegacyPte64k{"48-bit PTE 64 KB",
                                     WalkMode::legacy48,
                                     Size::k64,
                                     3,
                                     {{63, kTop, ignored},
                                      {kTop - 1, 16, address},
                                      {15, 12, ignored},
                                      {11, 11, local},
                                      {10, 10, ignored},
                                      {9, 9, null},
                                      {8, 8, ignored},
                                      {7, 7, type2},
                                      {6, 5, ignored},
                                      {4, 4, type1},
                                      {3, 3, type0},
                                      {2, 2, ignored},
                                      {1, 1, write},
                                      {0, 0, present}}};
inline const EntryKind kLegacyPte{"48-bit PTE 4 KB",
                                  WalkMode::legacy48,
                                  Size::k4,
                                  3,
                                  {{63, kTop, ignored},
                                   {kTop - 1, 12, address},
                                   {11, 11, local},
                                   {10, 10, ignored},
                                   {9, 9, null},
                                   {8, 8, ignored},
                                   {7, 7, type2},
                                   {6, 5, ignored},
                                   {4, 4, type1},
                                   {3, 3, type0},
                                   {2, 2, ignored},
                                   {1, 1, write},
                                   {0, 0, present}}};

}  // namespace halogen::memory::rows
