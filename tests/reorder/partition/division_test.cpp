#include "reorder/partition/division.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/reorder/pattern.hpp"

using namespace sptile;
using namespace sptile::reorder;

namespace {

// Every row has one place, in the part that owns it.
void check_whole(const Division& division, std::int64_t rows, std::int32_t parts) {
  REQUIRE(division.parts() == parts);
  CHECK(division.offset.front() == 0);
  CHECK(division.rows() == rows);
  CHECK(std::ranges::is_sorted(division.offset));
  std::set<std::int64_t> seen;
  for (std::int32_t p = 0; p < parts; ++p)
    for (std::int64_t at = division.first(p); at < division.last(p); ++at) {
      CHECK(division.owner(at) == p);
      CHECK(division.place_of(division.row_at(at)) == at);
      CHECK(seen.insert(division.row_at(at)).second);
    }
  CHECK(static_cast<std::int64_t>(seen.size()) == rows);
}

}  // namespace

TEST_CASE("consecutive shares have like weights, for any number of parts") {
  const auto a = tests::random_pattern(300, 300, 20, 3);
  const std::int64_t total = a.view().nnz() + a.rows;
  for (const std::int32_t parts : {1, 2, 3, 7, 50, 299, 300, 301, 1000}) {
    CAPTURE(parts);
    const Division division = divide_in_order(a.view(), {}, parts);
    check_whole(division, 300, parts);
    CHECK(division.in_order());
    for (std::int32_t p = 0; p < parts; ++p) {
      std::int64_t weight = 0;
      for (std::int64_t r = division.first(p); r < division.last(p); ++r) weight += row_weight(a.view(), r);
      CHECK(weight <= total / parts + 1 + 21);
    }
  }
}

TEST_CASE("consecutive shares follow an order that is given") {
  const auto a = tests::random_pattern(40, 40, 5, 4);
  auto order = tests::given_order(40);
  std::ranges::reverse(order);
  const Division division = divide_in_order(a.view(), order, 3);
  check_whole(division, 40, 3);
  CHECK(division.row_at(0) == 39);
}

TEST_CASE("rows go to the parts that are given, ascending") {
  const std::int32_t part[] = {2, 0, 2, 0, 3};
  const Division division = divide_by_part(part, 5);
  check_whole(division, 5, 5);
  CHECK(division.old_row == std::vector<std::int32_t>{1, 3, 0, 2, 4});
  CHECK(division.rows_of(1) == 0);
  CHECK(division.is_block(1));
  CHECK_FALSE(division.is_block(0));
  CHECK(division.rows_of(4) == 0);
  const std::int32_t sorted[] = {0, 0, 1, 1};
  CHECK(divide_by_part(sorted, 2).in_order());
  check_whole(divide_by_part({}, 3), 0, 3);
  const std::int32_t order[] = {4, 3, 2, 1, 0};
  const Division turned = divide_by_part(part, 5, order);
  check_whole(turned, 5, 5);
  CHECK(turned.old_row == std::vector<std::int32_t>{3, 1, 2, 0, 4});
}

TEST_CASE("the rows of a part are put into another order") {
  const std::int32_t part[] = {0, 0, 1, 1, 1};
  Division division = divide_by_part(part, 2);
  const std::int32_t order[] = {2, 0, 1};
  reorder_part(division, 1, order);
  check_whole(division, 5, 2);
  CHECK(division.old_row == std::vector<std::int32_t>{0, 1, 4, 2, 3});
  CHECK(division.is_block(0));
  CHECK(division.is_block(1));
}
