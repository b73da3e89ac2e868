// The check of distributed products finds a wrong row of every kind, sampled or not.
#include "tests/dist/reference.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace sptile::test {
namespace {

constexpr std::int64_t kRows = 2000, kColumns = 4;

/// Rows of 0 to 20 nonzeros, and row 700 of 500, near the diagonal. Every 50th row is empty.
Matrix band(bool pattern = false) {
  std::mt19937 generator(3);
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> col_idx;
  std::vector<float> values;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const std::int64_t length = row == 700      ? 500
                                : row % 50 == 0 ? 0
                                                : 1 + static_cast<std::int64_t>(generator() % 20);
    const std::int64_t first = std::min(std::max<std::int64_t>(row - length / 2, 0), kRows - length);
    for (std::int64_t k = 0; k < length; ++k) {
      col_idx.push_back(static_cast<std::int32_t>(first + k));
      values.push_back(static_cast<float>(generator() % 1000) / 1000 + 0.1F);
    }
    row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
  }
  Values of_all = {};
  if (!pattern) of_all = {Type::f32, values.data(), values.size()};
  return Matrix({kRows, kRows, row_ptr, col_idx, of_all}, {.copy = true});
}

std::vector<std::int32_t> ids_between(std::int32_t begin, std::int32_t end) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(end - begin));
  std::iota(ids.begin(), ids.end(), begin);
  return ids;
}

/// All rows of the product, one nonzero after the other.
std::vector<double> entire_product(const Matrix& matrix, bool transpose) {
  const CsrMatrix a = matrix.csr();
  std::vector<double> c(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t row = 0; row < static_cast<std::size_t>(kRows); ++row)
    for (auto e = static_cast<std::size_t>(a.row_ptr[row]); e < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++e) {
      const auto column = static_cast<std::size_t>(a.col_idx[e]);
      const double value = a.values.data == nullptr ? 1 : static_cast<const float*>(a.values.data)[e];
      for (std::size_t j = 0; j < static_cast<std::size_t>(kColumns); ++j)
        c[(transpose ? column : row) * kColumns + j] +=
            value * static_cast<double>(number<float>(static_cast<std::int64_t>(transpose ? row : column),
                                                      static_cast<std::int64_t>(j)));
    }
  return c;
}

/// Rows `ids` of the product, in float.
std::vector<float> right_rows(const Matrix& matrix, const std::vector<std::int32_t>& ids, bool transpose) {
  const std::vector<double> all = entire_product(matrix, transpose);
  std::vector<float> c;
  for (const std::int32_t id : ids)
    for (std::int64_t j = 0; j < kColumns; ++j)
      c.push_back(static_cast<float>(all[static_cast<std::size_t>(id * kColumns + j)]));
  return c;
}

