#include "reorder/methods/pack.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "formats/core/csr.hpp"
#include "reorder/methods/degree.hpp"
#include "reorder/quality/quality.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;

namespace {

std::vector<std::int32_t> pack(const Pattern& a, const reorder::Preset& preset, int height) {
  const auto order =
      reorder::order_by_packing(a.view(), {.seed = 1, .window_rows = height, .settings = preset.settings});
  REQUIRE(order.has_value());
  REQUIRE(formats::check_permutation(*order, a.rows).has_value());
  return *order;
}

/// A power law: column c stands in about rows / (c + 1) rows, row r has about cols / (r + 1) entries.
Pattern power_law(std::int64_t rows) {
  Pattern a;
  a.cols = rows;
  for (const std::int32_t rank : random_permutation(rows, RandomStream(17))) {
    std::set<std::int32_t> columns;
    RandomStream random(23, static_cast<std::uint64_t>(rank));
    for (std::int64_t left = 2 + 2 * rows / (8 + rank); left > 0; --left)
      columns.insert(static_cast<std::int32_t>(static_cast<double>(rows) * std::pow(random.uniform(), 3)));
    a.add_row(columns);
  }
  return a;
}

}  // namespace

TEST_CASE("pack: every preset finds planted groups, whatever the window height") {
  for (const reorder::Preset& preset : reorder::kPackPresets)
    for (const int height : {1, 2, 5, 8, 16, 24, 64}) {
      CAPTURE(preset.name);
      CAPTURE(height);
      const Pattern a = tests::planted_groups(60, height, 4, 3);
      CHECK(reorder::measure_windows(a.view(), pack(a, preset, height), height).distinct_columns == 60 * 4);
    }
}

TEST_CASE("pack: what is near in the original order of many rows stays near") {
  constexpr std::int64_t kRows = 140000;
  Pattern a;
  a.cols = kRows;
  for (std::int64_t r = 0; r < kRows; ++r) {
    std::set<std::int32_t> columns;
    RandomStream random(29, static_cast<std::uint64_t>(r));
    for (int i = 0; i < 4; ++i) {
      const double away = std::pow(2 * random.uniform() - 1, 3) * 20000;
      columns.insert(static_cast<std::int32_t>(
          std::clamp<std::int64_t>(r + static_cast<std::int64_t>(away), 0, kRows - 1)));
    }
    a.add_row(columns);
  }
  const auto columns = [&](std::span<const std::int32_t> order, int height) {
    return static_cast<double>(reorder::measure_windows(a.view(), order, height).distinct_columns);
  };
  const auto order = pack(a, {"default", "", {}}, 16);
  CHECK(columns(order, 16) < 0.9 * columns({}, 16));
  CHECK(columns(order, 1 << 16) < 1.2 * columns({}, 1 << 16));
}

TEST_CASE("pack: empty rows come last, in their order") {
  const Pattern a = tests::random_pattern(300, 40, 3, 2);
  for (const reorder::Preset& preset : reorder::kPackPresets) {
    const auto order = pack(a, preset, 8);
    const auto is_empty = [&](std::int32_t row) { return a.view().row_nnz(row) == 0; };
    const auto first = std::find_if(order.begin(), order.end(), is_empty);
    CHECK(first != order.end());
    CHECK(std::all_of(first, order.end(), is_empty));
    CHECK(std::is_sorted(first, order.end()));
  }
}

TEST_CASE("pack: on a power law it is as dense as degree order at least, also at twice the height") {
  const Pattern a = power_law(4000);
  const auto degrees = *reorder::order_by_degree(a.view(), {});
  for (const reorder::Preset& preset : reorder::kPackPresets)
    for (const int height : {8, 16}) {
      CHECK(reorder::measure_windows(a.view(), pack(a, preset, 8), height).tc_blocks <=
            reorder::measure_windows(a.view(), degrees, height).tc_blocks);
    }
}

TEST_CASE("pack: swaps make the small windows better and matching the tall ones") {
  const Pattern a = tests::random_pattern(5000, 3000, 14, 4);
  const auto fast = pack(a, reorder::kPackPresets[0], 8), matched = pack(a, reorder::kPackPresets[1], 8),
             best = pack(a, reorder::kPackPresets[2], 8);
  const auto columns = [&](const std::vector<std::int32_t>& order, int height) {
    return reorder::measure_windows(a.view(), order, height).distinct_columns;
  };
  CHECK(columns(matched, 8) < columns(fast, 8));
  CHECK(columns(matched, 16) < columns(fast, 16));
  CHECK(columns(matched, 64) < columns(fast, 64));
  CHECK(columns(best, 8) < columns(matched, 8));
}

TEST_CASE("pack: the same for any number of threads and each time") {
  const Pattern a = tests::random_pattern(9000, 3000, 14, 14);
  for (const reorder::Preset& preset : reorder::kPackPresets) {
    CAPTURE(preset.name);
    const auto first = pack(a, preset, 8);
    for (const std::size_t threads : {1, 2, 8}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      CHECK(pack(a, preset, 8) == first);
    }
  }
}

TEST_CASE("pack: stops when cancelled, in every preset") {
  const Pattern a = tests::planted_groups(300, 8, 3, 1);
  for (const reorder::Preset& preset : reorder::kPackPresets) {
    Progress progress;
    progress.cancelled = true;
    const auto order =
        reorder::order_by_packing(a.view(), {.seed = 1, .progress = &progress, .settings = preset.settings});
    REQUIRE_FALSE(order.has_value());
    CHECK(order.error().code == Errc::io);
  }
}
