#include "formats/core/narrow_values.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "formats/core/value_types.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

// 3 x 4 with an empty row: (1, 1), (1, 3), (3, 2).
ValueLoss of(const std::vector<double>& values, DType narrow, bool integers = false) {
  const std::vector<std::int64_t> row_ptr = {0, 2, 2, 3};
  const std::vector<std::int32_t> col_idx = {0, 2, 1};
  const CsrView a = {3, 4, row_ptr, col_idx, ArrayView(DType::f64, values.data(), 3)};
  ValueLoss loss;
  CHECK(narrow_values(a, narrow, integers, "a.h5", loss).dtype() == narrow);
  return loss;
}

// One row with an entry at column 0 for each value, unless they are a pattern.
Csr row_of(DType dtype, const std::vector<double>& values, std::int64_t entries) {
  Csr a{1, 1, Buffer<std::int64_t>(2), Buffer<std::int32_t>(entries), {}};
  a.row_ptr[0] = 0, a.row_ptr[1] = entries;
  std::fill(a.col_idx.begin(), a.col_idx.end(), 0);
  if (dtype != DType::none) a.values = convert_values(ArrayView(DType::f64, values.data(), entries), dtype);
  return a;
}

double only_value(const Csr& a) {
  REQUIRE(a.nnz() == 1);
  const Array wide = convert_values(a.values.view(), DType::f64);
  return wide.as<double>()[0];
}

}  // namespace

TEST_CASE("finite values that became infinite are counted, the first one with its place") {
  CHECK(of({65504, 1, -65504}, DType::f16).overflowed == 0);
  const ValueLoss found = of({1, 1, -70000}, DType::f16);
  CHECK(found.overflowed == 1);
  CHECK(found.first->code == Errc::bad_input);
  CHECK(found.first->text() == "a.h5: value -70000 is too large for f16, in row 3, column 2");
  CHECK(of({1e300, -1e39, 1}, DType::f32).overflowed == 2);
  CHECK(of({1, 3.4e38, 1}, DType::bf16).first->message ==
        "value 3.4e+38 is too large for bf16, in row 1, column 3");
}

TEST_CASE("what was not finite before is not counted") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK_FALSE(of({kInf, -kInf, std::numeric_limits<double>::quiet_NaN()}, DType::f16).any());
}

TEST_CASE("nonzeros that became 0 are counted, zeros are not") {
  const ValueLoss found = of({1e-50, 0, -1e-60}, DType::f32);
  CHECK(found.underflowed == 2);
  CHECK(found.first->message == "value 1e-50 is too small for f32, in row 1, column 1");
  CHECK_FALSE(of({1e-40, 0, -0.0}, DType::f32).any());  // subnormal
}

TEST_CASE("integers that change are counted, other values may be rounded") {
  CHECK_FALSE(of({16777217, 0.1, 3}, DType::f32).any());
  const ValueLoss found = of({16777217, 16777216, -16777219}, DType::f32, true);
  CHECK(found.inexact == 2);
  CHECK(found.first->message == "integer 16777217 is not exact in f32, in row 1, column 1");
  CHECK(of({2049, 70000, 257}, DType::f16, true).inexact == 1);
  CHECK(of({2049, 70000, 257}, DType::f16, true).overflowed == 1);
  CHECK(of({2049, 70000, 257}, DType::bf16, true).inexact == 3);
}

TEST_CASE("of several the first stays") {
  ValueLoss sum = of({1, 1, 1}, DType::f16);
  sum += of({1, 1, 1e6}, DType::f16);
  sum += of({1e7, 1e8, 1}, DType::f16);
  CHECK(sum.overflowed == 3);
  CHECK(sum.first->message.starts_with("value 1000000 "));
}

TEST_CASE("repeated entries are summed in f64, those of a pattern counted") {
  ValueLoss loss;
  Csr pattern = row_of(DType::none, {}, 3);
  CHECK(sum_entries(pattern, sum_type(DType::none), false, loss) == 2);
  CHECK(pattern.values.dtype() == DType::f64);
  CHECK(only_value(pattern) == 3);

  Csr half = row_of(DType::f16, {2048, 1}, 2);
  CHECK(sum_entries(half, sum_type(DType::f16), false, loss) == 1);
  CHECK(half.values.dtype() == DType::f32);
  CHECK(only_value(half) == 2049);

  Csr small = row_of(DType::f32, {1e8, 1, -1e8}, 3);
  sum_entries(small, sum_type(DType::f32), false, loss);
  CHECK(only_value(small) == 1);
  CHECK_FALSE(loss.any());

  Csr alone = row_of(DType::f16, {5}, 1);
  CHECK(sum_entries(alone, sum_type(DType::f16), false, loss) == 0);
  CHECK(alone.values.dtype() == DType::f16);
}

TEST_CASE("sums that the type cannot hold are counted") {
  ValueLoss loss;
  Csr large = row_of(DType::f32, {3e38, 3e38}, 2);
  sum_entries(large, DType::f32, false, loss);
  CHECK(loss.overflowed == 1);
  Csr odd = row_of(DType::f32, {16777216, 1}, 2);
  sum_entries(odd, DType::f32, true, loss);
  CHECK(loss.inexact == 1);
}
