#include "reorder/registry.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"
#include "reorder/quality/locality.hpp"
#include "reorder/quality/quality.hpp"

using namespace sptile;

namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

constexpr std::int64_t kMaxColumns = 2147483647;

struct Shape {
  std::string name;
  std::int64_t cols;
  Rows rows;
};

formats::Csr matrix_of(const Shape& shape) {
  formats::Csr a;
  a.rows = static_cast<std::int64_t>(shape.rows.size());
  a.cols = shape.cols;
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    a.row_ptr[r + 1] =
        a.row_ptr[r] + static_cast<std::int64_t>(shape.rows[static_cast<std::size_t>(r)].size());
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[a.rows]);
  std::int32_t* out = a.col_idx.data();
  for (const auto& row : shape.rows) out = std::copy(row.begin(), row.end(), out);
  return a;
}

/// Rows of 0 to `max` entries at random places.
Rows random_rows(std::int64_t rows, std::int64_t cols, std::int64_t max) {
  Rows result(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    RandomStream random(3, static_cast<std::uint64_t>(r));
    std::set<std::int32_t> row;
    for (std::int64_t i = random.below(max + 1); i > 0; --i)
      row.insert(static_cast<std::int32_t>(random.below(cols)));
    result[static_cast<std::size_t>(r)].assign(row.begin(), row.end());
  }
  return result;
}

/// f(row, column) says where the entries are.
template <class F>
Rows rows_where(std::int32_t rows, std::int32_t cols, F f) {
  Rows result(static_cast<std::size_t>(rows));
  for (std::int32_t r = 0; r < rows; ++r)
    for (std::int32_t c = 0; c < cols; ++c)
      if (f(r, c)) result[static_cast<std::size_t>(r)].push_back(c);
  return result;
}

std::vector<Shape> shapes() {
  const auto all = [](std::int32_t, std::int32_t) { return true; };
  return {
      {"nothing", 0, {}},
      {"rows without columns", 0, Rows(9)},
      {"columns without rows", 9, {}},
      {"no entries", 20, Rows(20)},
      {"one entry", 1, {{0}}},
      {"diagonal", 300, rows_where(300, 300, [](auto r, auto c) { return r == c; })},
      {"dense", 60, rows_where(60, 60, all)},
      {"dense row and column", 500,
       rows_where(500, 500, [](auto r, auto c) { return r == 0 || c == 0 || r == c; })},
      {"star", 400, rows_where(400, 400, [](auto r, auto c) { return (r == 7) != (c == 7); })},
      {"path", 3000, rows_where(3000, 3000, [](auto r, auto c) { return c == r + 1 || c == r - 1; })},
      {"disconnected cliques", 350, rows_where(350, 350, [](auto r, auto c) { return r / 7 == c / 7; })},
      {"duplicate rows", 64, Rows(500, {3, 9, 27, 40})},
      {"unsymmetric", 200, rows_where(200, 200, [](auto r, auto c) { return c > r && c % 5 == r % 7; })},
      {"random", 1000, random_rows(1000, 1000, 12)},
      {"wide", 4000, random_rows(60, 4000, 30)},
      {"tall", 12, random_rows(3000, 12, 4)},
      {"all columns there can be", kMaxColumns, random_rows(40, kMaxColumns, 50)},
  };
}

Result<std::vector<std::int32_t>> order_with_threads(const reorder::Reorderer& method, const formats::Csr& a,
                                                     std::size_t threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return method.run(a.view(), {.seed = 9});
}

}  // namespace

TEST_CASE(
    "every reorderer gives a permutation of every matrix, the same in each run with any number of threads") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const formats::Csr a = matrix_of(shape);
    for (const reorder::Reorderer& method : reorder::reorderers()) {
      CAPTURE(method.name);
      const auto order = order_with_threads(method, a, 1);
      REQUIRE(order);
      CHECK(formats::check_permutation(*order, a.rows));
      for (const std::size_t threads : {1, 2, 2, 3, 8})
        CHECK(*order_with_threads(method, a, threads) == *order);
    }
  }
}

