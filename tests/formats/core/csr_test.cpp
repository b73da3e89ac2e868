#include "formats/core/csr.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "formats/core/counting_sort.hpp"
#include "formats/core/value_types.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

template <class T>
Buffer<T> buffer(const std::vector<T>& values) {
  Buffer<T> result(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

Csr make(std::int64_t rows, std::int64_t cols, const std::vector<std::int64_t>& row_ptr,
         const std::vector<std::int32_t>& col_idx, const std::vector<float>& values) {
  return {rows, cols, buffer(row_ptr), buffer(col_idx), Array(buffer(values))};
}

// Rows of up to 20 random columns, unsorted, with repetitions; value = position, so order can be seen.
Csr random_csr(std::int64_t rows, std::int32_t cols, unsigned seed, bool pattern = false) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length = cols == 0 ? 0 : random() % 21;
    for (std::size_t i = 0; i < length; ++i)
      col_idx.push_back(static_cast<std::int32_t>(random() % static_cast<std::size_t>(cols)));
    row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
  }
  std::vector<float> values(col_idx.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Csr a = make(rows, cols, row_ptr, col_idx, values);
  if (pattern) a.values = Array();
  return a;
}

Csr sorted_random_csr(std::int64_t rows, std::int32_t cols, unsigned seed, bool pattern = false) {
  Csr a = random_csr(rows, cols, seed, pattern);
  sort_and_sum_duplicates(a);
  return a;
}

using Dense = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Dense dense(const CsrView& a) {
  Dense entries;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (auto i = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
         i < static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row) + 1]); ++i)
      entries[{row, a.col_idx[i]}] += a.is_pattern() ? 1.0 : static_cast<double>(a.values.as<float>()[i]);
  return entries;
}

}  // namespace

TEST_CASE("a copy is identical and independent") {
  Csr a = sorted_random_csr(100, 50, 1);
  Csr b = copy(a.view());
  CHECK(identical(a.view(), b.view()));
  b.col_idx[0] += 1;
  CHECK(!identical(a.view(), b.view()));
  const Csr empty = copy(make(0, 0, {0}, {}, {}).view());
  CHECK(empty.nnz() == 0);
  CHECK(empty.row_ptr.size() == 1);
}

TEST_CASE("identical compares shape, structure, value type and value bits") {
  const Csr a = make(2, 2, {0, 1, 2}, {0, 1}, {0.0F, 1.0F});
  CHECK(identical(a.view(), make(2, 2, {0, 1, 2}, {0, 1}, {0.0F, 1.0F}).view()));
  CHECK(!identical(a.view(), make(2, 2, {0, 1, 2}, {0, 1}, {-0.0F, 1.0F}).view()));
  CHECK(!identical(a.view(), make(2, 3, {0, 1, 2}, {0, 1}, {0.0F, 1.0F}).view()));
  CHECK(!identical(a.view(), make(2, 2, {0, 2, 2}, {0, 1}, {0.0F, 1.0F}).view()));
  Csr wide = copy(a.view());
  wide.values = convert_values(a.values.view(), DType::f64);
  CHECK(!identical(a.view(), wide.view()));
  wide.values = Array();
  CHECK(!identical(a.view(), wide.view()));
}

TEST_CASE("transposing moves every entry and twice gives the matrix back") {
  for (const bool pattern : {false, true})
    for (const auto& shape : {std::pair<std::int64_t, std::int32_t>{1, 1},
                              {300, 7},
                              {7, 300},
                              {2000, 500},
                              {5, 0},
                              {0, 5},
                              {0, 0}}) {
      const auto rows = shape.first;
      const auto cols = shape.second;
      CAPTURE(rows);
      CAPTURE(cols);
      const Csr a = sorted_random_csr(rows, cols, 3, pattern);
      const Csr t = transpose(a.view());
      CHECK(t.rows == cols);
      CHECK(t.cols == rows);
      Dense expected;
      for (const auto& [at, value] : dense(a.view())) expected[{at.second, at.first}] = value;
      CHECK(dense(t.view()) == expected);
      CHECK(identical(transpose(t.view()).view(), a.view()));
    }
}

