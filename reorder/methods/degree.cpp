#include "reorder/methods/degree.hpp"

#include <algorithm>

#include "formats/core/counting_sort.hpp"

namespace sptile::reorder {

Result<std::vector<std::int32_t>> order_by_degree(const formats::CsrView& a, const ReorderOptions& options) {
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  std::int64_t max = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) max = std::max(max, a.row_nnz(row));
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  const int parts = formats::sort_parts(a.rows, max + 1);
  formats::counting_sort(
      max + 1, parts,
      [&](int part, auto&& sink) {
        for (std::int64_t row = a.rows * part / parts; row < a.rows * (part + 1) / parts; ++row)
          sink(max - a.row_nnz(row), static_cast<std::int32_t>(row));
      },
      [&](std::int64_t position, std::int32_t row) { order[static_cast<std::size_t>(position)] = row; });
  return order;
}

}  // namespace sptile::reorder
