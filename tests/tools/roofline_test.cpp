#include "tools/roofline.hpp"

#include <doctest/doctest.h>

#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {
// 20 x 9: row r holds columns r % 9 and (r + 3) % 9.
formats::Csr sample() {
  formats::Csr a;
  a.rows = 20;
  a.cols = 9;
  a.row_ptr = formats::Buffer<std::int64_t>(21);
  a.col_idx = formats::Buffer<std::int32_t>(40);
  for (int r = 0; r <= 20; ++r) a.row_ptr[r] = 2 * r;
  for (int r = 0; r < 20; ++r) {
    const int x = r % 9, y = (r + 3) % 9;
    a.col_idx[2 * r] = std::min(x, y);
    a.col_idx[2 * r + 1] = std::max(x, y);
  }
  return a;
}
}  // namespace

TEST_CASE("compulsory bytes are CSR with 32-bit offsets, B and C") {
  CHECK(compulsory_bytes({2, 3, 4, 5, 4, 4}) == 4 * (4 + 4) + 3 * 4 + (2 + 3) * 5 * 4);
  CHECK(compulsory_bytes({2, 3, 4, 5, 2, 0}) == 4 * 4 + 3 * 4 + (2 + 3) * 5 * 2);
}

TEST_CASE("csr gathers a row of B for each entry, tiles 8 for each tile, every format at least one") {
  const formats::Csr a = sample();
  CHECK(gathered_rows(formats::as_format(a.view())) == a.nnz());
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto data = converter.from_csr(a.view(), nullptr);
    REQUIRE(data.has_value());
    const formats::FormatView view = data->view();
    CHECK(gathered_rows(view) > 0);
    for (const char* name : {"bittcf", "me_tcf", "bmat"})
      if (converter.format == name) CHECK(gathered_rows(view) == 8 * view.layout->tc_blocks(view));
    if (converter.format.starts_with("libra_")) CHECK(gathered_rows(view) >= 8 * view.layout->tc_blocks(view));
    if (converter.format == "tall") CHECK(gathered_rows(view) <= 8 * view.layout->tc_blocks(view));
  }
}

TEST_CASE("ratios compare with what was measured of the memory") {
  const Ceilings ceilings{.copy = 2e12, .l2 = 5e12, .pinned = 5e10};
  const Roofline r = roofline(2'000'000, 10'000'000, ceilings, 4e-6);
  CHECK(r.floor_us == doctest::Approx(1));
  CHECK(r.hbm_ratio == doctest::Approx(0.25));
  CHECK(r.l2_rate == doctest::Approx(2.5e12));
  CHECK(r.l2_ratio == doctest::Approx(0.5));
}