TEST_CASE("transposing moves values of every width") {
  const Csr a = sorted_random_csr(60, 40, 9);
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Csr b = copy(a.view());
    b.values = convert_values(a.values.view(), dtype);
    CHECK(identical(transpose(transpose(b.view()).view()).view(), b.view()));
  }
}

TEST_CASE("counting sort places items alike for any number of parts") {
  const std::vector<int> keys{3, 1, 3, 0, 1, 1, 3, 2, 0, 3};
  for (int parts = 1; parts <= 10; ++parts) {
    std::vector<std::size_t> placed(keys.size());
    const Buffer<std::int64_t> starts = counting_sort(
        5, parts,
        [&](int part, auto&& sink) {
          const auto p = static_cast<std::size_t>(part), n = static_cast<std::size_t>(parts);
          for (std::size_t i = p * keys.size() / n; i < (p + 1) * keys.size() / n; ++i) sink(keys[i], i);
        },
        [&](std::int64_t at, std::size_t i) { placed[static_cast<std::size_t>(at)] = i; });
    CHECK(std::vector<std::int64_t>(starts.begin(), starts.end()) ==
          std::vector<std::int64_t>{0, 2, 5, 6, 10, 10});
    CHECK(placed == std::vector<std::size_t>{3, 8, 1, 4, 5, 7, 0, 2, 6, 9});
  }
}

TEST_CASE("permute_rows gathers rows, empty ones included") {
  const Csr a = make(4, 3, {0, 2, 2, 3, 5}, {0, 2, 1, 0, 1}, {1, 2, 3, 4, 5});
  const std::vector<std::int32_t> order{3, 1, 0, 2};
  const Csr b = permute_rows(a.view(), order);
  CHECK(identical(b.view(), make(4, 3, {0, 2, 2, 4, 5}, {0, 1, 0, 2, 1}, {4, 5, 1, 2, 3}).view()));
  Csr pattern = copy(a.view());
  pattern.values = Array();
  CHECK(permute_rows(pattern.view(), order).view().is_pattern());
  CHECK(permute_rows(make(0, 3, {0}, {}, {}).view(), {}).rows == 0);
}

TEST_CASE("check_permutation names the first id that is wrong") {
  const auto message = [](const std::vector<std::int32_t>& order, std::int64_t n) {
    const Status status = check_permutation(order, n);
    return status ? std::string() : status.error().message;
  };
  CHECK(message({2, 0, 1}, 3).empty());
  CHECK(message({}, 0).empty());
  CHECK(message({0, 3, 3}, 3) == "row id 3 at position 1 is not in 0..2");
  CHECK(message({0, -1, 1}, 3) == "row id -1 at position 1 is not in 0..2");
  CHECK(message({0, 1, 1}, 3) == "row id 1 at position 2 occurs twice; each row must occur once");
  CHECK(message({0, 1}, 3) == "a permutation of 3 rows requires one id per row, got 2");
}

