#include "tools/stats/hypersparse.hpp"

#include <algorithm>

#include "formats/convert/tall_height.hpp"
#include "formats/core/buffer.hpp"
#include "formats/layout/tall.hpp"
#include "runtime/core/symmetry.hpp"

namespace sptile::tools {
namespace {

using formats::Buffer;
using formats::CsrView;
using formats::NonemptyRows;

/// Rows per block, a multiple of the window heights of all formats and quality measures.
constexpr std::int64_t kBlockRows = formats::kTallMaxRows;

/// The matrix without most of its blocks of empty rows. A block is kept if it or the previous block has
/// entries, because windows of rs_tile start at any row and neighbouring rows are compared. The first and
/// last block are kept, too.
struct Condensed {
  std::int64_t cols = 0;
  Buffer<std::int64_t> row_ptr;
  std::int64_t blocks_left_out = 0;

  [[nodiscard]] CsrView view(const CsrView& a) const {
    return {row_ptr.size() - 1, cols, row_ptr.span(), a.col_idx, a.values};
  }
};

std::vector<std::int64_t> blocks_to_keep(const NonemptyRows& nonempty) {
  const std::int64_t last = (nonempty.rows - 1) / kBlockRows;
  std::vector<std::int64_t> blocks{0};
  for (const std::int32_t row : nonempty.ids)
    for (const std::int64_t block : {row / kBlockRows, row / kBlockRows + 1})
      if (block > blocks.back() && block <= last) blocks.push_back(block);
  if (blocks.back() != last) blocks.push_back(last);
  return blocks;
}

Condensed drop_blocks(const CsrView& a, const NonemptyRows& nonempty) {
  const std::vector<std::int64_t> blocks = blocks_to_keep(nonempty);
  const std::int64_t last_rows = nonempty.rows - kBlockRows * blocks.back();
  Condensed kept;
  kept.cols = a.cols;
  kept.row_ptr = Buffer<std::int64_t>(kBlockRows * (std::ssize(blocks) - 1) + last_rows + 1);
  kept.blocks_left_out = blocks.back() + 1 - std::ssize(blocks);
  std::int64_t to = 0, next = 0;  // next: row of `a`
  for (const std::int64_t block : blocks) {
    const std::int64_t end = std::min(kBlockRows * (block + 1), nonempty.rows);
    for (std::int64_t row = kBlockRows * block; row < end; ++row) {
      kept.row_ptr[to++] = a.row_ptr[static_cast<std::size_t>(next)];
      next += next < nonempty.ids.size() && nonempty.ids[next] == row;
    }
  }
  kept.row_ptr[to] = a.nnz();
  return kept;
}

/// Returns the height that `tall` uses for the entire matrix: empty windows also have a cost.
int tall_height_of(const CsrView& kept, std::int64_t blocks_left_out) {
  formats::TallCounts counts = formats::count_tall_windows(kept);
  for (int level = 0; level < formats::kTallLevels; ++level)
    counts[static_cast<std::size_t>(level)].windows +=
        blocks_left_out * (kBlockRows / formats::tall_height(level));
  return formats::tall_height(formats::cheapest_level(counts));
}

/// Returns the number of distinct columns, summed over groups of kWorkingSetRows rows.
std::int64_t columns_of_stretches(const CsrView& a, const NonemptyRows& nonempty) {
  std::int64_t sum = 0;
  std::vector<std::int32_t> columns;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(i)]),
                                       static_cast<std::size_t>(a.row_nnz(i)));
    columns.insert(columns.end(), row.begin(), row.end());
    if (i + 1 < a.rows &&
        nonempty.ids[i + 1] / reorder::kWorkingSetRows == nonempty.ids[i] / reorder::kWorkingSetRows)
      continue;
    std::sort(columns.begin(), columns.end());
    sum += std::unique(columns.begin(), columns.end()) - columns.begin();
    columns.clear();
  }
  return sum;
}

std::int64_t bandwidth(const CsrView& a, const NonemptyRows& nonempty) {
  std::int64_t widest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(i)];
         k < a.row_ptr[static_cast<std::size_t>(i) + 1]; ++k)
      widest =
          std::max(widest, std::abs(std::int64_t{nonempty.ids[i]} - a.col_idx[static_cast<std::size_t>(k)]));
  return widest;
}

}  // namespace

bool is_symmetric(const CsrView& a, const NonemptyRows& nonempty) {
  if (nonempty.rows != a.cols) return false;
  // Columns are renumbered by the nonempty rows, so that a symmetric matrix stays symmetric.
  Buffer<std::int32_t> columns(a.nnz());
  for (std::int64_t i = 0; i < a.nnz(); ++i) {
    const std::int32_t column = a.col_idx[static_cast<std::size_t>(i)];
    const auto* const place = std::ranges::lower_bound(nonempty.ids, column);
    if (place == nonempty.ids.end() || *place != column) return false;
    columns[i] = static_cast<std::int32_t>(place - nonempty.ids.begin());
  }
  return runtime::is_symmetric({a.rows, a.rows, a.row_ptr, columns.span(), a.values});
}

OrderQuality measure_order(const CsrView& a, const NonemptyRows& nonempty) {
  OrderQuality quality = measure_order(drop_blocks(a, nonempty).view(a));
  const std::int64_t stretches = (nonempty.rows + reorder::kWorkingSetRows - 1) / reorder::kWorkingSetRows;
  quality.locality.working_set_columns =
      static_cast<double>(columns_of_stretches(a, nonempty)) / static_cast<double>(stretches);
  quality.locality.bandwidth.reset();
  if (nonempty.rows == a.cols) quality.locality.bandwidth = bandwidth(a, nonempty);
  return quality;
}

Result<std::vector<FormatRow>> measure_formats(Work& work, const CsrView& a, const NonemptyRows& nonempty) {
  const Condensed kept = drop_blocks(a, nonempty);
  const int height = tall_height_of(kept.view(a), kept.blocks_left_out);
  const FormatMaker make = [&](const formats::Converter& converter, const CsrView& matrix) {
    return converter.format == formats::kTallLayout.name
               ? converter.from_csr_at(matrix, height, &work.progress)
               : converter.from_csr(matrix, &work.progress);
  };
  auto rows = measure_formats(work, kept.view(a), {}, make);
  if (!rows) return rows;
  // Sizes are linear in the number of empty blocks, so the difference between two blocks and one is the size
  // per block.
  std::vector<FormatRow> empty[2];
  for (const std::int64_t blocks : {1, 2}) {
    Buffer<std::int64_t> row_ptr(blocks * kBlockRows + 1);
    std::fill(row_ptr.begin(), row_ptr.end(), 0);
    const CsrView of_empty{
        blocks * kBlockRows, a.cols, row_ptr.span(), {}, {a.values.dtype, a.values.data, 0}};
    auto measured = measure_formats(work, of_empty, {}, make);
    if (!measured) return measured;
    empty[blocks - 1] = std::move(*measured);
  }
  for (std::size_t i = 0; i < rows->size(); ++i) {
    FormatRow& row = (*rows)[i];
    row.index_bytes += kept.blocks_left_out * (empty[1][i].index_bytes - empty[0][i].index_bytes);
    if (row.shares)
      row.shares->windows +=
          kept.blocks_left_out * (empty[1][i].shares->windows - empty[0][i].shares->windows);
  }
  return rows;
}

}  // namespace sptile::tools
