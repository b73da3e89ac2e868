#include "reorder/packing/frequent_first.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>

#include "formats/core/counting_sort.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {

formats::Buffer<std::int32_t> frequent_first(const formats::CsrView& a, std::span<const std::int32_t> count) {
  std::int32_t max = 0;
  for (const std::int32_t entries : count) max = std::max(max, entries);
  formats::Buffer<std::int32_t> place(a.cols);
  formats::counting_sort(
      std::int64_t{max} + 1, 1,
      [&](int, auto&& sink) {
        for (std::int64_t c = 0; c < a.cols; ++c) sink(max - count[static_cast<std::size_t>(c)], c);
      },
      [&](std::int64_t position, std::int64_t c) { place[c] = static_cast<std::int32_t>(position); });
  formats::Buffer<std::int32_t> columns(a.nnz());
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.nnz(), 1 << 16), [&](const auto& range) {
    for (std::int64_t k = range.begin(); k < range.end(); ++k)
      columns[k] = place[a.col_idx[static_cast<std::size_t>(k)]];
  });
  return columns;
}

}  // namespace sptile::reorder
