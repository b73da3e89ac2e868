#include "tools/overflow.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "formats/csr.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {
// 3 x 4 with an empty row: (1, 1), (1, 3), (3, 2).
Overflow of(const std::vector<double>& values, DType narrow) {
  const std::vector<std::int64_t> row_ptr = {0, 2, 2, 3};
  const std::vector<std::int32_t> col_idx = {0, 2, 1};
  const formats::CsrView a = {3, 4, row_ptr, col_idx, ArrayView(DType::f64, values.data(), 3)};
  return find_overflow(a, formats::convert_values(a.values, narrow).view(), "a.h5");
}
}  // namespace

TEST_CASE("finite values that became infinite are counted, the first one with its place") {
  CHECK(of({65504, 1, -65504}, DType::f16).count == 0);
  const Overflow found = of({1, 1, -70000}, DType::f16);
  CHECK(found.count == 1);
  CHECK(found.first->code == Errc::bad_input);
  CHECK(found.first->text() == "a.h5: value -70000 is too large for f16, in row 3, column 2");
  CHECK(of({1e300, -1e39, 1}, DType::f32).count == 2);
  CHECK(of({1, 3.4e38, 1}, DType::bf16).first->message ==
        "value 3.4e+38 is too large for bf16, in row 1, column 3");
}

TEST_CASE("what was not finite before is not counted") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(of({kInf, -kInf, std::numeric_limits<double>::quiet_NaN()}, DType::f16).count == 0);
}

TEST_CASE("of several the first stays") {
  Overflow sum = of({1, 1, 1}, DType::f16);
  sum += of({1, 1, 1e6}, DType::f16);
  sum += of({1e7, 1e8, 1}, DType::f16);
  CHECK(sum.count == 3);
  CHECK(sum.first->message.starts_with("value 1000000 "));
}
