#include "tools/measure/random_operands.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "formats/core/csr.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {
formats::Csr diagonal(std::int32_t n) {
  formats::Csr a;
  a.rows = a.cols = n;
  a.row_ptr = formats::Buffer<std::int64_t>(n + 1);
  a.col_idx = formats::Buffer<std::int32_t>(n);
  for (std::int32_t r = 0; r <= n; ++r) a.row_ptr[r] = r;
  for (std::int32_t r = 0; r < n; ++r) a.col_idx[r] = r;
  return a;
}

std::string bytes_of(const formats::Array& a) {
  return {static_cast<const char*>(a.view().data), static_cast<std::size_t>(a.view().bytes())};
}
}  // namespace

TEST_CASE("random values lie in (0.1, 1), differ, and depend on the seed only") {
  const formats::Csr a = diagonal(1000);
  const formats::Array values = random_values(a.view(), DType::f32, 3);
  REQUIRE(values.view().size == 1000);
  const auto x = values.view().as<float>();
  double sum = 0;
  for (const float v : x) {
    CHECK(v >= 0.1F);
    CHECK(v <= 1.0F);
    sum += static_cast<double>(v);
  }
  CHECK(sum == doctest::Approx(550).epsilon(0.05));
  CHECK(bytes_of(values) == bytes_of(random_values(a.view(), DType::f32, 3)));
  CHECK(bytes_of(values) != bytes_of(random_values(a.view(), DType::f32, 4)));
}

TEST_CASE("other types are the same numbers, rounded") {
  const formats::Csr a = diagonal(100);
  const formats::Array values = random_values(a.view(), DType::f32, 3);
  CHECK(bytes_of(random_values(a.view(), DType::f16, 3)) ==
        bytes_of(formats::convert_values(values.view(), DType::f16)));
}

TEST_CASE("a dense operand is never empty") { CHECK(random_dense(0, 4, DType::f64, 1).view().size == 4); }
