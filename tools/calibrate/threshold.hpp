// Which thresholds the formats of Libra should have on a device, by measurement.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// One measured product of a matrix that was split with a threshold.
struct ThresholdSample {
  std::string matrix, kernel, precision;
  std::int64_t n = 0;
  int threshold = 0;
  double us = 0;  ///< > 0
};

/// Finds the threshold with the least sum of log times for each kernel, precision and N, of equals the least;
/// matrices count that were measured with every threshold that any was. The numbers are those that
/// runtime::fitted_threshold finds.
std::vector<runtime::ProfileNumber> fit_thresholds(std::span<const ThresholdSample> samples);

}  // namespace sptile::tools
