// libra_spmm back to CSR: the two parts of each row are merged.
#include <algorithm>
#include <bit>

#include "formats/convert/expand.hpp"
#include "formats/convert/from_to_csr.hpp"
#include "formats/layout/libra_spmm.hpp"

namespace sptile::formats {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Calls f(row of the window, first entry, end) for each residual row of a window.
template <class F>
void for_each_residual_row(const LibraSpmmView& a, std::int64_t window, const F& f) {
  const auto ids = a.residual_row_id;
  auto i = at(std::lower_bound(ids.begin(), ids.end(), 8 * window) - ids.begin());
  for (; i < ids.size() && ids[i] < 8 * window + 8; ++i)
    f(ids[i] - 8 * window, a.residual_row_offset[i], a.residual_row_offset[i + 1]);
}

/// Adds the entries of each row of a window to row_counts[row].
void count_window(const LibraSpmmView& a, std::int64_t window, std::int64_t* row_counts) {
  std::int64_t* const counts = row_counts + 8 * window;
  for (std::int64_t t = a.row_window_offset[at(window)]; t < a.row_window_offset[at(window + 1)]; ++t)
    for (int r = 0; r < 8; ++r)
      if (const int count = kBitsOfByte[a.bitmap[at(t)] >> (8 * r) & 0xFF]; count > 0) counts[r] += count;
  for_each_residual_row(
      a, window, [&](std::int64_t r, std::int64_t first, std::int64_t end) { counts[r] += end - first; });
}

/// Writes the rows of a window: in front of an entry of a tile go the residual entries with smaller columns.
template <class Word>
void fill_window(const LibraSpmmView& a, std::int64_t window, Csr& to) {
  const auto* values = static_cast<const Word*>(a.values.data);  // null for a pattern matrix
  const auto* residual_values = static_cast<const Word*>(a.residual_values.data);
  auto* const out = static_cast<Word*>(to.values.data());
  std::int64_t next[8], residual[8] = {}, residual_end[8] = {};
  for (std::int64_t r = 0; r < 8; ++r) next[r] = to.row_ptr[std::min(8 * window + r, to.rows)];
  for_each_residual_row(a, window, [&](std::int64_t r, std::int64_t first, std::int64_t end) {
    residual[r] = first;
    residual_end[r] = end;
  });
  const auto put = [&](std::int64_t r, std::int32_t column, const Word* from, std::int64_t position) {
    const std::int64_t k = next[r]++;
    to.col_idx[k] = column;
    if (out != nullptr) out[k] = from[position];
  };
  const auto put_residual = [&](std::int64_t r, std::int64_t end_column) {
    for (; residual[r] < residual_end[r] && a.residual_col_id[at(residual[r])] < end_column; ++residual[r])
      put(r, a.residual_col_id[at(residual[r])], residual_values, residual[r]);
  };

  for (std::int64_t t = a.row_window_offset[at(window)]; t < a.row_window_offset[at(window + 1)]; ++t) {
    std::int64_t position = a.tc_offset[at(t)];
    for (std::uint64_t mask = a.bitmap[at(t)]; mask != 0; mask &= mask - 1, ++position) {
      const int bit = std::countr_zero(mask);
      const std::int32_t column = a.col_id[at(8 * t + bit % 8)];
      put_residual(bit / 8, column);
      put(bit / 8, column, values, position);
    }
  }
  for (std::int64_t r = 0; r < 8; ++r) put_residual(r, to.cols);
}

}  // namespace

Result<Csr> libra_spmm_to_csr(const FormatView& view) {
  const LibraSpmmView a = as_libra_spmm(view);
  const std::int64_t windows = std::ssize(a.row_window_offset) - 1;
  Csr to = empty_csr(view);
  tbb::parallel_for(std::int64_t{0}, windows,
                    [&](std::int64_t w) { count_window(a, w, to.row_ptr.data() + 1); });
  number_entries(to);
  visit_word(view.value_dtype(), [&](auto word) {
    tbb::parallel_for(std::int64_t{0}, windows,
                      [&](std::int64_t w) { fill_window<decltype(word)>(a, w, to); });
  });
  return to;
}

}  // namespace sptile::formats
