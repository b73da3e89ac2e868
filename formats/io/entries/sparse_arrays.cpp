#include "formats/io/entries/sparse_arrays.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/core/value_types.hpp"
#include "formats/io/files/available_memory.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kMaxRows = INT32_MAX;

Status check_pointers(const SparseArrays& arrays, std::string_view name) {
  const auto& pointers = arrays.pointers;
  std::int64_t previous = 0;
  for (std::int64_t i = 0; i < pointers.size(); ++i) {
    const bool wrong = i == 0 ? pointers[0] != 0 : pointers[i] < previous;
    if (wrong || pointers[i] > arrays.ids.size())
      return fail(Errc::bad_input, std::string(name) + "[" + std::to_string(i) + "] is " +
                                       std::to_string(pointers[i]) + "; expected offsets from 0 to " +
                                       std::to_string(arrays.ids.size()) + ", the number of indices");
    previous = pointers[i];
  }
  if (previous == arrays.ids.size()) return {};
  return fail(Errc::bad_input, std::string(name) + " ends with " + std::to_string(previous) + ", not with " +
                                   std::to_string(arrays.ids.size()) + ", the number of indices");
}

// Converts counts (counts[r + 1] entries in row r) to row pointers, in place.
void sum_up(Buffer<std::int64_t>& counts) {
  for (std::int64_t r = 1; r < counts.size(); ++r) counts[r] += counts[r - 1];
}

Csr take_csr(SparseArrays&& arrays) {
  return {arrays.rows, arrays.cols, std::move(arrays.pointers), std::move(arrays.ids),
          std::move(arrays.values)};
}

Csr from_csc(SparseArrays&& arrays) {
  const std::int64_t rows = arrays.rows, cols = arrays.cols;
  arrays.rows = cols, arrays.cols = rows;
  return transpose(take_csr(std::move(arrays)).view());
}

Csr from_coo(SparseArrays&& arrays) {
  const std::int64_t entries = arrays.ids.size();
  Csr csr{arrays.rows, arrays.cols, Buffer<std::int64_t>(arrays.rows + 1), Buffer<std::int32_t>(entries), {}};
  std::fill(csr.row_ptr.begin(), csr.row_ptr.end(), 0);
  for (const std::int32_t row : arrays.row_ids) ++csr.row_ptr[row + 1];
  sum_up(csr.row_ptr);
  if (arrays.values.present()) csr.values = Array(arrays.values.dtype(), entries);
  Buffer<std::int64_t> next(arrays.rows);
  std::copy_n(csr.row_ptr.begin(), arrays.rows, next.begin());
  visit_word(arrays.values.dtype(), [&](auto word) {
    using Word = decltype(word);
    auto* const to = static_cast<Word*>(csr.values.data());
    const auto* const from = static_cast<const Word*>(arrays.values.data());
    for (std::int64_t i = 0; i < entries; ++i) {
      const std::int64_t at = next[arrays.row_ids[i]]++;
      csr.col_idx[at] = arrays.ids[i];
      if (from != nullptr) to[at] = from[i];
    }
  });
  return csr;
}

// Renumbers the nonempty rows 0, 1, ... in order; the list then has no empty rows.
NonemptyRows number_nonempty_rows(SparseArrays& list) {
  NonemptyRows nonempty{list.rows, Buffer<std::int32_t>(list.row_ids.size())};
  std::copy(list.row_ids.begin(), list.row_ids.end(), nonempty.ids.begin());
  std::sort(nonempty.ids.begin(), nonempty.ids.end());
  nonempty.ids.truncate(std::unique(nonempty.ids.begin(), nonempty.ids.end()) - nonempty.ids.begin());
  for (std::int32_t& row : list.row_ids)
    row = static_cast<std::int32_t>(std::ranges::lower_bound(nonempty.ids, row) - nonempty.ids.begin());
  list.rows = nonempty.ids.size();
  return nonempty;
}

