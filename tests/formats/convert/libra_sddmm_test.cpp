#include "formats/convert/libra_sddmm.hpp"

#include <doctest/doctest.h>

#include "formats/convert/condense.hpp"
#include "formats/convert/libra_parts.hpp"
#include "formats/layout/libra.hpp"
#include "tests/formats/slow/libra_sddmm.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

TEST_CASE(
    "libra_sddmm: at every threshold, a conversion is what the obvious builder gives, and its inverse gives "
    "the matrix back") {
  for (const Sample& sample : sample_matrices())
    for (const int threshold : {1, 2, 7, 16, 17, 24, 40, 100, 128, 129}) {
      CAPTURE(sample.name);
      CAPTURE(threshold);
      const Csr a = make_csr(sample.cols, sample.rows, DType::f64);
      const Result<FormatData> data = libra_sddmm_from_csr_at(a.view(), threshold, nullptr);
      REQUIRE(data.has_value());
      const FormatView view = data->view();
      const Status status = check(view);
      CHECK_MESSAGE(status.has_value(), status.error().text());
      SlowArrays expected = slow_libra_sddmm_at(sample.rows, threshold);
      for (const char* values : {"values", "residual_values"})
        for (std::uint64_t& x : expected[values]) ++x;  // value k has the bits k + 1
      for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
        CAPTURE(view.layout->arrays[i].name);
        CHECK(elements(view.arrays[i]) == expected.at(std::string(view.layout->arrays[i].name)));
      }
      const Result<Csr> back = libra_to_csr(view);
      REQUIRE(back.has_value());
      CHECK(identical(back->view(), a.view()));
    }
}

TEST_CASE("libra_sddmm: threshold 1 puts all entries in blocks, 129 none") {
  const Csr a = make_csr(300, random_rows(100, 300, 0.1, 7));
  const FormatData all = *libra_sddmm_from_csr_at(a.view(), 1, nullptr);
  CHECK(as_libra(all.view()).residual_row_id.empty());
  CHECK(as_libra(all.view()).values.size == a.nnz());
  const FormatData none = *libra_sddmm_from_csr_at(a.view(), 129, nullptr);
  CHECK(as_libra(none.view()).bitmap.empty());
  CHECK(elements(ArrayView(as_libra(none.view()).residual_col_id)) == elements(ArrayView(a.view().col_idx)));
}

TEST_CASE("libra_sddmm: thresholds out of range are refused") {
  const Csr a = make_csr(3, {{0}});
  for (const int threshold : {-1, 0, 130}) {
    const Result<FormatData> data = libra_sddmm_from_csr_at(a.view(), threshold, nullptr);
    REQUIRE_FALSE(data.has_value());
    CHECK(data.error().code == Errc::usage);
    CHECK(data.error().message == "libra_sddmm: threshold " + std::to_string(threshold) +
                                      ", expected 1 to 129 entries of a block's 128");
  }
}

TEST_CASE("libra_sddmm: the parameters say how it was split") {
  Rows rows(8);
  for (auto& row : rows) row = {0, 1, 2};
  const Csr a = make_csr(3, rows);
  const FormatData data = *libra_sddmm_from_csr(a.view(), nullptr);
  CHECK(data.parameters == Parameters{{"window_rows", std::int64_t{8}},
                                      {"threshold", std::int64_t{24}},
                                      {"block_columns", std::int64_t{16}},
                                      {"dense_columns", std::int64_t{3}},
                                      {"filled_columns", std::int64_t{0}}});
}

TEST_CASE("libra_sddmm: more tiles than 32 bits count are refused") {
  CHECK(check_tiles_fit(2147483647, kLibraSddmmLayout).has_value());
  const Status status = check_tiles_fit(2147483648, kLibraSddmmLayout);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == Errc::unsupported);
  CHECK(status.error().message ==
        "libra_sddmm: row_window_offset would need 2147483648 tiles, but counts at most 2147483647; use csr");
}
