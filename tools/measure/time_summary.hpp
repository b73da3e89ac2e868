// What repeated timings come to.
#pragma once

#include <vector>

namespace sptile::tools {

struct TimeSummary {
  double median = 0, min = 0;  ///< in the unit of the timings
  double spread = 0;           ///< (90th - 10th percentile) / median
  int count = 0;               ///< of the timings
};

/// Summarises one timing or more. Percentiles lie between neighbours, so an even count has a middle.
TimeSummary summarise(std::vector<double> times);

}  // namespace sptile::tools