// Returns the number of entries of the matrix; for bsr, of all blocks.
std::int64_t value_count(const SparseArrays& arrays) {
  return arrays.layout == ArrayLayout::bsr ? arrays.values.size() : arrays.ids.size();
}

Csr from_bsr(SparseArrays&& arrays) {
  const std::int64_t height = arrays.block_rows, width = arrays.block_cols;
  const std::int64_t entries = arrays.ids.size() * height * width;
  Csr csr{arrays.rows, arrays.cols, Buffer<std::int64_t>(arrays.rows + 1), Buffer<std::int32_t>(entries),
          Array(arrays.values.dtype(), entries)};
  const std::size_t value_bytes = size_of(arrays.values.dtype());
  const std::size_t line_bytes = static_cast<std::size_t>(width) * value_bytes;
  csr.row_ptr[0] = 0;
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < arrays.rows; ++row) {
    const std::int64_t block_row = row / height, line = row % height;
    for (std::int64_t b = arrays.pointers[block_row]; b < arrays.pointers[block_row + 1]; ++b) {
      for (std::int64_t j = 0; j < width; ++j)
        csr.col_idx[at + j] = static_cast<std::int32_t>(arrays.ids[b] * width + j);
      std::memcpy(static_cast<char*>(csr.values.data()) + static_cast<std::size_t>(at) * value_bytes,
                  static_cast<const char*>(arrays.values.data()) +
                      static_cast<std::size_t>(b * height + line) * line_bytes,
                  line_bytes);
      at += width;
    }
    csr.row_ptr[row + 1] = at;
  }
  return csr;
}

// Checks the memory for the copies made by kMakers: row pointers twice, and arrays for sorting.
Status check_memory_of(const SparseArrays& arrays) {
  const std::int64_t entries = arrays.layout == ArrayLayout::csr ? 0 : value_count(arrays);
  return check_copy_memory(arrays.rows, 2, entries,
                           4 + static_cast<std::int64_t>(size_of(arrays.values.dtype())));
}

Status check_triangle(const Csr& triangle, bool lower, bool diagonal) {
  for (std::int64_t row = 0; row < triangle.rows; ++row)
    for (std::int64_t i = triangle.row_ptr[row]; i < triangle.row_ptr[row + 1]; ++i) {
      const std::int64_t col = triangle.col_idx[i];
      if (row == col ? diagonal : (col < row) == lower) continue;
      return fail(Errc::bad_input, "the entry at row " + std::to_string(row) + ", column " +
                                       std::to_string(col) + " (from 0) is outside the " +
                                       (lower ? "lower" : "upper") + " triangle, the only one stored");
    }
  return {};
}

void negate(Array& values) {
  visit_value_type(values.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (T& x : values.as<T>()) x = round_to<T>(-widen(x));
  });
}

// Appends to each row of `below` the entries right of the diagonal in the same row of `above`.
Csr join_triangles(const Csr& below, const Csr& above) {
  const auto right_of_diagonal = [&](std::int64_t row) {
    const std::int64_t first = above.row_ptr[row];
    return first + (first < above.row_ptr[row + 1] && above.col_idx[first] == row ? 1 : 0);
  };
  Csr whole{below.rows, below.cols, Buffer<std::int64_t>(below.rows + 1), {}, {}};
  whole.row_ptr[0] = 0;
  for (std::int64_t row = 0; row < whole.rows; ++row)
    whole.row_ptr[row + 1] = whole.row_ptr[row] + below.row_ptr[row + 1] - below.row_ptr[row] +
                             above.row_ptr[row + 1] - right_of_diagonal(row);
  whole.col_idx = Buffer<std::int32_t>(whole.row_ptr[whole.rows]);
  if (below.values.present()) whole.values = Array(below.values.dtype(), whole.nnz());
  visit_word(below.values.dtype(), [&](auto word) {
    using Word = decltype(word);
    auto* const to = static_cast<Word*>(whole.values.data());
    std::int64_t at = 0;
    const auto append = [&](const Csr& part, std::int64_t first, std::int64_t last) {
      std::copy(part.col_idx.begin() + first, part.col_idx.begin() + last, whole.col_idx.begin() + at);
      const auto* const from = static_cast<const Word*>(part.values.data());
      if (from != nullptr) std::copy(from + first, from + last, to + at);
      at += last - first;
    };
    for (std::int64_t row = 0; row < whole.rows; ++row) {
      append(below, below.row_ptr[row], below.row_ptr[row + 1]);
      append(above, right_of_diagonal(row), above.row_ptr[row + 1]);
    }
  });
  return whole;
}

}  // namespace

