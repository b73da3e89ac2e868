#include "formats/convert/libra_spmm.hpp"

#include <doctest/doctest.h>

#include "formats/convert/bittcf.hpp"
#include "formats/convert/libra_parts.hpp"
#include "formats/layout/libra.hpp"
#include "tests/formats/slow/libra_spmm.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

bool same(const ArrayView& x, const ArrayView& y) { return elements(x) == elements(y); }

}  // namespace

TEST_CASE(
    "libra_spmm: at every threshold, a conversion is what the obvious builder gives, and its inverse gives "
    "the matrix back") {
  for (const Sample& sample : sample_matrices())
    for (int threshold = kLibraMinThreshold; threshold <= kLibraMaxThreshold; ++threshold) {
      const int block = threshold % 2 == 0 ? 8 : 16;
      CAPTURE(sample.name);
      CAPTURE(threshold);
      const Csr a = make_csr(sample.cols, sample.rows, DType::f64);
      const Result<FormatData> data = libra_spmm_from_csr_with(a.view(), {threshold, block}, nullptr);
      REQUIRE(data.has_value());
      const FormatView view = data->view();
      const Status status = check(view);
      CHECK_MESSAGE(status.has_value(), status.error().text());
      SlowArrays expected = slow_libra_spmm_at(sample.rows, threshold, static_cast<std::size_t>(block));
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

TEST_CASE("libra_spmm: threshold 1 gives the tiles of bittcf, 9 the rows of csr") {
  const Csr a = make_csr(300, random_rows(100, 300, 0.1, 7));
  const FormatData all = *libra_spmm_from_csr_at(a.view(), 1, nullptr);
  const FormatData bittcf = *bittcf_from_csr(a.view(), nullptr);
  for (std::size_t i = 0; i < 5; ++i) CHECK(same(all.view().arrays[i], bittcf.view().arrays[i]));
  CHECK(as_libra(all.view()).residual_row_id.empty());

  const FormatData none = *libra_spmm_from_csr_at(a.view(), 9, nullptr);
  const LibraView view = as_libra(none.view());
  CHECK(view.bitmap.empty());
  CHECK(same(ArrayView(view.residual_col_id), ArrayView(a.view().col_idx)));
  CHECK(same(view.residual_values, a.view().values));
}

TEST_CASE("libra_spmm: thresholds and blocks out of range are refused") {
  const Csr a = make_csr(3, {{0}});
  for (const int threshold : {-1, 0, 10}) {
    const Result<FormatData> data = libra_spmm_from_csr_at(a.view(), threshold, nullptr);
    REQUIRE_FALSE(data.has_value());
    CHECK(data.error().code == Errc::usage);
    CHECK(data.error().message ==
          "libra_spmm: threshold " + std::to_string(threshold) + ", expected 1 to 9 entries of 8");
  }
  const Result<FormatData> data = libra_spmm_from_csr_with(a.view(), {3, 12}, nullptr);
  REQUIRE_FALSE(data.has_value());
  CHECK(data.error().message == "libra_spmm: blocks of 12 columns, expected 8 or 16");
}

TEST_CASE("libra_spmm: the parameters say how it was split") {
  // Column 0 is dense; columns 1 and 2 fill its tile.
  const Csr a = make_csr(3, {{0, 1}, {0}, {0, 2}});
  const FormatData data = *libra_spmm_from_csr_at(a.view(), 3, nullptr);
  CHECK(data.parameters == Parameters{{"window_rows", std::int64_t{8}},
                                      {"threshold", std::int64_t{3}},
                                      {"block_columns", std::int64_t{8}},
                                      {"dense_columns", std::int64_t{1}},
                                      {"filled_columns", std::int64_t{2}}});
}

TEST_CASE("libra_spmm: values of 16 bits have blocks of 16 columns") {
  Rows rows(8);
  rows[0] = rows[1] = {0};
  rows[2] = all_columns(30);
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const bool half = dtype == DType::f16 || dtype == DType::bf16;
    const Csr a = make_csr(30, rows, dtype);
    const FormatData data = *libra_spmm_from_csr(a.view(), nullptr);
    CHECK(data.parameters[2].second == ParameterValue(std::int64_t{half ? 16 : 8}));
    CHECK(as_libra(data.view()).bitmap.size() == (half ? 2 : 1));
  }
}
