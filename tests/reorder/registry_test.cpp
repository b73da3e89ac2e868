#include "reorder/registry.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "formats/csr.hpp"
#include "formats/random.hpp"

using namespace sptile;

namespace {

// Rows of 0 to 9 entries, `cols` columns; structure only.
formats::Csr ragged_matrix(std::int64_t rows, std::int64_t cols) {
  std::vector<std::int32_t> columns;
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t length = std::min(cols, RandomStream(3, static_cast<std::uint64_t>(r)).below(10));
    for (std::int64_t c = 0; c < length; ++c) columns.push_back(static_cast<std::int32_t>(c));
    a.row_ptr[r + 1] = static_cast<std::int64_t>(columns.size());
  }
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[rows]);
  std::copy(columns.begin(), columns.end(), a.col_idx.begin());
  return a;
}

std::vector<std::int32_t> order_with_threads(const reorder::Reorderer& method, const formats::Csr& a,
                                             std::size_t threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  auto order = method.run(a.view(), {.seed = 9});
  REQUIRE(order.has_value());
  return *order;
}

}  // namespace

TEST_CASE("every reorderer gives a permutation, the same for any number of threads") {
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CAPTURE(method.name);
    for (const std::int64_t rows : {0, 1, 7, 1000}) {
      const formats::Csr a = ragged_matrix(rows, rows);
      const auto order = order_with_threads(method, a, 1);
      CHECK(formats::check_permutation(order, rows).has_value());
      for (const std::size_t threads : {2, 3, 8}) CHECK(order_with_threads(method, a, threads) == order);
    }
  }
}

TEST_CASE("every reorderer takes rectangular matrices") {
  for (const reorder::Reorderer& method : reorder::reorderers()) {
    CAPTURE(method.name);
    CHECK(formats::check_permutation(order_with_threads(method, ragged_matrix(50, 4), 2), 50).has_value());
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
