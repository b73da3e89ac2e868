// Conversion of libra_spmm and libra_sddmm to CSR, which merges the two parts of each row.

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/convert/libra_parts.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {
namespace {

/// Calls f(row in the window, first nonzero, end) for each residual row of a window.
template <class F>
void for_each_residual_row(const LibraView& a, std::int64_t window, const F& f) {
  const auto ids = a.residual_row_id;
  auto i = at(std::lower_bound(ids.begin(), ids.end(), 8 * window) - ids.begin());
  for (; i < ids.size() && ids[i] < 8 * window + 8; ++i)
    f(ids[i] - 8 * window, a.residual_row_offset[i], a.residual_row_offset[i + 1]);
}

/// Adds the nonzeros of each row of a window to row_counts[row].
void count_window(const LibraView& a, std::int64_t window, std::int64_t* row_counts) {
  std::int64_t* const counts = row_counts + 8 * window;
  for (std::int64_t t = a.row_window_offset[at(window)]; t < a.row_window_offset[at(window + 1)]; ++t)
    for (int r = 0; r < 8; ++r)
      if (const int count = kBitsOfByte[a.bitmap[at(t)] >> (8 * r) & 0xFF]; count > 0) counts[r] += count;
  for_each_residual_row(
      a, window, [&](std::int64_t r, std::int64_t first, std::int64_t end) { counts[r] += end - first; });
}

/// Sorts the indices of a window's tile columns by column id.
void order_columns(std::span<const std::int32_t> columns, std::vector<std::int64_t>& slots) {
  slots.resize(columns.size());
  std::iota(slots.begin(), slots.end(), 0);
  if (std::is_sorted(columns.begin(), columns.end())) return;
  std::sort(slots.begin(), slots.end(),
            [&](std::int64_t x, std::int64_t y) { return columns[at(x)] < columns[at(y)]; });
}

/// Writes the rows of a window, merging the nonzeros of tiles and residual rows by column. `slots` is
/// workspace.
template <class Word>
void fill_window(const LibraView& a, std::int64_t window, std::vector<std::int64_t>& slots, Csr& to) {
  const auto* values = static_cast<const Word*>(a.values.data);  // null for a pattern matrix
  const auto* residual_values = static_cast<const Word*>(a.residual_values.data);
  auto* const out = static_cast<Word*>(to.values.data());
  std::int64_t next[8], residual[8] = {}, residual_end[8] = {};
  for (std::int64_t r = 0; r < 8; ++r) next[r] = to.row_ptr[std::min(8 * window + r, to.rows)];
  for_each_residual_row(a, window, [&](std::int64_t r, std::int64_t first, std::int64_t end) {
    residual[r] = first;
    residual_end[r] = end;
  });
  const auto store = [&](std::int64_t r, std::int32_t column, const Word* from, std::int64_t position) {
    const std::int64_t k = next[r]++;
    to.col_idx[k] = column;
    if (out != nullptr) out[k] = from[position];
  };
  const auto store_residual = [&](std::int64_t r, std::int64_t end_column) {
    for (; residual[r] < residual_end[r] && a.residual_col_id[at(residual[r])] < end_column; ++residual[r])
      store(r, a.residual_col_id[at(residual[r])], residual_values, residual[r]);
  };

  const std::int64_t first = a.row_window_offset[at(window)], end = a.row_window_offset[at(window + 1)];
  order_columns(a.col_id.subspan(at(8 * first), at(8 * (end - first))), slots);
  for (const std::int64_t slot : slots) {
    const std::size_t tile = at(first + slot / 8);
    const std::uint64_t mask = a.bitmap[tile];
    for (std::int64_t r = 0; r < 8; ++r) {
      const std::uint64_t bit = std::uint64_t{1} << (8 * r + slot % 8);
      if ((mask & bit) == 0) continue;
      const std::int32_t column = a.col_id[at(8 * first + slot)];
      store_residual(r, column);
      store(r, column, values, std::int64_t{a.tc_offset[tile]} + std::popcount(mask & (bit - 1)));
    }
  }
  for (std::int64_t r = 0; r < 8; ++r) store_residual(r, to.cols);
}

}  // namespace

Result<Csr> libra_to_csr(const FormatView& view) {
  const LibraView a = as_libra(view);
  const std::int64_t windows = std::ssize(a.row_window_offset) - 1;
  Csr to = empty_csr(view);
  parallel::loop(std::int64_t{0}, windows,
                 [&](std::int64_t w) { count_window(a, w, to.row_ptr.data() + 1); });
  number_entries(to);
  parallel::PerThread<std::vector<std::int64_t>> slots;
  visit_word(view.value_dtype(), [&](auto word) {
    parallel::loop(std::int64_t{0}, windows,
                   [&](std::int64_t w) { fill_window<decltype(word)>(a, w, slots.local(), to); });
  });
  return to;
}

}  // namespace sptile::formats
