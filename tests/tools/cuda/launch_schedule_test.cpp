#include "tools/cuda/launch_schedule.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using sptile::tools::LaunchSchedule;
using sptile::tools::schedule_launches;

TEST_CASE("short launches are timed in groups, long ones less often") {
  CHECK(schedule_launches(3, false) == LaunchSchedule{10, 5, 10});
  CHECK(schedule_launches(6e3, false) == LaunchSchedule{10, 5, 10});
  CHECK(schedule_launches(6.1e3, false) == LaunchSchedule{2, 5, 2});
  CHECK(schedule_launches(25e3, false) == LaunchSchedule{1, 5, 1});
}

TEST_CASE("with a cold cache every launch is timed by itself") {
  CHECK(schedule_launches(3, true) == LaunchSchedule{10, 50, 1});
  CHECK(schedule_launches(2.1e3, true) == LaunchSchedule{2, 10, 1});
  CHECK(schedule_launches(90e3, true).per_group == 1);
}

TEST_CASE("measuring takes at most 12 launches, or 0.6 s longer than them") {
  for (double us = 1; us < 1e6; us *= 1.7)
    for (const bool flush : {false, true}) {
      const LaunchSchedule s = schedule_launches(us, flush);
      CHECK(s.groups * s.per_group >= 5);
      CHECK((s.warmup + s.groups * s.per_group) * us <= 12 * us + 0.6e6);
    }
}
