// Headers that most files of the lower rooms read (Precompiled.cmake).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/event.h"
#include "gen/generation.h"
#include "hw/enums.h"
#include "spec/descriptors.h"
#include "spec/item_ids.h"
