// Thresholds out of made-up measurements.
#include "tools/calibrate/threshold.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using namespace sptile::tools;

TEST_CASE("fit_thresholds: the least sum of log times, for each precision and N") {
  std::vector<ThresholdSample> samples;
  const auto add = [&](const char* matrix, const char* precision, std::int64_t n, int threshold, double us) {
    samples.push_back({matrix, "k", precision, n, threshold, us});
  };
  add("a", "tf32", 128, 2, 10), add("a", "tf32", 128, 3, 5), add("a", "tf32", 128, 4, 20);
  add("b", "tf32", 128, 2, 1), add("b", "tf32", 128, 3, 1.5), add("b", "tf32", 128, 4, 2);
  add("c", "tf32", 128, 2, 1e-3);  // was not measured with the others: does not count
  add("a", "tf32", 32, 2, 3), add("a", "tf32", 32, 3, 3);
  add("a", "fp16", 128, 2, 3), add("a", "fp16", 128, 3, 2);
  const auto numbers = fit_thresholds(samples);
  REQUIRE(numbers.size() == 3);
  const auto value = [&](const char* precision, const char* name) {
    for (const runtime::ProfileNumber& number : numbers)
      if (number.precision == precision && number.name == name) return number.value;
    return -1.0;
  };
  CHECK(value("tf32", "threshold_128") == 3);
  CHECK(value("tf32", "threshold_32") == 2);
  CHECK(value("fp16", "threshold_128") == 3);
  CHECK(fit_thresholds({}).empty());
}

TEST_CASE("occupancy: two streams below the ratios that divide the samples best") {
  // Two streams win where the tiles' ratio is below 4 and the rows' below 10.
  std::vector<OccupancySample> samples;
  for (const double tiles : {1.0, 2.0, 8.0})
    for (const double rows : {2.0, 5.0, 20.0}) {
      const bool two = tiles < 4 && rows < 10;
      samples.push_back({tiles, rows, two ? 12.0 : 10.0, two ? 10.0 : 12.0});
    }
  const auto numbers = fit_occupancy(samples);
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0].kernel == "cuda.libra_spmm.streams_fitted");
  CHECK(numbers[0].name == "occupancy_tiles");
  CHECK(numbers[0].precision == "any");
  CHECK(numbers[0].value == doctest::Approx(4));
  CHECK(numbers[1].name == "occupancy_rows");
  CHECK(numbers[1].value == doctest::Approx(10));
}

TEST_CASE("occupancy: always one stream, always two, and what is known where nothing is better") {
  std::vector<OccupancySample> samples = {{1, 1, 5, 9}, {2, 7, 5, 9}};
  CHECK(fit_occupancy(samples)[0].value < 1);
  for (OccupancySample& sample : samples) std::swap(sample.sequential_us, sample.concurrent_us);
  CHECK(fit_occupancy(samples, {.tiles = 1, .rows = 1})[0].value > 2);
  CHECK(fit_occupancy(samples, {.tiles = 33, .rows = 44})[0].value == 33);
  CHECK(fit_occupancy({}).empty());
}
