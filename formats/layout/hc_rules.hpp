// The rule that assigns windows of hc_window to tensor or CUDA cores (HyGNN, section 4.2), for all
// converters.
#pragma once

#include <algorithm>
#include <cstdint>

#include "formats/core/parameters.hpp"
#include "formats/layout/hc_window.hpp"

namespace sptile::formats {

/// A window of 16 rows with c distinct columns and sparsity s = 1 - nnz / (16 c) is assigned to CUDA cores if
/// constant + sparsity * s + columns * c / 16 > 0. The weights are integers so that hosts and devices decide
/// alike.
struct HcSelector {
  int constant, sparsity, columns;  ///< each from -512 to 511
  bool settles = false;  ///< assigns all windows to the same cores if mixing saves little; see settled()

  friend constexpr bool operator==(const HcSelector&, const HcSelector&) = default;
};

inline constexpr int kHcSelectorBits = 10, kHcMinWeight = -512, kHcMaxWeight = 511;

/// Larger column counts are clamped to this one: there, the weight of columns alone decides, and the products
/// stay below 2^63.
inline constexpr std::int64_t kHcManyColumns = std::int64_t{1} << 16;

/// Returns the sum above times 16 c: the time that a window saves on CUDA cores, in units of the time of a
/// nonzero divided by selector.sparsity.
constexpr std::int64_t gain_on_cuda_cores(const HcSelector& selector, std::int64_t columns,
                                          std::int64_t entries) {
  const std::int64_t of_columns = selector.columns * std::min(columns, kHcManyColumns);
  return (16 * selector.constant + of_columns) * columns + selector.sparsity * (16 * columns - entries);
}

/// Returns whether such a window is assigned to CUDA cores.
constexpr bool on_cuda_cores(const HcSelector& selector, std::int64_t columns, std::int64_t entries) {
  return gain_on_cuda_cores(selector, columns, entries) > 0;
}

/// Total gains of the windows assigned to CUDA cores and of those assigned to tensor cores, both >= 0.
struct HcGains {
  std::int64_t cuda = 0, tensor = 0;

  constexpr void add(std::int64_t on_cuda) { (on_cuda > 0 ? cuda : tensor) += std::max(on_cuda, -on_cuda); }
};

/// Mixing must save at least 1 / kHcMinPart of the time that all nonzeros take on CUDA cores.
inline constexpr std::int64_t kHcMinPart = 8;

/// Encodes a selector as the format's parameter: three weights of 10 bits, then the bit `settles`.
constexpr int hc_parameter(const HcSelector& selector) {
  return (selector.constant - kHcMinWeight) | (selector.sparsity - kHcMinWeight) << kHcSelectorBits |
         (selector.columns - kHcMinWeight) << 2 * kHcSelectorBits |
         int{selector.settles} << 3 * kHcSelectorBits;
}
constexpr HcSelector hc_selector(int parameter) {
  constexpr int kMask = (1 << kHcSelectorBits) - 1;
  return {(parameter & kMask) + kHcMinWeight, (parameter >> kHcSelectorBits & kMask) + kHcMinWeight,
          (parameter >> 2 * kHcSelectorBits & kMask) + kHcMinWeight, parameter >> 3 * kHcSelectorBits != 0};
}
inline constexpr int kHcMaxParameter = hc_parameter({kHcMaxWeight, kHcMaxWeight, kHcMaxWeight, true});

/// The selector in the code of the paper's authors: -9.72727157 + 6.578043 s + 0.19854024 c, to within a
/// hundredth of a column. (Their code also assigns every window of more than 32 columns to CUDA cores.)
inline constexpr HcSelector kHcPaper = {-346, 234, 113};
inline constexpr HcSelector kHcAllTensor = {-1, 0, 0}, kHcAllCuda = {1, 0, 0};
/// Default of conversions: CUDA cores if columns have fewer than 1.8 nonzeros on average.
inline constexpr HcSelector kHcFitted = {-454, 511, 0, true};

/// Returns the selector to use for a matrix with these gains and `entries` nonzeros: `selector`, or the
/// better uniform one if `selector.settles` and mixing saves little over it.
constexpr HcSelector settled(const HcSelector& selector, const HcGains& gains, std::int64_t entries) {
  const std::int64_t saved = std::min(gains.cuda, gains.tensor);
  if (!selector.settles || kHcMinPart * saved > std::max(selector.sparsity, -selector.sparsity) * entries)
    return selector;
  return gains.cuda > gains.tensor ? kHcAllCuda : kHcAllTensor;
}

/// Errc::usage if `parameter` is not a valid encoding.
Status check_hc_parameter(int parameter);

/// Describes a conversion: the selector and the number of windows for each kind of core.
Parameters hc_parameters(int parameter, std::int64_t tensor_windows, std::int64_t cuda_windows);

}  // namespace sptile::formats
