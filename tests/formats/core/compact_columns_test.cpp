#include "formats/core/compact_columns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "formats/core/random.hpp"
#include "tests/formats/sample_matrices.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

constexpr std::int64_t kMaxColumns = 2147483647;

/// Rows of up to `most` entries in columns drawn from all of them.
Rows scattered_rows(std::int64_t rows, std::int64_t cols, std::int64_t most) {
  Rows result(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    RandomStream random(5, static_cast<std::uint64_t>(r));
    std::vector<std::int32_t>& row = result[static_cast<std::size_t>(r)];
    for (std::int64_t left = random.below(most + 1); left > 0; --left)
      row.push_back(static_cast<std::int32_t>(random.below(cols)));
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return result;
}

/// One place for each column that has entries, 0, 1, ... without a gap, in the order of the columns.
void check_places(const CsrView& a, const CsrView& compact) {
  std::map<std::int32_t, std::int32_t> place;
  for (std::size_t i = 0; i < a.col_idx.size(); ++i) {
    const auto [known, fresh] = place.emplace(a.col_idx[i], compact.col_idx[i]);
    REQUIRE(known->second == compact.col_idx[i]);
  }
  std::int32_t next = 0;
  for (const auto& [column, at] : place) REQUIRE(at == next++);
}

}  // namespace

TEST_CASE("compact columns: those in use are numbered in their order, rows stay") {
  for (const auto& [rows, most] : {std::pair{1, 40}, {3, 2000}, {300, 9}, {5000, 30}}) {
    const auto row_count = rows;
    CAPTURE(row_count);
    const Csr a = make_csr(kMaxColumns, scattered_rows(rows, kMaxColumns, most), DType::none);
    const CompactColumns columns(a.view());
    const CsrView compact = columns.view();
    REQUIRE(compact.nnz() == a.nnz());
    CHECK(std::ranges::equal(compact.row_ptr, a.row_ptr.span()));
    CHECK(compact.cols <= rows + a.nnz() + 1);
    CHECK(std::ranges::all_of(compact.col_idx, [&](std::int32_t c) { return c < compact.cols; }));
    check_places(a.view(), compact);
  }
}

TEST_CASE("compact columns: entries and rows that bound the columns already leave them alone") {
  const Rows rows = scattered_rows(50, 80, 4);
  std::int64_t entries = 0;
  for (const auto& row : rows) entries += static_cast<std::int64_t>(row.size());
  const std::int64_t most = kColumnsPerEntry * (50 + entries + 1);
  for (const std::int64_t cols : {std::int64_t{80}, most, most + 1}) {
    const Csr a = make_csr(cols, rows, DType::f32);
    const CompactColumns columns(a.view());
    CHECK((columns.view().cols == cols) == (cols <= most));
    CHECK((columns.view().col_idx.data() == a.col_idx.data()) == (cols <= most));
    CHECK(columns.view().is_pattern());
  }
}

TEST_CASE("compact columns: a matrix that is not square does not become square") {
  const Rows as_many_columns_as_rows = {{5}, {700}, {90000}}, none(3);
  for (const Rows& rows : {as_many_columns_as_rows, none}) {
    const Csr a = make_csr(kMaxColumns, rows, DType::none);
    CHECK(CompactColumns(a.view()).view().cols == 4);
  }
}
