// Statistics of repeated timings.
#pragma once

#include <vector>

namespace sptile::tools {

struct TimeSummary {
  double median = 0, min = 0;  ///< in the unit of the timings
  double spread = 0;           ///< (90th - 10th percentile) / median
  int count = 0;               ///< number of timings
};

/// Summarizes at least one timing. Percentiles are interpolated, so an even count has a median.
TimeSummary summarise(std::vector<double> times);

}  // namespace sptile::tools
