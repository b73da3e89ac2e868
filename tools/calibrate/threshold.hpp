// Fit of the thresholds of Libra's formats for a device to measurements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/choice/device_profile.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"

namespace sptile::tools {

/// A measured product of a matrix that was split with a threshold.
struct ThresholdSample {
  std::string matrix, kernel, precision;
  std::int64_t n = 0;
  int threshold = 0;
  double us = 0;  ///< > 0
};

/// A product with Libra's balance, on one stream and on two.
struct OccupancySample {
  double tiles_ratio = 0, rows_ratio = 0;       ///< blocks over those that fit on the device, > 0
  double sequential_us = 0, concurrent_us = 0;  ///< > 0
};

/// Returns the occupancy ratios above which one stream is faster, `occupancy_tiles` and `occupancy_rows` of
/// cuda.libra_spmm.streams_fitted: two streams are for products below both. Minimizes the sum of log times
/// over all divisions of the samples; prefers `known` in a tie. Empty without samples. O(samples^3).
std::vector<runtime::ProfileNumber> fit_occupancy(std::span<const OccupancySample> samples,
                                                  const runtime::cuda::LibraOccupancy& known = {});

/// Returns the threshold with the minimum sum of log times for each kernel, precision and N, the smallest of
/// equals. Only matrices that were measured with every threshold count. The names are those of
/// runtime::fitted_parameter.
std::vector<runtime::ProfileNumber> fit_thresholds(std::span<const ThresholdSample> samples);

}  // namespace sptile::tools
