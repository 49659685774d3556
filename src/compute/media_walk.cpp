#include "compute/media_walk.h"

#include <algorithm>

namespace halogen::compute {
namespace {

struct Point {
  int64_t x = 0;
  int64_t y = 0;
  Point& operator+=(const Point& other) {
    x += other.x;
    y += other.y;
    return *this;
  }
  bool is_zero() const { return x == 0 && y == 0; }
};

bool inside(const Point& point, const Point& size) {
  return point.x >= 0 && point.y >= 0 && point.x < size.x && point.y < size.y;
}

// Computes the number of steps until a coordinate is in [0, size). False: it never is.
bool steps_into(int64_t at, int64_t step, int64_t size, int64_t& steps) {
  if (at >= 0 && at < size) {
    steps = 0;
    return true;
  }
  if (step == 0 || (at < 0) != (step > 0)) {
    return false;
  }
  const int64_t way = at < 0 ? -at : at - size + 1;
  const int64_t length = step < 0 ? -step : step;
  steps = (way + length - 1) / length;
  return true;
}

// Moves the point by whole steps until it is inside. False: it never gets inside, and the point is not changed.
bool move_in(Point& point, const Point& step, const Point& size) {
  int64_t across = 0;
  int64_t down = 0;
  if (!steps_into(point.x, step.x, size.x, across) || !steps_into(point.y, step.y, size.y, down)) {
    return false;
  }
  const int64_t steps = std::max(across, down);
  Point moved = point;
  moved += {step.x * steps, step.y * steps};
  if (!inside(moved, size)) {
    return false;
  }
  point = moved;
  return true;
}

class Walking {
 public:
  Walking(const hw::MEDIA_OBJECT_WALKER& walker, size_t max, std::vector<MediaPosition>& positions)
      : in_(walker), max_(max), positions_(positions) {}

  bool global() {
    const Point size{in_.global_resolution_x, in_.global_resolution_y};
    const Point stride{in_.global_outer_loop_stride_x, in_.global_outer_loop_stride_y};
    const Point unit{in_.global_inner_loop_unit_x, in_.global_inner_loop_unit_y};
    Point outer{in_.global_start_x, in_.global_start_y};
    for (uint32_t round = 0; round <= in_.global_loop_exec_count; ++round, outer += stride) {
      for (Point block = outer; inside(block, size); block += unit) {
        if (!local(block, size)) {
          return false;
        }
        if (unit.is_zero()) {
          break;
        }
      }
      if (stride.is_zero() || !inside(outer, size)) {
        break;
      }
    }
    return true;
  }

 private:
  bool local(const Point& block, const Point& all) {
    const Point size{std::min<int64_t>(in_.block_resolution_x, all.x - block.x),
                     std::min<int64_t>(in_.block_resolution_y, all.y - block.y)};
    const Point stride{in_.local_outer_loop_stride_x, in_.local_outer_loop_stride_y};
    const Point middle{in_.local_mid_loop_unit_x, in_.local_mid_loop_unit_y};
    const Point unit{in_.local_inner_loop_unit_x, in_.local_inner_loop_unit_y};
    Point outer{in_.local_start_x, in_.local_start_y};
    for (uint32_t round = 0; round <= in_.local_loop_exec_count; ++round, outer += stride) {
      if (++rounds_ > kMaxRounds) {
        return false;
      }
      if (!move_in(outer, unit, size)) {
        continue;  // this wave is empty, but a later one may not be
      }
      Point start = outer;
      for (uint32_t step = 0; step <= in_.middle_loop_extra_steps; ++step, start += middle) {
        if (!inner(start, unit, size, block)) {
          return false;
        }
      }
      if (stride.is_zero()) {
        break;
      }
    }
    return true;
  }

  bool inner(const Point& start, const Point& unit, const Point& size, const Point& block) {
    for (Point at = start; inside(at, size); at += unit) {
      const MediaPosition here{static_cast<uint16_t>(block.x + at.x), static_cast<uint16_t>(block.y + at.y)};
      for (uint32_t color = 0; color <= in_.color_count_minus_one; ++color) {
        if (positions_.size() >= max_) {
          return false;
        }
        positions_.push_back(here);
      }
      if (unit.is_zero()) {
        break;
      }
    }
    return true;
  }

  static constexpr uint32_t kMaxRounds = 1 << 22;  // of local loops, including empty ones

  const hw::MEDIA_OBJECT_WALKER& in_;
  uint32_t rounds_ = 0;
  size_t max_;
  std::vector<MediaPosition>& positions_;
};

}  // namespace

bool walk_positions(const hw::MEDIA_OBJECT_WALKER& walker, size_t max, std::vector<MediaPosition>& positions) {
  return Walking(walker, max, positions).global();
}

}  // namespace halogen::compute
