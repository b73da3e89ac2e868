// From measured times to the constants of a profile, and how good they are.
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

/// Fits the constants of each kernel and precision: non-negative, least sum of relative errors (see
/// fit_nonnegative). A pair with fewer samples than kLeastSamples takes the constants of the same kernel's
/// best measured precision, times the median ratio between the two.
std::vector<runtime::ProfileNumber> fit_costs(std::span<const Sample> samples);

/// What a kernel that divides its work by costs wants to know (`window_cost`; its tiles cost 1), out of its
/// fitted constants: writing the rows of a window over bringing and multiplying a tile, for a slice of
/// kSliceBytes. Costs that were fitted as nothing are left out.
std::vector<runtime::ProfileNumber> partition_costs(std::span<const runtime::ProfileNumber> fitted);

inline constexpr std::size_t kLeastSamples = 2 * runtime::kFeatures.size();

/// How predictions and measurements of one kernel and precision agree; ratios are predicted / measured.
struct FitQuality {
  std::string kernel, precision;
  std::int64_t samples = 0;
  double median_error = 0;         ///< of |ratio - 1|
  double lowest = 0, highest = 0;  ///< ratios
};
std::vector<FitQuality> fit_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples);

/// How good the choices are. A case is a matrix, operation, N and type of B that several candidates were
/// measured for; its regret is the time of the candidate predicted fastest over that of the fastest one.
struct ChoiceQuality {
  std::int64_t cases = 0;
  double within_5 = 0, within_10 = 0;  ///< shares of the cases with a regret of at most 1.05 and 1.1
  double mean_regret = 1;              ///< geometric
  double worst_regret = 1;
  std::string worst_case;  ///< "rmat, N = 128, f32: csr instead of bmat"; empty without regret
};
ChoiceQuality choice_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples);

}  // namespace sptile::tools
