#include "tools/measure/roofline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "formats/convert/converters.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// 9 x 9: eight full rows, and one entry below them in column 0.
formats::Csr full_block_and_one() {
  formats::Csr a{9, 9, formats::Buffer<std::int64_t>(10), formats::Buffer<std::int32_t>(73), {}};
  for (std::int64_t r = 0; r <= 8; ++r) a.row_ptr[r] = 9 * r;
  a.row_ptr[9] = 73;
  for (std::int64_t k = 0; k < 73; ++k) a.col_idx[k] = static_cast<std::int32_t>(k % 9);
  return a;
}

struct Gathered {
  std::string_view format;
  std::int64_t rows;
};

/// Counted by hand; a format that is not listed fails the test.
constexpr Gathered kGathered[] = {
    {"csr", 73},          // each entry
    {"bittcf", 24},       // 9 columns are two tiles of 8; the entry below is a third
    {"me_tcf", 16},       // one window of 16 rows
    {"bmat", 16},         //
    {"rs_tile", 17},      // two tiles, and the last row is residual
    {"tall", 16},         // one window: columns 1 to 8, then column 0
    {"libra_spmm", 17},   // two tiles, and one residual entry
    {"libra_sddmm", 17},  // one block of 16 columns, and one residual entry
    {"hc_window", 16},    // one window, in tiles
};

}  // namespace

TEST_CASE("compulsory bytes are CSR with 32-bit offsets, B and C") {
  // 16 of values, 16 of columns, 12 of offsets, 60 of B, 40 of C.
  CHECK(compulsory_bytes({2, 3, 4, 5, 4, 4, 4}) == 144);
  CHECK(compulsory_bytes({2, 3, 4, 5, 2, 0, 2}) == 78);  // no values; B and C half as large
  CHECK(compulsory_bytes({2, 3, 4, 5, 2, 0, 4}) == 98);  // B alone
}

TEST_CASE("rows of B that formats gather: one for each column id they store") {
  const formats::Csr a = full_block_and_one();
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto* const expected = std::ranges::find(kGathered, converter.format, &Gathered::format);
    REQUIRE(expected != std::end(kGathered));
    const auto data = converter.from_csr(a.view(), nullptr);
    REQUIRE(data.has_value());
    CHECK(gathered_rows(data->view()) == expected->rows);
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
