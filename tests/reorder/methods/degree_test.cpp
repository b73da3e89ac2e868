#include "reorder/methods/degree.hpp"

#include <doctest/doctest.h>

using namespace sptile;

TEST_CASE("degree puts rows with more entries first and keeps the order of equal ones") {
  const std::vector<std::int64_t> row_ptr = {0, 1, 4, 4, 5, 8};
  const std::vector<std::int32_t> col_idx = {0, 0, 1, 2, 2, 0, 1, 2};
  const formats::CsrView a = {5, 3, row_ptr, col_idx, {}};
  const auto order = reorder::order_by_degree(a, {});
  REQUIRE(order.has_value());
  CHECK(*order == std::vector<std::int32_t>{1, 4, 0, 3, 2});
}
