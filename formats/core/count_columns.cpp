#include "formats/core/count_columns.hpp"

#include <tbb/blocked_range.h>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::formats {

std::vector<std::int32_t> count_columns(const CsrView& a) {
  using Counts = std::vector<std::int32_t>;
  const auto cols = static_cast<std::size_t>(a.cols);
  parallel::PerThread<Counts> counts(cols, 0);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.nnz(), 1 << 16), [&](const auto& range) {
    Counts& local = counts.local();
    for (std::int64_t i = range.begin(); i < range.end(); ++i)
      ++local[static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(i)])];
  });
  Counts sum(cols, 0);
  parallel::loop(tbb::blocked_range<std::size_t>(0, cols, 1 << 12), [&](const auto& range) {
    for (const Counts& local : counts)
      for (std::size_t c = range.begin(); c < range.end(); ++c) sum[c] += local[c];
  });
  return sum;
}

}  // namespace sptile::formats
