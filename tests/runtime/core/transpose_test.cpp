#include "runtime/core/transpose.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "formats/layout/csr.hpp"
#include "runtime/threads/count.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::formats;
using runtime::TransposedCsr;

namespace {

constexpr DType kTypes[] = {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64};

/// Each entry once, and its value where the position says.
void check_positions(const CsrView& a, const TransposedCsr& t) {
  CsrView numbered = a;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(a.nnz()));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  numbered.values = ArrayView(std::span<const std::int64_t>(numbers));
  const Csr moved = transpose(numbered);
  CHECK(std::ranges::equal(moved.values.as<std::int64_t>(), t.source()));
}

}  // namespace

TEST_CASE(
    "the transpose is the one of the offline side, and knows where its values stand, for every shape and "
    "type") {
  test::Random random(7);
  for (const test::RandomShape& shape : test::kRandomShapes)
    for (const DType type : kTypes) {
      const Csr a = test::random_matrix(shape.rows, shape.cols, shape.density, type, random);
      const TransposedCsr t = runtime::transpose(a.view());
      CHECK(check_csr(t.view()));
      CHECK(identical(t.view(), transpose(a.view()).view()));
      check_positions(a.view(), t);
    }
}

TEST_CASE("matrices without rows, columns or entries have transposes") {
  const std::vector<std::int64_t> zeros(8, 0);
  for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 4}, {4, 0}, {7, 3}})
    for (const DType type : kTypes) {
      CsrView a{rows, cols, std::span(zeros).first(static_cast<std::size_t>(rows) + 1), {}, {}};
      if (type != DType::none) a.values = ArrayView(type, nullptr, 0);
      const TransposedCsr t = runtime::transpose(a);
      CHECK(check_csr(t.view()));
      CHECK(t.view().rows == cols);
      CHECK(t.view().cols == rows);
      CHECK(t.view().is_pattern() == a.is_pattern());
    }
}

TEST_CASE("several threads give the same transpose") {
  test::Random random(11);
  const Csr a =
      test::random_matrix(3000, 200, 0.3, DType::f32, random);  // 180000 entries: eleven parts at most
  const Csr expected = transpose(a.view());
  for (const int count : {1, 2, 3, 8}) {
    runtime::set_default_threads(count);
    const TransposedCsr t = runtime::transpose(a.view());
    CHECK(identical(t.view(), expected.view()));
    check_positions(a.view(), t);
  }
  runtime::set_default_threads(0);
}