/// Returns what a comparison reports, "" if nothing.
std::string said(const Reference<float>& reference, const std::vector<float>& c) {
  try {
    reference.compare("C", c);
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

/// Some rows of a matrix, their reference and their correct product.
struct Case {
  explicit Case(std::int64_t work, bool transpose = false, bool pattern = false)
      : matrix(band(pattern)),
        ids(ids_between(500, 1500)),
        reference(matrix, ids, kColumns, transpose, work),
        c(right_rows(matrix, ids, transpose)),
        sampled(ids.size()) {
    for (const std::int32_t i : reference.sampled()) sampled[static_cast<std::size_t>(i)] = true;
  }

  /// Returns what is reported if element `column` of the row at position i is wrong by `error`.
  [[nodiscard]] std::string if_wrong(std::size_t i, float error = 0.5F, std::size_t column = 2) const {
    std::vector<float> wrong = c;
    wrong[i * kColumns + column] += error;
    return said(reference, wrong);
  }

  Matrix matrix;
  std::vector<std::int32_t> ids;
  Reference<float> reference;
  std::vector<float> c;
  std::vector<bool> sampled;
};

constexpr std::int64_t kFewRows = 1 << 13;  // work that samples the longest row and a few more

TEST_CASE("reference: elements of B depend on their place only and fill [-1, 1)") {
  static_assert(number<float>(3, 4) == number<float>(3, 4) && number<float>(3, 4) != number<float>(4, 3));
  double least = 1, greatest = -1, sum = 0;
  for (std::int64_t row = 0; row < 1000; ++row)
    for (std::int64_t j = 0; j < 10; ++j) {
      const double one = number<double>(row, j);
      CHECK(static_cast<float>(one) == doctest::Approx(number<float>(row, j)).epsilon(1e-6));
      least = std::min(least, one);
      greatest = std::max(greatest, one);
      sum += one;
    }
  CHECK((least >= -1 && least < -0.99 && greatest < 1 && greatest > 0.99));
  CHECK(std::abs(sum) < 200);  // 3.5 standard deviations
}

TEST_CASE("reference: the correct product passes, in both directions, sampled or not") {
  for (const bool transpose : {false, true})
    for (const bool pattern : {false, true})
      for (const std::int64_t work : {std::int64_t{0}, kFewRows, Reference<float>::usual_work}) {
        const Case one(work, transpose, pattern);
        CHECK(said(one.reference, one.c) == "");
      }
}

TEST_CASE("reference: a product of few nonzeros is compared row by row") {
  for (const bool transpose : {false, true}) {
    const Case one(Reference<float>::usual_work, transpose);
    CHECK(one.reference.sampled().size() == one.ids.size());
    for (std::size_t i = 0; i < one.ids.size(); i += 37)
      CHECK(one.if_wrong(i).find("C: row " + std::to_string(one.ids[i]) + " has ") == 0);
  }
}

TEST_CASE("reference: first, last and longest rows and those of the boundary are sampled") {
  const Case one(kFewRows);
  CHECK(one.reference.sampled().size() > 20);
  CHECK(one.reference.sampled().size() < one.ids.size() / 3);
  for (const std::size_t i : {std::size_t{0}, one.ids.size() - 1, std::size_t{200}}) {
    CHECK(one.sampled[i]);
    CHECK(one.if_wrong(i).find("C: row " + std::to_string(one.ids[i]) + " has ") == 0);
  }
  // near the diagonal only some rows at both ends of `ids` have nonzeros in rows of others
  const auto boundary = one.reference.boundary();
  REQUIRE(boundary.size() > 4);
  CHECK(boundary.size() < 30);
  for (const std::int32_t i : boundary) {
    CHECK(one.sampled[static_cast<std::size_t>(i)]);
    CHECK(one.if_wrong(static_cast<std::size_t>(i)).find("C: row ") == 0);
  }
}

TEST_CASE("reference: work bounds the sample, except for first, last and longest rows") {
  const Case none(0);
  CHECK(none.reference.sampled().size() == 6);  // of boundary and interior
  const Case some(kFewRows);
  std::int64_t work = 0;
  const CsrMatrix a = some.matrix.csr();
  for (const std::int32_t i : some.reference.sampled()) {
    const auto row = static_cast<std::size_t>(some.ids[static_cast<std::size_t>(i)]);
    work += (a.row_ptr[row + 1] - a.row_ptr[row]) * kColumns;
  }
  CHECK(work <= kFewRows);
  CHECK(work > kFewRows / 2);
}

TEST_CASE("reference: the weighted sum finds a wrong row that is not sampled") {
  for (const bool transpose : {false, true}) {
    const Case one(kFewRows, transpose);
    std::size_t unsampled = 0;
    for (std::size_t i = 0; i < one.ids.size(); ++i) {
      if (one.sampled[i]) continue;
      ++unsampled;
      CHECK(one.if_wrong(i).find("C: an unsampled row is wrong") == 0);
    }
    CHECK(unsampled > 500);
  }
}

TEST_CASE("reference: errors below the tolerance, and unsampled errors that cancel, are missed") {
  const Case one(kFewRows);
  CHECK(one.if_wrong(0, 1e-5F) == "");
  std::vector<std::size_t> unsampled;
  for (std::size_t i = 0; i < one.ids.size(); ++i)
    if (!one.sampled[i]) unsampled.push_back(i);
  std::vector<float> wrong = one.c;
  const auto weight_at = [&](std::size_t k) { return weight(one.ids[unsampled[k]]); };
  wrong[unsampled[0] * kColumns] += 0.5F;
  wrong[unsampled[1] * kColumns] -= static_cast<float>(0.5 * weight_at(0) / weight_at(1));
  CHECK(said(one.reference, wrong) == "");
}

TEST_CASE("reference: two swapped rows, NaN and a missing element are errors") {
  const Case one(kFewRows);
  std::vector<float> wrong;
  for (std::size_t i = 300; i + 1 < one.ids.size(); i += 41) {
    wrong = one.c;
    const auto row = wrong.begin() + static_cast<std::ptrdiff_t>(i) * kColumns;
    std::swap_ranges(row, row + kColumns, row + kColumns);
    CHECK(said(one.reference, wrong) != "");
  }
  CHECK(one.if_wrong(333, std::numeric_limits<float>::quiet_NaN()) != "");
  wrong = one.c;
  wrong.pop_back();
  CHECK(said(one.reference, wrong).find("elements, not 1000 rows of 4") != std::string::npos);
}

TEST_CASE("reference: a part without rows has nothing to compare") {
  const Matrix matrix = band();
  const Reference<float> reference(matrix, {}, kColumns, false);
  CHECK(reference.sampled().empty());
  CHECK(said(reference, {}) == "");
}

TEST_CASE("reference: a rectangular matrix is refused") {
  const std::vector<std::int64_t> row_ptr = {0, 0};
  const Matrix matrix({1, 2, row_ptr, {}}, {.copy = true});
  CHECK_THROWS_WITH(Reference<float>(matrix, {}, 1, false), "the matrix is not square");
}

}  // namespace
}  // namespace sptile::test
