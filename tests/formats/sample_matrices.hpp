// Matrices of many shapes for property tests of the formats.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"

namespace sptile::tests {

/// Columns of each row, ascending.
using Rows = std::vector<std::vector<std::int32_t>>;

/// Builds a matrix whose k-th value has the bits of the number k + 1, truncated to the width of the type;
/// none makes a pattern.
inline formats::Csr make_csr(std::int64_t cols, const Rows& rows, DType dtype = DType::f32) {
  std::int64_t nnz = 0;
  for (const auto& row : rows) nnz += static_cast<std::int64_t>(row.size());
  formats::Csr a{static_cast<std::int64_t>(rows.size()),
                 cols,
                 formats::Buffer<std::int64_t>(static_cast<std::int64_t>(rows.size()) + 1),
                 formats::Buffer<std::int32_t>(nnz),
                 {}};
  a.row_ptr[0] = 0;
  std::int64_t at = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (const std::int32_t column : rows[static_cast<std::size_t>(r)]) a.col_idx[at++] = column;
    a.row_ptr[r + 1] = at;
  }
  if (dtype == DType::none) return a;
  a.values = formats::Array(dtype, nnz);
  const std::size_t size = size_of(dtype);
  for (std::int64_t k = 0; k < nnz; ++k) {
    const auto bits = static_cast<std::uint64_t>(k) + 1;
    std::memcpy(static_cast<std::byte*>(a.values.data()) + static_cast<std::size_t>(k) * size, &bits, size);
  }
  return a;
}

/// Returns the bits of each element.
inline std::vector<std::uint64_t> elements(const ArrayView& array) {
  std::vector<std::uint64_t> result(static_cast<std::size_t>(array.size));
  const std::size_t size = size_of(array.dtype);
  for (std::size_t i = 0; i < result.size(); ++i)
    std::memcpy(&result[i], static_cast<const std::byte*>(array.data) + i * size, size);
  return result;
}

/// Fills a rows x cols matrix at random.
inline Rows random_rows(std::int64_t rows, std::int64_t cols, double density, unsigned seed) {
  std::mt19937 generator(seed);
  std::bernoulli_distribution filled(density);
  Rows result(static_cast<std::size_t>(rows));
  for (auto& row : result)
    for (std::int32_t column = 0; column < cols; ++column)
      if (filled(generator)) row.push_back(column);
  return result;
}

/// Rows with 0 to `longest` entries at random columns.
inline Rows short_rows(std::int64_t rows, std::int64_t cols, int longest, unsigned seed) {
  std::mt19937 generator(seed);
  Rows result(static_cast<std::size_t>(rows));
  for (auto& row : result) {
    for (auto entries = generator() % static_cast<unsigned>(longest + 1); entries > 0; --entries)
      row.push_back(static_cast<std::int32_t>(generator() % static_cast<unsigned>(cols)));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return result;
}

inline std::vector<std::int32_t> all_columns(std::int64_t cols) {
  std::vector<std::int32_t> columns;
  for (std::int32_t c = 0; c < cols; ++c) columns.push_back(c);
  return columns;
}

struct Sample {
  std::string name;
  std::int64_t cols;
  Rows rows;
};

/// Returns matrices of empty to a few thousand rows: ragged sizes, empty and dense rows and columns, short
/// rows, bands, columns that need more than 28 bits.
inline std::vector<Sample> sample_matrices() {
  std::vector<Sample> samples;
  unsigned seed = 1;
  constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {
      {0, 0},  {0, 5},  {5, 0},  {1, 1},    {1, 20}, {3, 7},   {7, 9},    {8, 8},
      {9, 17}, {15, 3}, {16, 8}, {17, 100}, {33, 1}, {64, 64}, {100, 300}};
  for (const auto& [rows, cols] : kShapes)
    for (const double density : {0.0, 0.02, 0.3, 1.0})
      samples.push_back(
          {std::to_string(rows) + "x" + std::to_string(cols) + " density " + std::to_string(density), cols,
           random_rows(rows, cols, density, seed++)});

  samples.push_back({"short rows", 500, short_rows(1000, 500, 6, seed++)});
  samples.push_back({"short rows, few columns", 20, short_rows(777, 20, 3, seed++)});
  samples.push_back({"one entry per row at most", 4000, short_rows(3001, 4000, 1, seed++)});
  Sample mixed{"short rows between long ones", 300, short_rows(600, 300, 4, seed++)};
  for (std::size_t r = 0; r < mixed.rows.size(); r += 5) mixed.rows[r] = random_rows(1, 300, 0.2, seed++)[0];
  samples.push_back(std::move(mixed));
  Sample dense_row{"one dense row", 5003, short_rows(2005, 5003, 3, seed++)};
  dense_row.rows[1203] = all_columns(5003);
  samples.push_back(std::move(dense_row));
  Sample dense_column{"one dense column", 400, short_rows(900, 400, 2, seed++)};
  for (auto& row : dense_column.rows)
    if (row.empty() || row[0] != 0) row.insert(row.begin(), 0);
  samples.push_back(std::move(dense_column));
  Sample band{"band", 3000, Rows(3000)};
  for (std::int32_t r = 0; r < 3000; ++r)
    for (std::int32_t c = std::max(0, r - 6); c <= std::min(2999, r + 6); c += 1 + r % 3)
      band.rows[static_cast<std::size_t>(r)].push_back(c);
  samples.push_back(std::move(band));
  Sample gap{"entries in the last row only", 10, Rows(5000)};
  gap.rows.back() = {9};
  samples.push_back(std::move(gap));
  Sample wide{"columns up to 2^31 - 2", 2147483647, short_rows(40, 1000, 9, seed++)};
  for (auto& row : wide.rows)
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += i % 2 == 0 ? 0 : 2147482000;
  for (auto& row : wide.rows) std::sort(row.begin(), row.end());
  samples.push_back(std::move(wide));
  // A window that rs_tile splits: far longer than the others, none of which consists of residual rows only.
  Sample long_window{"one dense row between long ones", 3000, short_rows(160, 3000, 30, 77)};
  long_window.rows[80] = all_columns(3000);
  samples.push_back(std::move(long_window));
  // Several chunks of work, so that tasks run concurrently.
  samples.push_back({"several chunks", 2000, short_rows(12000, 2000, 25, seed++)});
  return samples;
}

}  // namespace sptile::tests
