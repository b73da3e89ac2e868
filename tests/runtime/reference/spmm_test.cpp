#include "runtime/reference/spmm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace sptile;
using runtime::SpmmOperands;

namespace {

// [ 1 . 2 ]
// [ . . . ]
// [ . 3 . ]
const std::vector<std::int64_t> kRowPtr = {0, 2, 2, 3};
const std::vector<std::int32_t> kCols = {0, 2, 1};
const std::vector<float> kValues = {1, 2, 3};

formats::CsrView small() { return {3, 3, kRowPtr, kCols, ArrayView(std::span<const float>(kValues))}; }

}  // namespace

TEST_CASE("reference spmm: a product computed by hand, with leading dimensions, alpha and beta") {
  const std::vector<float> b = {1, 2, -1, 3, 4, -1, 5, 6};  // 3 x 2, ldb 3
  std::vector<float> c = {1, 1, 9, 1, 1, 9, 1, 1};          // 3 x 2, ldc 3
  runtime::reference_spmm(small(), 2, DType::f32, {b.data(), 3, c.data(), 3, 2, 10});
  CHECK(c == std::vector<float>{32, 38, 9, 10, 10, 9, 28, 34});
}

TEST_CASE("reference spmm: a pattern counts each entry as 1") {
  formats::CsrView a = small();
  a.values = {};
  const std::vector<double> b = {1, 2, 3};
  std::vector<double> c(3);
  runtime::reference_spmm(a, 1, DType::f64, {b.data(), 1, c.data(), 1});
  CHECK(c == std::vector<double>{4, 0, 2});
}

TEST_CASE("reference spmm: 16-bit results are rounded once, ties to even as seen from the exact sum") {
  // 1 + 2^-11 is a tie in f16 and goes to 1; a little more must go up, also when it is lost in a float.
  const std::vector<std::int64_t> row_ptr = {0, 2};
  const std::vector<std::int32_t> cols = {0, 1};
  const std::vector<double> values = {1 + 0x1p-11, 0x1p-40};
  const formats::CsrView a{1, 2, row_ptr, cols, ArrayView(std::span<const double>(values))};
  const std::vector<Half> b = {to_half(1), to_half(1)};
  Half c;
  runtime::reference_spmm(a, 1, DType::f16, {b.data(), 1, &c, 1});
  CHECK(to_float(c) == 1 + 0x1p-10F);
}

TEST_CASE("relative error: exact results have none, a wrong element is found and scaled") {
  const std::vector<float> b = {1, -2, 4};
  std::vector<float> c = {9, 0, -6};
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1}) == 0);
  c[0] = 9.9F;  // |A||B| = 9
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1}) == doctest::Approx(0.1));
}

TEST_CASE("relative error: cancellation does not inflate it, and an empty row must be zero") {
  const std::vector<float> b = {2, 0, -1};  // row 0: 2 - 2
  std::vector<float> c = {1e-7F, 0, 0};
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1}) < 1e-7);
  c = {0, 1e-20F, 0};
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1}) > 1e10);
}

TEST_CASE("relative error: with beta the old C takes part") {
  const std::vector<float> b = {1, 1, 1}, before = {1, 2, 3};
  std::vector<float> c = {5, 4, 9};
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1, 1, 2}, before.data()) ==
        0);
  c[1] = 4.4F;
  CHECK(runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1, 1, 2}, before.data()) ==
        doctest::Approx(0.1));
}

TEST_CASE("relative error: non-finite results must be the right ones") {
  constexpr float kInf = std::numeric_limits<float>::infinity(),
                  kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto error = [](const std::vector<float>& b, std::vector<float> c) {
    return runtime::relative_error(small(), 1, DType::f32, {b.data(), 1, c.data(), 1});
  };
  CHECK(error({kInf, 1, 1}, {kInf, 0, 3}) == 0);
  CHECK(error({kNaN, 1, 1}, {kNaN, 0, 3}) == 0);
  CHECK(std::isinf(error({kInf, 1, 1}, {-kInf, 0, 3})));
  CHECK(std::isinf(error({kInf, 1, 1}, {kNaN, 0, 3})));
  CHECK(std::isinf(error({1, 1, 1}, {3, kNaN, 3})));
  CHECK(std::isinf(error({kNaN, 1, 1}, {3, 0, 3})));
}
