#include "formats/core/compact_columns.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_sort.hpp"

namespace sptile::formats {
namespace {

/// Returns the ids of the nonempty columns, ascending.
Buffer<std::int32_t> used_columns(const CsrView& a) {
  Buffer<std::int32_t> used(a.nnz());
  std::ranges::copy(a.col_idx, used.begin());
  parallel::sort(used.begin(), used.end());
  used.truncate(std::unique(used.begin(), used.end()) - used.begin());
  return used;
}

/// Returns the index into `used` of each nonzero's column.
Buffer<std::int32_t> places(const CsrView& a, const Buffer<std::int32_t>& used) {
  Buffer<std::int32_t> place(a.nnz());
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.nnz(), 1024), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i)
      place[i] = static_cast<std::int32_t>(
          std::ranges::lower_bound(used, a.col_idx[static_cast<std::size_t>(i)]) - used.begin());
  });
  return place;
}

}  // namespace

CompactColumns::CompactColumns(const CsrView& a) : view_{a.rows, a.cols, a.row_ptr, a.col_idx, {}} {
  if (!renumbers_columns(a.rows, a.cols, a.nnz())) return;
  const Buffer<std::int32_t> used = used_columns(a);
  col_idx_ = places(a, used);
  view_.col_idx = col_idx_.span();
  view_.cols = renumbered_cols(a.rows, used.size());
}

}  // namespace sptile::formats
