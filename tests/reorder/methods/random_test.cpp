#include "reorder/methods/random.hpp"

#include <doctest/doctest.h>

using namespace sptile;

TEST_CASE("random follows the seed") {
  const std::vector<std::int64_t> row_ptr(101, 0);
  const formats::CsrView a = {100, 100, row_ptr, {}, {}};
  const auto first = reorder::order_randomly(a, {.seed = 1});
  REQUIRE(first.has_value());
  CHECK(*first == *reorder::order_randomly(a, {.seed = 1}));
  CHECK(*first != *reorder::order_randomly(a, {.seed = 2}));
}