Status check_matrix_shape(std::int64_t rows, std::int64_t cols) {
  if (rows >= 0 && cols >= 0 && rows <= kMaxRows && cols <= kMaxRows) return {};
  return fail(rows < 0 || cols < 0 ? Errc::bad_input : Errc::unsupported,
              "the matrix has " + std::to_string(rows) + " rows and " + std::to_string(cols) +
                  " columns; expected 0 to 2147483647");
}

Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes, std::int64_t available) {
  std::string what = "the row pointers of " + std::to_string(rows) + " rows";
  if (entries > 0) what += " and " + std::to_string(entries) + " entries";
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(entries, entry_bytes, &bytes)) bytes = INT64_MAX / 2;
  return check_memory(what, 8 * per_row * (rows + 1) + bytes, available);
}

Status check_copy_memory(std::int64_t rows, std::int64_t per_row, std::int64_t entries,
                         std::int64_t entry_bytes) {
  return check_copy_memory(rows, per_row, entries, entry_bytes, available_memory());
}

std::int64_t majors(const SparseArrays& arrays) {
  if (arrays.layout == ArrayLayout::csc) return arrays.cols;
  return arrays.rows / arrays.block_rows;
}

std::int64_t minors(const SparseArrays& arrays) {
  if (arrays.layout == ArrayLayout::csc) return arrays.rows;
  return arrays.cols / arrays.block_cols;
}

Result<Csr> mirror_triangle(const Csr& triangle, bool lower, bool negated) {
  Status s = check_triangle(triangle, lower, !negated);
  const auto entry_bytes = 4 + static_cast<std::int64_t>(size_of(triangle.values.dtype()));
  if (s) s = check_copy_memory(triangle.rows, 3, 3 * triangle.nnz(), entry_bytes);  // transpose, then join
  if (!s) return tl::unexpected(std::move(s.error()));
  Csr other = transpose(triangle.view());
  if (negated && other.values.present()) negate(other.values);
  return lower ? join_triangles(triangle, other) : join_triangles(other, triangle);
}

Result<AssembledCsr> assemble(SparseArrays&& arrays, std::string_view pointers_name, bool compress_rows) {
  AssembledCsr made;
  const bool integers = arrays.integers;
  if (compress_rows && arrays.layout == ArrayLayout::coo && mostly_empty(arrays.rows, arrays.ids.size()))
    made.nonempty = number_nonempty_rows(arrays);
  if (Status s = check_memory_of(arrays); !s) return tl::unexpected(s.error());
  if (arrays.layout != ArrayLayout::coo)
    if (Status s = check_pointers(arrays, pointers_name); !s) return tl::unexpected(s.error());
  using Maker = Csr (*)(SparseArrays &&);
  constexpr Maker kMakers[] = {take_csr, from_csc, from_coo, from_bsr};  // in the order of ArrayLayout
  made.csr = kMakers[static_cast<std::size_t>(arrays.layout)](std::move(arrays));
  made.integers = integers || !made.csr.values.present();
  made.duplicates = sum_entries(made.csr, sum_type(made.csr.values.dtype()), made.integers, made.loss);
  return made;
}

ReadMatrix to_read_matrix(AssembledCsr&& made) {
  return {std::move(made.csr), made.duplicates,         {}, {}, std::move(made.loss),
          made.integers,       std::move(made.nonempty)};
}

}  // namespace sptile::formats
