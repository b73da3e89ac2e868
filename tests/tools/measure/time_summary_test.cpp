#include "tools/measure/time_summary.hpp"

#include <doctest/doctest.h>

#include <cmath>

using sptile::tools::summarise;
using sptile::tools::TimeSummary;

TEST_CASE("an odd count has its middle as median, in whatever order") {
  const TimeSummary s = summarise({5, 1, 3, 2, 4});
  CHECK(s.median == 3);
  CHECK(s.min == 1);
  CHECK(s.spread == doctest::Approx((4.6 - 1.4) / 3));
}

TEST_CASE("an even count has a middle too") { CHECK(summarise({4, 1, 2, 3}).median == 2.5); }

TEST_CASE("one timing is its own summary") {
  const TimeSummary s = summarise({7});
  CHECK(s.median == 7);
  CHECK(s.min == 7);
  CHECK(s.spread == 0);
}

TEST_CASE("one slow launch among many does not move the median, nor the spread of 50") {
  std::vector<double> times(50, 2.0);
  times[17] = 1000;
  const TimeSummary s = summarise(times);
  CHECK(s.median == 2);
  CHECK(s.spread == 0);
}

TEST_CASE("the spread is never negative, and 0 where all times are equal") {
  for (int count = 1; count < 40; ++count)
    for (const double time : {0.1, 0.3, 1.7e-5, 123.456789, 3e-7}) {
      CHECK(summarise(std::vector<double>(count, time)).spread == 0);
      std::vector<double> close(count, time);
      for (std::size_t i = 0; i < close.size(); i += 3) close[i] = std::nextafter(time, 1e3);
      CHECK(summarise(close).spread >= 0);
    }
}
