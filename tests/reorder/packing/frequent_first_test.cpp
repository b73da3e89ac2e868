#include "reorder/packing/frequent_first.hpp"

#include <doctest/doctest.h>

#include "formats/core/count_columns.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;

TEST_CASE("frequent_first: columns with more entries get smaller numbers, equal ones stay in order") {
  tests::Pattern a;
  a.cols = 5;
  a.add_row({0, 1, 4});
  a.add_row({1, 3});
  a.add_row({1, 3, 4});
  const auto count = formats::count_columns(a.view());
  CHECK(count == std::vector<std::int32_t>{1, 3, 0, 2, 2});
  const auto columns = reorder::frequent_first(a.view(), count);
  CHECK(std::vector<std::int32_t>(columns.begin(), columns.end()) ==
        std::vector<std::int32_t>{3, 0, 2, 0, 1, 0, 1, 2});
}

TEST_CASE("frequent_first: nothing in, nothing out") {
  tests::Pattern a;
  CHECK(reorder::frequent_first(a.view(), formats::count_columns(a.view())).empty());
}
