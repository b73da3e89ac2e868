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
