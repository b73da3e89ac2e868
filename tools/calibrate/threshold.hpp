// Which thresholds the formats of Libra should have on a device, by measurement.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/choice/device_profile.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"

namespace sptile::tools {

/// One measured product of a matrix that was split with a threshold.
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

/// Finds the occupancy ratios from which on one stream is better, `occupancy_tiles` and `occupancy_rows` of
/// cuda.libra_spmm.streams: two streams are for products below both. Least sum of log times of what is
/// chosen, among all divisions of the samples; where none is better than `known`, that. Nothing without
/// samples. O(samples^3).
std::vector<runtime::ProfileNumber> fit_occupancy(std::span<const OccupancySample> samples,
                                                  const runtime::cuda::LibraOccupancy& known = {});

/// Finds the threshold with the least sum of log times for each kernel, precision and N, of equals the least;
/// matrices count that were measured with every threshold that any was. The numbers are those that
/// runtime::fitted_parameter finds.
std::vector<runtime::ProfileNumber> fit_thresholds(std::span<const ThresholdSample> samples);

}  // namespace sptile::tools
