// Regression of the cost model of Voltrix-SpMM (USENIX ATC 2025, section 4.7).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calibrate/fit.hpp"

namespace sptile::tools {

/// Least squares fit of equation 4, T = a1 Num_SPA + a2 R_w + a3, for a kernel and precision. Tiles (Num_SPA)
/// and windows (R_w) count once per slice of 512 bytes of the rows of B, as in equation 1, whose terms are
/// proportional to the width. Coefficients may be negative.
struct LinearCost {
  std::string kernel, precision;
  double us_per_million_tiles = 0, us_per_million_windows = 0, us_per_launch = 0;  ///< a1, a2, a3
  std::int64_t training = 0, held_out = 0;                                         ///< samples
  double training_r2 = 0, held_out_r2 = 0;  ///< coefficients of determination
};

/// Fits each precision of the named kernels to 80 % of the samples and evaluates it with the others. The
/// split is random and depends on the number of samples only. Groups of fewer than kMinLinearSamples samples,
/// and those in which tiles and windows are proportional, are omitted. O(samples).
std::vector<LinearCost> fit_linear_costs(std::span<const Sample> samples,
                                         std::span<const std::string_view> kernels);

inline constexpr std::size_t kMinLinearSamples = 15;

/// Returns the costs by which kernels divide their work, in units of a tile: those of the regressions with
/// positive costs of tiles and windows and an R2 of at least kMinHeldOutR2 for the held-out samples, and for
/// other precisions those of partition_costs.
std::vector<runtime::ProfileNumber> division_costs(std::span<const runtime::ProfileNumber> fitted,
                                                   std::span<const LinearCost> regressions);

inline constexpr double kMinHeldOutR2 = 0.9;  ///< section 4.7: a strong linear relationship

}  // namespace sptile::tools
