#include "runtime/core/symmetry.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "runtime/core/entry_parts.hpp"

namespace sptile::runtime {
namespace {

/// Returns, for each row, the first entry at or after `column`.
std::vector<std::int64_t> entries_from(const formats::CsrView& a, std::int64_t column) {
  std::vector<std::int64_t> entries(static_cast<std::size_t>(a.rows));
  for (std::size_t row = 0; row < entries.size(); ++row)
    entries[row] =
        std::lower_bound(a.col_idx.begin() + a.row_ptr[row], a.col_idx.begin() + a.row_ptr[row + 1], column) -
        a.col_idx.begin();
  return entries;
}

/// Returns whether each entry of a row has a mirrored entry with the same value. Rows are visited in
/// ascending order, so the mirrored entries of each row are found in order, too: `next` is the next one of
/// each row.
template <class Word>
bool mirrored(const formats::CsrView& a, std::int64_t row, std::vector<std::int64_t>& next) {
  const auto* const values = static_cast<const Word*>(a.values.data);
  const std::int64_t end = a.row_ptr[static_cast<std::size_t>(row) + 1];
  for (std::int64_t i = a.row_ptr[static_cast<std::size_t>(row)]; i < end; ++i) {
    const auto column = static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(i)]);
    const std::int64_t like = next[column]++;
    if (like == a.row_ptr[column + 1] || a.col_idx[static_cast<std::size_t>(like)] != row) return false;
    if (values != nullptr && values[i] != values[like]) return false;
  }
  return true;
}

template <class Word>
bool equals_transpose(const formats::CsrView& a) {
  const int parts = parts_for(a.nnz(), a.rows);
  const std::vector<std::int64_t> first = part_rows(a, parts);
  // allocated here, because an exception must not leave a parallel loop
  std::vector<std::vector<std::int64_t>> next;
  for (int part = 0; part < parts; ++part)
    next.push_back(entries_from(a, first[static_cast<std::size_t>(part)]));
  std::atomic<bool> equal = true;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const auto p = static_cast<std::size_t>(part);
    for (std::int64_t row = first[p]; row < first[p + 1] && equal.load(std::memory_order_relaxed); ++row)
      if (!mirrored<Word>(a, row, next[p])) equal = false;
  }
  return equal;
}

}  // namespace

bool is_symmetric(const formats::CsrView& a) {
  if (a.rows != a.cols) return false;
  const std::size_t width = size_of(a.values.dtype);  // 0 for a pattern, whose values are not compared
  if (width == 2) return equals_transpose<std::uint16_t>(a);
  if (width == 4) return equals_transpose<std::uint32_t>(a);
  return equals_transpose<std::uint64_t>(a);
}

}  // namespace sptile::runtime