TEST_CASE("duplicates are summed and rows come out sorted") {
  Csr a = make(3, 4, {0, 4, 4, 6}, {2, 0, 2, 1, 3, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(sort_and_sum_duplicates(a) == 2);
  CHECK(identical(a.view(), make(3, 4, {0, 3, 3, 4}, {0, 1, 2, 3}, {2, 4, 4, 11}).view()));
  CHECK(sort_and_sum_duplicates(a) == 0);
}

TEST_CASE("duplicates are added in the order in which they stand and rounded once") {
  // 1e30 + 1 - 1e30 is 0 in this order and 1 in another one.
  Csr a = make(1, 2, {0, 4}, {1, 0, 1, 1}, {1e30F, 7.0F, 1.0F, -1e30F});
  CHECK(sort_and_sum_duplicates(a) == 2);
  CHECK(a.values.as<float>()[1] == 0.0F);
  Csr b = make(1, 1, {0, 3}, {0, 0, 0}, {1.0F, 0x1p-24F, 0x1p-24F});  // float sums would stay at 1
  CHECK(sort_and_sum_duplicates(b) == 2);
  CHECK(b.values.as<float>()[0] == 1.0F + 0x1p-23F);
}

TEST_CASE("sorting keeps sums for all rows, and gives the same for one thread and for two") {
  for (const bool pattern : {false, true}) {
    Csr a = random_csr(3000, 40, 5, pattern), b = random_csr(3000, 40, 5, pattern);
    const std::int64_t before = a.nnz();
    const Dense expected = dense(a.view());
    const std::int64_t merged = sort_and_sum_duplicates(a);
    CHECK(merged == before - a.nnz());
    CHECK(a.nnz() == static_cast<std::int64_t>(expected.size()));
    if (!pattern) CHECK(dense(a.view()) == expected);
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    CHECK(sort_and_sum_duplicates(b) == merged);
    CHECK(identical(a.view(), b.view()));
  }
}

TEST_CASE("a long row is sorted too") {
  constexpr std::int32_t kLength = 200000;
  std::vector<std::int32_t> cols;
  std::vector<float> values;
  for (std::int32_t i = 0; i < kLength; ++i) {
    cols.push_back(static_cast<std::int32_t>(std::int64_t{i} * 7919 % kLength));
    values.push_back(static_cast<float>(cols.back()));
  }
  Csr a = make(1, kLength, {0, kLength}, cols, values);
  CHECK(sort_and_sum_duplicates(a) == 0);
  bool in_place = true;
  for (std::int32_t i = 0; i < kLength; ++i)
    in_place = in_place && a.col_idx[i] == i &&
               a.values.as<float>()[static_cast<std::size_t>(i)] == static_cast<float>(i);
  CHECK(in_place);
}

TEST_CASE("values convert between all types, rounding to nearest") {
  const std::vector<double> samples{0.0,
                                    -0.0,
                                    1.0,
                                    -2.5,
                                    65504.0,
                                    65520.0,
                                    1e-8,
                                    3.4e38,
                                    1e300,
                                    -1e300,
                                    std::numeric_limits<double>::infinity()};
  const Array source(buffer(samples));
  const Array half = convert_values(source.view(), DType::f16);
  const auto h = half.as<Half>();
  CHECK(h[0].bits == 0);
  CHECK(h[1].bits == 0x8000);
  CHECK(to_float(h[3]) == -2.5F);
  CHECK(to_float(h[4]) == 65504.0F);
  CHECK(std::isinf(to_float(h[5])));
  CHECK(h[6].bits == 0);
  const Array single = convert_values(source.view(), DType::f32);
  CHECK(single.as<float>()[7] == 3.4e38F);
  CHECK(single.as<float>()[8] == std::numeric_limits<float>::infinity());
  CHECK(!convert_values({}, DType::f32).present());
  for (const DType narrow : {DType::f16, DType::bf16, DType::f32}) {
    const Array once = convert_values(source.view(), narrow);
    const Array back = convert_values(convert_values(once.view(), DType::f64).view(), narrow);
    CHECK(std::equal(static_cast<const char*>(once.data()),
                     static_cast<const char*>(once.data()) + once.view().bytes(),
                     static_cast<const char*>(back.data())));
  }
}

TEST_CASE("a double is rounded to a half type once, not first to float") {
  // Just above the midpoint of two halves, by less than a float can hold.
  const double above = 1.0 + 0x1p-11 + 0x1p-40;
  CHECK(round_to<Half>(above).bits == 0x3c01);
  CHECK(round_to<Half>(-above).bits == 0xbc01);
  CHECK(round_to<Half>(1.0 + 0x1p-11).bits == 0x3c00);                // a tie goes to even
  CHECK(round_to<Half>(1.0 + 3 * 0x1p-11 - 0x1p-40).bits == 0x3c01);  // just below the next midpoint
  CHECK(round_to<BFloat16>(1.0 + 0x1p-8 + 0x1p-40).bits == 0x3f81);
  CHECK(round_to<BFloat16>(1.0 + 0x1p-8).bits == 0x3f80);
  CHECK(round_to<BFloat16>(3.4e38).bits == 0x7f80);
  CHECK(round_to<Half>(1e-300).bits == 0);
  CHECK(std::isnan(to_float(round_to<Half>(std::nan("")))));
}
