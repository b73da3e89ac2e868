#include "reorder/degree.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

namespace sptile::reorder {

Result<std::vector<std::int32_t>> order_by_degree(const formats::CsrView& a, const ReorderOptions& options) {
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  // One key per row, (missing entries, row): both halves fit 32 bits because columns are unique and ids
  // 32-bit.
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<std::uint64_t> keys(rows);
  tbb::parallel_for(std::size_t{0}, rows, [&](std::size_t r) {
    const auto missing = static_cast<std::uint64_t>(a.cols - a.row_nnz(static_cast<std::int64_t>(r)));
    keys[r] = missing << 32 | r;
  });
  tbb::parallel_sort(keys);
  std::vector<std::int32_t> order(rows);
  tbb::parallel_for(std::size_t{0}, rows,
                    [&](std::size_t i) { order[i] = static_cast<std::int32_t>(keys[i] & 0xffffffffu); });
  return order;
}

}  // namespace sptile::reorder
