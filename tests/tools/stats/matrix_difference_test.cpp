#include "tools/stats/matrix_difference.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "formats/core/csr.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

// A matrix with 3 columns from its rows; -1 stands for no entry.
struct Small {
  std::vector<std::int64_t> row_ptr = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  bool pattern;

  explicit Small(const std::vector<std::vector<float>>& rows, bool is_pattern = false) : pattern(is_pattern) {
    for (const auto& row : rows) {
      for (std::size_t c = 0; c < row.size(); ++c)
        if (row[c] != -1) {
          columns.push_back(static_cast<std::int32_t>(c));
          values.push_back(row[c]);
        }
      row_ptr.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
  [[nodiscard]] formats::CsrView view() const {
    formats::CsrView a;
    a.rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
    a.cols = 3;
    a.row_ptr = row_ptr;
    a.col_idx = columns;
    if (!pattern) a.values = {DType::f32, values.data(), static_cast<std::int64_t>(values.size())};
    return a;
  }
};

using Rows = std::vector<std::vector<float>>;
Small small(const Rows& rows, bool is_pattern = false) { return Small(rows, is_pattern); }

std::string difference(const Small& a, const Small& b) {
  return find_difference(a.view(), "the bundle", b.view(), "b.mtx").value_or("none");
}

}  // namespace

TEST_CASE("the same matrices have no difference, not even in values that are no numbers") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(difference(small({{1, -1, nan}, {}}), small({{1, -1, nan}, {}})) == "none");
  CHECK(difference(small({}), small({})) == "none");
}

TEST_CASE("the first other value is named with both") {
  CHECK(difference(small({{1, 2, 3}, {4, 5, 6}}), small({{1, 2, 3}, {4, 7, 8}})) ==
        "first difference at row 2, column 2: 5 in the bundle, 7 in b.mtx");
  CHECK(difference(small({Rows::value_type{0}}), small({Rows::value_type{-0.0f}})) ==
        "first difference at row 1, column 1: 0 in the bundle, -0 in b.mtx");
}

TEST_CASE("an entry that one lacks is the first difference, at the end of a row and of the matrix, too") {
  CHECK(difference(small({{1, -1, 3}}), small({{1, 2, -1}})) ==
        "first difference at row 1, column 2: only b.mtx has an entry");
  CHECK(difference(small({{1, -1, 3}, {1}}), small({{1, -1, -1}, {1, 1}})) ==
        "first difference at row 1, column 3: only the bundle has an entry");
  CHECK(difference(small({Rows::value_type{1}}), small({{1}, {-1, 2}})) ==
        "the bundle is 1 x 3 with 1 entries, b.mtx is 2 x 3 with 2 entries; first difference at row 2, "
        "column 2: "
        "only b.mtx has an entry");
}

TEST_CASE("where no entry differs the sizes, or the lack of values, do") {
  CHECK(difference(small({Rows::value_type{1}}), small({{1}, {}})) ==
        "the bundle is 1 x 3 with 1 entries, b.mtx is 2 x 3 with 1 entries");
  CHECK(difference(small({Rows::value_type{1}}, true), small({Rows::value_type{1}})) ==
        "the bundle is 1 x 3 with 1 entries without values, b.mtx is 1 x 3 with 1 entries");
}
