#include "runtime/core/symmetry.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/threads/count.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::formats;
using runtime::is_symmetric;

namespace {

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Csr matrix_of(std::int64_t rows, const Entries& entries, DType type = DType::f64) {
  Csr a{rows, rows, Buffer<std::int64_t>(rows + 1), Buffer<std::int32_t>(std::ssize(entries)), {}};
  Array values(DType::f64, std::ssize(entries));
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  std::int64_t i = 0;
  for (const auto& [at, value] : entries) {
    ++a.row_ptr[at.first + 1];
    a.col_idx[i] = static_cast<std::int32_t>(at.second);
    values.as<double>()[static_cast<std::size_t>(i++)] = value;
  }
  for (std::int64_t row = 0; row < rows; ++row) a.row_ptr[row + 1] += a.row_ptr[row];
  if (type != DType::none) a.values = convert_values(values.view(), type);
  return a;
}

Entries symmetric_entries(std::int64_t rows, double density, test::Random& random) {
  Entries entries;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c <= r; ++c)
      if (std::uniform_real_distribution<double>()(random) < density)
        entries[{r, c}] = entries[{c, r}] = test::uniform(random);
  return entries;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("symmetric matrices are found, whatever their type, and so is each entry that breaks them") {
  test::Random random(3);
  for (const std::int64_t rows : {1, 2, 9, 40}) {
    const Entries entries = symmetric_entries(rows, 0.3, random);
    for (const DType type : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
      CHECK(is_symmetric(matrix_of(rows, entries, type).view()));
    for (const auto& [at, value] : entries) {
      if (at.first == at.second) continue;
      Entries one_less = entries, one_other = entries;
      one_less.erase(at);
      CHECK(!is_symmetric(matrix_of(rows, one_less).view()));
      CHECK(!is_symmetric(matrix_of(rows, one_less, DType::none).view()));
      one_other[at] = value + 1;
      CHECK(!is_symmetric(matrix_of(rows, one_other).view()));
      CHECK(is_symmetric(matrix_of(rows, one_other, DType::none).view()));
    }
  }
}

TEST_CASE("it agrees with comparing the transpose") {
  test::Random random(5);
  int symmetric = 0;
  for (int round = 0; round < 2000; ++round) {
    const Csr a = test::random_matrix(3, 3, 0.6, DType::none, random);
    const bool expected = identical(a.view(), transpose(a.view()).view());
    CHECK(is_symmetric(a.view()) == expected);
    symmetric += expected;
  }
  CHECK(symmetric > 50);
  CHECK(symmetric < 1950);
}

TEST_CASE("values are compared bit by bit: 0 and -0 differ, a NaN is itself") {
  CHECK(is_symmetric(matrix_of(2, {{{0, 1}, kNaN}, {{1, 0}, kNaN}}).view()));
  CHECK(!is_symmetric(matrix_of(2, {{{0, 1}, kNaN}, {{1, 0}, -kNaN}}).view()));
  CHECK(!is_symmetric(matrix_of(2, {{{0, 1}, 0.0}, {{1, 0}, -0.0}}).view()));
  CHECK(is_symmetric(matrix_of(2, {{{0, 1}, -0.0}, {{1, 0}, -0.0}}).view()));
  CHECK(is_symmetric(matrix_of(1, {{{0, 0}, kNaN}}).view()));
}

TEST_CASE("what is not square is not symmetric; what has no entries is") {
  test::Random random(1);
  CHECK(!is_symmetric(test::random_matrix(3, 4, 0, DType::f32, random).view()));
  CHECK(!is_symmetric(test::random_matrix(4, 3, 1, DType::f32, random).view()));
  CHECK(is_symmetric(test::random_matrix(4, 4, 0, DType::f32, random).view()));
  CHECK(is_symmetric(test::random_matrix(0, 0, 0, DType::none, random).view()));
}

TEST_CASE("several threads find the same") {
  test::Random random(9);
  Entries entries = symmetric_entries(600, 0.5, random);  // 180000 entries: eleven parts at most
  const Csr a = matrix_of(600, entries);
  const auto upper = std::pair<std::int64_t, std::int64_t>{2, 590};
  entries.erase({590, 2});
  entries[upper] = 1;
  const Csr b = matrix_of(600, entries);
  for (const int count : {1, 2, 5, 8}) {
    runtime::set_default_threads(count);
    CHECK(is_symmetric(a.view()));
    CHECK(!is_symmetric(b.view()));
  }
  runtime::set_default_threads(0);
}
