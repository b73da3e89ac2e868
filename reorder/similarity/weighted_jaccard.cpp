#include "reorder/similarity/weighted_jaccard.hpp"

#include <tbb/blocked_range.h>

#include <cmath>

#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {

JaccardWeights jaccard_weights(const formats::CsrView& a, double alpha) {
  const auto cols = static_cast<std::size_t>(a.cols), rows = static_cast<std::size_t>(a.rows);
  JaccardWeights weights{std::vector<std::int32_t>(cols), std::vector<float>(cols), std::vector<float>(rows)};
  for (const std::int32_t c : a.col_idx) ++weights.entries[static_cast<std::size_t>(c)];
  parallel::loop(tbb::blocked_range<std::size_t>(0, cols, 4096), [&](const auto& range) {
    for (std::size_t c = range.begin(); c < range.end(); ++c)
      if (const std::int32_t d = weights.entries[c]; d > 0)
        weights.column[c] = static_cast<float>(std::pow(static_cast<double>(d), -alpha));
  });
  parallel::loop(tbb::blocked_range<std::size_t>(0, rows, 1024), [&](const auto& range) {
    for (std::size_t r = range.begin(); r < range.end(); ++r) {
      float sum = 0;
      for (const std::int32_t c : columns_of(a, static_cast<std::int64_t>(r)))
        sum += weights.column[static_cast<std::size_t>(c)];
      weights.row[r] = sum;
    }
  });
  return weights;
}

float similarity(const formats::CsrView& a, const JaccardWeights& weights, std::int64_t r, std::int64_t u) {
  const auto x = columns_of(a, r), y = columns_of(a, u);
  float common = 0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const std::int32_t at_x = x[i], at_y = y[j];
    if (at_x == at_y) common += weights.column[static_cast<std::size_t>(at_x)];
    i += at_x <= at_y;
    j += at_y <= at_x;
  }
  return weights.similarity(r, u, common);
}

}  // namespace sptile::reorder