TEST_CASE("columns without entries neither cost anything nor change an order") {
  // Wider than tall, and each column in use; then the same with room for millions of columns between them.
  const Rows few = rows_where(90, 400, [](auto r, auto c) { return c % 90 == r || c * c % 91 == r; });
  Rows far = few;
  for (auto& row : far)
    for (std::int32_t& column : row) column *= 5000000;
  const formats::Csr a = matrix_of({"few", 400, few}), b = matrix_of({"far", kMaxColumns, far});
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    if (method.name == "lsh") continue;  // it hashes the ids of columns
    CAPTURE(method.name);
    const auto order = method.run(a.view(), {}), same = method.run(b.view(), {});
    REQUIRE(same);
    CHECK(*order == *same);
  }
  CHECK(reorder::measure_windows(a.view(), {}, 8).distinct_columns ==
        reorder::measure_windows(b.view(), {}, 8).distinct_columns);
  CHECK(reorder::measure_locality(a.view()).jaccard_cost == reorder::measure_locality(b.view()).jaccard_cost);
}

TEST_CASE("every preset of every reorderer gives a permutation for every height") {
  const formats::Csr a = matrix_of({"random", 900, random_rows(1000, 900, 12)});
  for (const reorder::Reorderer& method : reorder::reorderers())
    for (const reorder::Preset& preset : method.presets) {
      CAPTURE(method.name);
      CAPTURE(preset.name);
      CHECK(reorder::check_settings(method, preset.settings));
      for (const int height : {1, 8, 16, 64, 2000}) {
        const auto order = method.run(a.view(), {.window_rows = height, .settings = preset.settings});
        REQUIRE(order);
        CHECK(formats::check_permutation(*order, a.rows));
      }
    }
}

TEST_CASE("the table says which orders depend on the window height") {
  const formats::Csr a = matrix_of({"random", 900, random_rows(1000, 900, 12)});
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CAPTURE(method.name);
    const auto low = method.run(a.view(), {.window_rows = 4}),
               high = method.run(a.view(), {.window_rows = 16});
    REQUIRE(low);
    REQUIRE(high);
    CHECK((*low != *high) == method.by_windows);
  }
}

TEST_CASE("every reorderer stops when it is told to") {
  const formats::Csr a = matrix_of({"random", 3000, random_rows(3000, 3000, 20)});
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CAPTURE(method.name);
    Progress progress;
    progress.cancelled = true;
    const auto order = method.run(a.view(), {.progress = &progress});
    REQUIRE_FALSE(order);
    CHECK(order.error().code == Errc::io);
  }
}

TEST_CASE("settings are checked by name, range and wholeness") {
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CAPTURE(method.name);
    const reorder::Setting unknown[] = {{"nonsense", 1}};
    CHECK_FALSE(reorder::check_settings(method, unknown));
    for (const reorder::Parameter& p : method.parameters) {
      CAPTURE(p.name);
      CHECK(p.min <= p.standard);
      CHECK(p.standard <= p.max);
      const reorder::Setting fits[] = {{p.name, p.standard}}, small[] = {{p.name, p.min - 1}},
                             large[] = {{p.name, p.max + 1}}, broken[] = {{p.name, p.min + 0.5}};
      CHECK(reorder::check_settings(method, fits));
      CHECK_FALSE(reorder::check_settings(method, small));
      CHECK_FALSE(reorder::check_settings(method, large));
      if (p.whole) CHECK_FALSE(reorder::check_settings(method, broken));
    }
  }
}

TEST_CASE("names are unique, and find_reorderer finds exactly them") {
  std::set<std::string> names;
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CHECK(names.emplace(method.name).second);
    CHECK_FALSE(method.summary.empty());
    CHECK(reorder::find_reorderer(method.name) == &method);
  }
  CHECK(reorder::find_reorderer("nonsense") == nullptr);
}
