// Number of repetitions of a launch, chosen by its time.
#pragma once

namespace sptile::tools {

/// `warmup` launches without timing, then `groups` timings of `per_group` consecutive launches each.
struct LaunchSchedule {
  int warmup, groups, per_group;
  bool operator==(const LaunchSchedule&) const = default;
};

/// Chooses a schedule for a launch of `once_us` microseconds. Events have a resolution of about a
/// microsecond, so short launches are timed in groups of 10, and the median group counts. Launches of more
/// than 6 ms: 2 + 5 groups of 2; of more than 20 ms: 1 + 5 single ones. If L2 is flushed before each launch,
/// each timing has one launch: 50, or 10 above 2 ms.
constexpr LaunchSchedule schedule_launches(double once_us, bool flush_l2) {
  if (flush_l2) return once_us > 2e3 ? LaunchSchedule{2, 10, 1} : LaunchSchedule{10, 50, 1};
  if (once_us > 20e3) return {1, 5, 1};
  if (once_us > 6e3) return {2, 5, 2};
  return {10, 5, 10};
}

}  // namespace sptile::tools
