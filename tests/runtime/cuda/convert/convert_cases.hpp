// Matrices for comparing conversions.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

struct ConvertCase {
  std::string name;
  formats::Csr matrix;
};

/// Returns shapes with every kind of edge case, small enough for all conversions.
inline std::vector<ConvertCase> convert_cases() {
  Random random(77);
  std::vector<ConvertCase> cases;
  const auto add = [&](const char* name, std::int64_t rows, std::int64_t cols, DType dtype, auto density) {
    cases.push_back({name, random_matrix(rows, cols, dtype, random, density)});
  };
  const auto even = [](double p) { return [p](std::int64_t, std::int64_t) { return p; }; };
  add("no rows", 0, 0, DType::f32, even(0));
  add("no rows, some columns", 0, 7, DType::f32, even(0));
  add("no columns", 9, 0, DType::f32, even(0));
  add("no entries", 300, 40, DType::f64, even(0));
  add("one entry", 1, 1, DType::f32, even(1));
  add("one dense row", 1, 700, DType::f64, even(1));
  add("one dense column", 700, 1, DType::f16, even(1));
  add("full", 37, 45, DType::f32, even(1));
  add("pattern", 203, 310, DType::none, even(0.05));
  add("f16", 131, 97, DType::f16, even(0.2));
  add("bf16", 64, 1000, DType::bf16, even(0.03));
  add("positions", 150, 150, DType::f32, even(0.02));
  add("short rows", 2000, 900, DType::f32, even(0.002));
  add("very short rows", 3000, 5000, DType::f64, even(0.0003));
  add("a dense row among short ones", 1200, 3000, DType::f32, [](std::int64_t r, std::int64_t) {
    return r == 517 ? 0.9 : r % 3 == 0 ? 0.0 : 0.001;
  });
  add("empty rows and columns", 900, 400, DType::f32,
      [](std::int64_t r, std::int64_t c) { return r % 50 < 30 || c % 7 == 0 ? 0.0 : 0.03; });
  add("bands", 1500, 1500, DType::f32,
      [](std::int64_t r, std::int64_t c) { return std::abs(r - c) < 4 ? 0.6 : 0.0; });
  add("coherent short rows", 1100, 1100, DType::f32, [](std::int64_t r, std::int64_t c) {
    return c == r / 9 * 5 % 1100 || c == r * 7 % 1100 ? 0.9 : r % 100 == 3 ? 0.1 : 0.0;
  });
  add("blocks", 520, 640, DType::f16,
      [](std::int64_t r, std::int64_t c) { return r / 64 == c / 80 ? 0.5 : 0.004; });
  add("pairs of blocks", 64, 2000, DType::f32,
      [](std::int64_t r, std::int64_t c) { return r / 32 == c / 1000 ? 0.3 : 0.0; });
  add("wide", 40, 9000, DType::f32, even(0.02));
  add("tall", 9000, 40, DType::f32, even(0.02));
  add("a window to split", 24, 6000, DType::f32,
      [](std::int64_t r, std::int64_t) { return r < 8 ? 0.5 : 0.002; });
  return cases;
}

/// Compares the arrays (in host memory) and parameters of two conversions.
inline void check_same(const formats::FormatData& expected, const formats::FormatView& view,
                       const Parameters& parameters) {
  CHECK(view.rows == expected.rows);
  CHECK(view.cols == expected.cols);
  CHECK(view.nnz == expected.nnz);
  CHECK((parameters == expected.parameters));
  for (std::size_t i = 0; i < expected.arrays.size(); ++i) {
    CAPTURE(std::string(expected.layout->arrays[i].name));
    const ArrayView want = expected.arrays[i].view();
    const ArrayView& got = view.arrays[i];
    CHECK(got.dtype == want.dtype);
    REQUIRE(got.size == want.size);
    CHECK((want.size == 0 || std::memcmp(got.data, want.data, static_cast<std::size_t>(want.bytes())) == 0));
  }
}

}  // namespace sptile::test
