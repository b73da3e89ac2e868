// The toy attribute through the C and C++ interfaces.
#include <doctest/doctest.h>

#include <cstddef>
#include <sptile.hpp>
#include <string_view>

#include "runtime/core/operands.hpp"

// Sources that are not compiled with the attribute copy a Variant of this size.
static_assert(offsetof(sptile::runtime::Variant, shift) + sizeof(std::int32_t) ==
              sizeof(sptile::runtime::Variant));

TEST_CASE("exercise: the toy attribute is described, checked, and reaches the kernel") {
  const char* json = nullptr;
  REQUIRE(sptile_describe(&json) == SPTILE_STATUS_OK);
  CHECK(std::string_view(json).find("\"shift\"") != std::string_view::npos);

  const std::vector<std::int64_t> row_ptr = {0, 2, 3};
  const std::vector<std::int32_t> col_idx = {0, 1, 1};
  const std::vector<float> x = {1, 2}, y = {10, 20};
  sptile::Matrix a(sptile::CsrMatrix{2, 2, row_ptr, col_idx});
  const auto shifted = [&](double shift) {
    const sptile::Plan plan = a.plan("edge_add", {.n = 1, .attributes = {{"shift", shift}}});
    std::vector<float> out(3);
    plan.run({.dense = {{{x.data()}, {y.data()}, {out.data()}}}});
    return out;
  };
  CHECK(shifted(0) == std::vector<float>{11, 21, 22});
  CHECK(shifted(-3) == std::vector<float>{8, 18, 19});
  CHECK_THROWS_WITH_AS(shifted(1001), "options.attributes[0]: shift = 1001; use -1000 to 1000",
                       sptile::Exception);
}
