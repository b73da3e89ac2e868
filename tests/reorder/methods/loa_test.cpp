#include "reorder/methods/loa.hpp"

#include <doctest/doctest.h>

#include <set>

#include "formats/core/csr.hpp"
#include "reorder/quality/quality.hpp"
#include "tests/reorder/pattern.hpp"

namespace {

using namespace sptile;
using tests::Pattern;

std::vector<std::int32_t> order_rows(const Pattern& a, int height, double window) {
  const reorder::Setting settings[] = {{"window", window}};
  reorder::ReorderOptions options;
  options.window_rows = height;
  options.settings = settings;
  const auto order = reorder::order_by_loa(a.view(), options);
  REQUIRE(order.has_value());
  return *order;
}

std::span<const std::int32_t> columns_of(const Pattern& a, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  return std::span(a.col_idx).subspan(static_cast<std::size_t>(a.row_ptr[r]),
                                      static_cast<std::size_t>(a.row_ptr[r + 1] - a.row_ptr[r]));
}

/// HyGNN, Algorithm 4, word by word: sets for the columns of a window, all rows in reach tried each time.
std::vector<std::int32_t> by_the_book(const Pattern& a, int height, std::size_t span) {
  std::vector<std::int32_t> list = tests::given_order(a.rows), order, empty;
  std::erase_if(list, [&](std::int32_t r) {
    if (columns_of(a, r).empty()) empty.push_back(r);
    return columns_of(a, r).empty();
  });
  std::stable_sort(list.begin(), list.end(), [&](std::int32_t x, std::int32_t y) {
    return columns_of(a, x).front() < columns_of(a, y).front();
  });
  std::vector<bool> taken(list.size(), false);
  for (std::size_t first = 0; first < list.size();) {
    if (taken[first]) {
      ++first;
      continue;
    }
    std::set<std::int32_t> window;
    std::size_t entries = 0, at = first;
    for (int i = 0; i < height; ++i) {
      taken[at] = true;
      order.push_back(list[at]);
      entries += columns_of(a, list[at]).size();
      window.insert(columns_of(a, list[at]).begin(), columns_of(a, list[at]).end());
      std::size_t best = list.size(), best_entries = 0, best_distinct = 1;
      for (std::size_t next = first; next < std::min(list.size(), first + span); ++next) {
        if (taken[next]) continue;
        std::set<std::int32_t> with = window;
        with.insert(columns_of(a, list[next]).begin(), columns_of(a, list[next]).end());
        const std::size_t own = columns_of(a, list[next]).size();
        const std::size_t left = (entries + own) * best_distinct, right = best_entries * with.size();
        if (best == list.size() || left > right || (left == right && own > columns_of(a, list[best]).size()))
          best = next, best_entries = entries + own, best_distinct = with.size();
      }
      if (best == list.size()) break;
      at = best;
    }
  }
  order.insert(order.end(), empty.begin(), empty.end());
  return order;
}

}  // namespace

TEST_CASE("loa: what the algorithm says, tried row by row") {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const int height : {1, 4, 8})
      for (const std::size_t span : {1, 5, 40, 1000}) {
        CAPTURE(seed);
        CAPTURE(height);
        CAPTURE(span);
        const Pattern a = tests::random_pattern(150, 60, 9, seed);
        CHECK(order_rows(a, height, static_cast<double>(span)) == by_the_book(a, height, span));
      }
}

TEST_CASE("loa: window 0 looks at the whole list") {
  const Pattern a = tests::random_pattern(200, 90, 7, 3);
  CHECK(order_rows(a, 8, 0) == by_the_book(a, 8, 200));
}

namespace {

constexpr std::int32_t kCap = 512;  // rows of a column, from its first free one on, that are counted

/// `rows` rows with column 0; each has a column of its own beside it, but for the first and the last.
Pattern twins_at_the_ends(std::int32_t rows) {
  Pattern a;
  a.cols = rows;
  for (std::int32_t r = 0; r < rows; ++r) a.add_row(r == 0 || r == rows - 1 ? std::set{0} : std::set{0, r});
  return a;
}

/// Random rows, `hub` of which have the last column, too.
Pattern with_hub(std::int64_t rows, std::int64_t hub) {
  const Pattern random = tests::random_pattern(rows, 150, 5, 17);
  Pattern a;
  a.cols = random.cols + 1;
  for (std::int32_t r = 0; r < rows; ++r) {
    const auto own = columns_of(random, r);
    std::set<std::int32_t> columns(own.begin(), own.end());
    if (r < hub) columns.insert(static_cast<std::int32_t>(random.cols));
    a.add_row(columns);
  }
  return a;
}

}  // namespace

TEST_CASE("loa: columns of up to 512 rows, those taken in front apart, are counted whole") {
  const Pattern twins = twins_at_the_ends(kCap + 1);  // the first row is taken when its column enters
  CHECK(order_rows(twins, 2, 0)[1] == kCap);
  const Pattern a = with_hub(640, kCap);
  CHECK(order_rows(a, 8, 0) == by_the_book(a, 8, 640));
}

TEST_CASE("loa: of longer columns the next 512 rows are counted, so a twin behind them has to wait") {
  const std::int32_t last = kCap + 1;
  const Pattern twins = twins_at_the_ends(last + 1);
  CHECK(by_the_book(twins, 2, kCap + 2)[1] == last);
  // The next window begins two rows later, and sees the twin.
  const auto order = order_rows(twins, 2, 0);
  CHECK(std::vector(order.begin(), order.begin() + 4) == std::vector<std::int32_t>{0, 1, 2, last});
}

TEST_CASE("loa: a reach of up to 512 rows never meets the cap") {
  const Pattern a = with_hub(640, 640);
  CHECK(order_rows(a, 8, kCap) == by_the_book(a, 8, kCap));
}

TEST_CASE("loa: hub columns are cut, and every row still stands once") {
  const Pattern a = with_hub(4000, 4000);
  CHECK(formats::check_permutation(order_rows(a, 8, 0), a.rows).has_value());
}

TEST_CASE("loa: shuffled groups of equal rows come together, as full tiles") {
  const Pattern a = tests::planted_groups(60, 8, 6, 5);
  CHECK(reorder::measure_windows(a.view(), order_rows(a, 8, 300), 8).distinct_columns == 60 * 6);
}

TEST_CASE("loa: stops when cancelled") {
  Progress progress;
  progress.cancelled = true;
  reorder::ReorderOptions options;
  options.progress = &progress;
  const Pattern a = tests::random_pattern(500, 90, 7, 3);
  const auto order = reorder::order_by_loa(a.view(), options);
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error().message == "cancelled");
}
