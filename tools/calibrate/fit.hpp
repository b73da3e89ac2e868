// Fit of a profile's constants to measured times, and its quality.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// One measured product.
struct Sample {
  std::string matrix, op, dense, format, kernel, precision;
  std::int64_t n = 0;
  runtime::CostFeatures features = {};
  double us = 0;  ///< measured, > 0
};

/// Fits the constants of each kernel and precision: nonnegative, with the minimum sum of errors of the
/// logarithm of the time (see fit_nonnegative). A pair with fewer than kMinSamples samples uses the constants
/// of the same kernel's best measured precision, times the median ratio of both.
std::vector<runtime::ProfileNumber> fit_costs(std::span<const Sample> samples);

/// Returns the costs by which kernels divide their work (`window_cost`, in units of the cost of a tile), from
/// fitted constants: the time to write the rows of a window over the time to load and multiply a tile, for a
/// slice of kSliceBytes. Constants fitted as 0 are omitted.
std::vector<runtime::ProfileNumber> partition_costs(std::span<const runtime::ProfileNumber> fitted);

inline constexpr std::size_t kMinSamples = 2 * runtime::kFeatures.size();

/// Accuracy of the predictions of one kernel and precision; ratios are predicted / measured.
struct FitQuality {
  std::string kernel, precision;
  std::int64_t samples = 0;
  double median_error = 0;         ///< median of |ratio - 1|
  double lowest = 0, highest = 0;  ///< ratios
};
std::vector<FitQuality> fit_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples);

/// Quality of the choices. A case is a matrix, operation, N and type of B with several measured candidates.
/// Its regret is the time of the candidate with the minimum predicted time over the minimum measured time.
struct ChoiceQuality {
  std::int64_t cases = 0;
  double within_5 = 0, within_10 = 0;  ///< fractions of the cases with a regret of at most 1.05 and 1.1
  double mean_regret = 1;              ///< geometric mean
  double worst_regret = 1;
  std::string worst_case;  ///< for example "rmat, N = 128, f32: csr instead of bmat"; empty without regret
};
ChoiceQuality choice_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples);

}  // namespace sptile::tools
