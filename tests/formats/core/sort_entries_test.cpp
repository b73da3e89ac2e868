#include "formats/core/sort_entries.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "formats/core/add_rows.hpp"
#include "formats/core/random.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

// Memory for the result of sorting `entries` entries.
struct Memory {
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col_idx, position, source;
  Memory(std::int64_t rows, std::size_t entries)
      : row_ptr(static_cast<std::size_t>(rows) + 1, -1),
        col_idx(entries, -1),
        position(entries, -1),
        source(entries, -1) {}
  [[nodiscard]] SortedEntries spans() { return {row_ptr, col_idx, position, source}; }
};

struct Entries {
  std::int64_t rows, cols;
  std::vector<std::int64_t> row, col;
  [[nodiscard]] EntryIds<std::int64_t> ids() const { return {rows, cols, row, col}; }
};

Entries random_entries(std::int64_t rows, std::int64_t cols, std::size_t count, std::uint64_t seed) {
  RandomStream random(seed);
  Entries made{rows, cols, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    made.row.push_back(random.below(rows));
    made.col.push_back(random.below(cols));
  }
  return made;
}

// Compares with an ordered map from places to their first given entry.
void check_sorted(const Entries& given, const Memory& out, const SortResult& result) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < given.row.size(); ++i) places[{given.row[i], given.col[i]}].push_back(i);
  REQUIRE(result.nnz == static_cast<std::int64_t>(places.size()));
  CHECK(out.row_ptr[0] == 0);
  CHECK(out.row_ptr.back() == result.nnz);
  std::size_t k = 0;
  bool fits = true;
  for (const auto& [place, entries] : places) {
    const auto row = static_cast<std::size_t>(place.first);
    fits &= out.row_ptr[row] <= static_cast<std::int64_t>(k) &&
            static_cast<std::int64_t>(k) < out.row_ptr[row + 1];
    fits &= out.col_idx[k] == place.second;
    if (!result.is_ordered)
      for (const std::size_t i : entries) fits &= out.position[i] == static_cast<std::int32_t>(k);
    if (!result.is_ordered && places.size() == given.row.size())
      fits &= out.source[k] == static_cast<std::int32_t>(entries.front());
    ++k;
  }
  CHECK(fits);
}

}  // namespace

TEST_CASE("sort_entries gives CSR arrays and the order of the entries") {
  for (const auto& [rows, cols, count] : {std::tuple(7, 5, 20), {1, 1, 3}, {300, 200, 40}, {40, 9000, 500}}) {
    const Entries given = random_entries(rows, cols, static_cast<std::size_t>(count), 3);
    Memory out(rows, given.row.size());
    const auto result = sort_entries(given.ids(), out.spans(), 1);
    REQUIRE(result);
    check_sorted(given, out, *result);
  }
}

TEST_CASE("sort_entries leaves ascending entries in their order") {
  const Entries given{3, 4, {0, 0, 2, 2}, {1, 3, 0, 2}};
  Memory out(3, 4);
  const auto result = sort_entries(given.ids(), out.spans(), 1);
  REQUIRE(result);
  CHECK(result->is_ordered);
  CHECK(out.position == std::vector<std::int32_t>(4, -1));
  CHECK(out.row_ptr == std::vector<std::int64_t>{0, 2, 2, 4});
  check_sorted(given, out, *result);
}

TEST_CASE("sort_entries accepts no entries, and no rows") {
  for (const std::int64_t rows : {0, 3}) {
    Memory out(rows, 0);
    const auto result = sort_entries(EntryIds<std::int32_t>{rows, 2, {}, {}}, out.spans(), 2);
    REQUIRE(result);
    CHECK(result->nnz == 0);
    CHECK(out.row_ptr == std::vector<std::int64_t>(static_cast<std::size_t>(rows) + 1, 0));
  }
}

TEST_CASE("sort_entries names the first id that is out of range") {
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 40}) {
    Entries given{3, 4, {0, 1, 2}, {0, 0, 0}};
    given.col[1] = bad;
    Memory out(3, 3);
    const auto result = sort_entries(given.ids(), out.spans(), 1);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::bad_input);
    CHECK(result.error().message == "col[1] is " + std::to_string(bad) + "; expected 0 to 3");
  }
}

TEST_CASE("any number of threads sorts and transposes to the same arrays") {
  const Entries given = random_entries(500, 700, 200'000, 5);
  Memory one(500, given.row.size()), several(500, given.row.size());
  const auto result = sort_entries(given.ids(), one.spans(), 1);
  REQUIRE(result);
  REQUIRE(sort_entries(given.ids(), several.spans(), 7));
  check_sorted(given, one, *result);
  CHECK(one.row_ptr == several.row_ptr);
  CHECK(one.col_idx == several.col_idx);
  CHECK(one.position == several.position);

  const auto nnz = static_cast<std::size_t>(result->nnz);
  const CsrView a{500, 700, one.row_ptr, std::span(one.col_idx).first(nnz), {}};
  Memory t(700, nnz), t_several(700, nnz);
  transpose_entries(a, t.spans(), 1);
  transpose_entries(a, t_several.spans(), 7);
  CHECK(t.col_idx == t_several.col_idx);
  CHECK(t.source == t_several.source);
  bool fits = t.row_ptr.front() == 0 && t.row_ptr.back() == result->nnz;
  for (std::size_t col = 0; col < 700; ++col)
    for (auto k = static_cast<std::size_t>(t.row_ptr[col]); k < static_cast<std::size_t>(t.row_ptr[col + 1]);
         ++k) {
      const auto entry = static_cast<std::size_t>(t.source[k]), row = static_cast<std::size_t>(t.col_idx[k]);
      fits &= one.col_idx[entry] == static_cast<std::int32_t>(col);
      fits &= one.row_ptr[row] <= t.source[k] && t.source[k] < one.row_ptr[row + 1];
      fits &= k == static_cast<std::size_t>(t.row_ptr[col]) || t.col_idx[k - 1] < t.col_idx[k];
    }
  CHECK(fits);
}

TEST_CASE("add_rows adds the rows of unsorted entries in their order, for any number of threads") {
  const Entries given = random_entries(90, 70, 30'000, 2);
  constexpr std::int64_t kColumns = 70;
  std::vector<float> x(70 * kColumns), expected(90 * kColumns, 0.0f);
  RandomStream random(4);
  for (float& value : x) value = random.signed_unit();
  for (std::size_t i = 0; i < given.row.size(); ++i)
    for (std::int64_t c = 0; c < kColumns; ++c)
      expected[static_cast<std::size_t>(given.row[i] * kColumns + c)] +=
          x[static_cast<std::size_t>(given.col[i] * kColumns + c)];
  for (const int threads : {1, 4}) {
    std::vector<float> out(expected.size(), 7.0f);
    REQUIRE(add_rows<float>(given.ids(), kColumns, x, out, threads));
    CHECK(out == expected);
  }
}

TEST_CASE("add_rows refuses ids that are out of range, before it writes") {
  Entries given{3, 4, {0, 1, 2}, {0, 0, 0}};
  given.row[2] = 3;
  const std::vector<double> x(4, 1.0);
  std::vector<double> out(3, 7.0);
  const Status status = add_rows<double>(given.ids(), 1, x, out, 1);
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "row[2] is 3; expected 0 to 2");
  CHECK(out == std::vector<double>(3, 7.0));
}
