#include "reorder/weighted_jaccard.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cmath>

namespace sptile::reorder {

JaccardWeights jaccard_weights(const formats::CsrView& a, double alpha) {
  const auto cols = static_cast<std::size_t>(a.cols), rows = static_cast<std::size_t>(a.rows);
  JaccardWeights weights{std::vector<std::int32_t>(cols), std::vector<float>(cols), std::vector<float>(rows)};
  for (const std::int32_t c : a.col_idx) ++weights.entries[static_cast<std::size_t>(c)];
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, cols, 4096), [&](const auto& range) {
    for (std::size_t c = range.begin(); c < range.end(); ++c)
      if (const std::int32_t d = weights.entries[c]; d > 0)
        weights.column[c] = static_cast<float>(std::pow(static_cast<double>(d), -alpha));
  });
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rows, 1024), [&](const auto& range) {
    for (std::size_t r = range.begin(); r < range.end(); ++r) {
      float sum = 0;
      for (const std::int32_t c : columns_of(a, static_cast<std::int64_t>(r)))
        sum += weights.column[static_cast<std::size_t>(c)];
      weights.row[r] = sum;
    }
  });
  return weights;
}

}  // namespace sptile::reorder
