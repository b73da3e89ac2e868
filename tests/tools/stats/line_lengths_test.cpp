#include "tools/stats/line_lengths.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace sptile::tools;

namespace {
// Every bin starts behind the one before, and together they have all lines, each in its range.
void check_bins(const std::vector<std::int64_t>& lengths, std::size_t max_bins) {
  const auto bins = length_bins(lengths, max_bins);
  std::int64_t lines = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    CHECK(bins[i].min <= bins[i].max);
    if (i > 0) CHECK(bins[i].min == bins[i - 1].max + 1);
    std::int64_t inside = 0;
    for (const std::int64_t n : lengths) inside += n >= bins[i].min && n <= bins[i].max;
    CHECK(bins[i].lines == inside);
    lines += bins[i].lines;
  }
  CHECK(lines == static_cast<std::int64_t>(lengths.size()));
}
}  // namespace

TEST_CASE("bins have every line once, few lengths one bin each") {
  check_bins({3, 4, 4, 7}, 8);
  check_bins({0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 1000000}, 8);
  check_bins({2, 2, 2}, 2);
  check_bins({0, std::numeric_limits<std::int32_t>::max()}, 16);
  CHECK(length_bins({3, 4, 4, 7}, 8).size() == 5);
  CHECK(length_bins({0, 1, 2, 3, 8}, 4).size() == 5);  // 0, 1, 2, 3 to 4, 5 to 8
  CHECK(length_bins({}, 8).empty());
}

TEST_CASE("long lines are counted over all lines, and bins hold the lines that are not empty") {
  const LineLengths lengths = measure_lengths({0, 1, 1, 1, 1, 8, 20}, 8);  // mean 4
  CHECK(lengths.mean == 4);
  CHECK(lengths.above_2x_mean == 1.0 / 8);  // 20; 8 is not above twice the mean
  CHECK(lengths.above_4x_mean == 1.0 / 8);
  std::int64_t lines = 0;
  for (const LengthBin& bin : lengths.bins) lines += bin.lines;
  CHECK(lines == 6);
  CHECK(measure_lengths({}, 0).bins.empty());
}
