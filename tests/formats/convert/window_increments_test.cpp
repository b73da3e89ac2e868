#include "formats/convert/window_increments.hpp"

#include <doctest/doctest.h>

#include "tests/formats/slow/slow.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

TEST_CASE("window increments: each row's window and increment are what sets say") {
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    const WindowIncrements known = window_increments(a.view());
    REQUIRE(known.columns.size() == a.rows);
    for (std::size_t r = 0; r<sample.rows.size(); r += sample.rows.size()> 5000 ? 7 : 1) {
      const std::size_t with = distinct_columns(sample.rows, r, r + 8).size();
      const std::size_t without = distinct_columns(sample.rows, r + 1, r + 8).size();
      REQUIRE(known.columns[static_cast<std::int64_t>(r)] == static_cast<std::int32_t>(with));
      REQUIRE(known.increment[static_cast<std::int64_t>(r)] == std::min<std::size_t>(with - without, 255));
    }
  }
}
