// Which windows of hc_window go to which cores (HyGNN, section 4.2), and what the format says of itself,
// wherever it is made.
#pragma once

#include <algorithm>
#include <cstdint>

#include "formats/core/parameters.hpp"
#include "formats/layout/hc_window.hpp"

namespace sptile::formats {

/// A window of 16 rows with c distinct columns and sparsity s = 1 - entries / (16 c) goes to CUDA cores when
/// constant + sparsity * s + columns * c / 16 > 0. Whole numbers, so that hosts and devices decide the same.
struct HcSelector {
  int constant, sparsity, columns;  ///< -512 to 511 each
  bool settles = false;  ///< all windows go to the same cores where mixing saves little, see settled()

  friend constexpr bool operator==(const HcSelector&, const HcSelector&) = default;
};

inline constexpr int kHcSelectorBits = 10, kHcLeastWeight = -512, kHcMostWeight = 511;

/// Columns past which the weight of columns alone decides, whatever the others are: more count as so many,
/// and products stay below 2^63.
inline constexpr std::int64_t kHcManyColumns = std::int64_t{1} << 16;

/// The sum above, times 16 c: what a window with so many distinct columns and entries gains on CUDA cores, in
/// 1 / selector.sparsity of the time of an entry.
constexpr std::int64_t gain_on_cuda_cores(const HcSelector& selector, std::int64_t columns,
                                          std::int64_t entries) {
  const std::int64_t of_columns = selector.columns * std::min(columns, kHcManyColumns);
  return (16 * selector.constant + of_columns) * columns + selector.sparsity * (16 * columns - entries);
}

/// Says whether such a window goes to CUDA cores.
constexpr bool on_cuda_cores(const HcSelector& selector, std::int64_t columns, std::int64_t entries) {
  return gain_on_cuda_cores(selector, columns, entries) > 0;
}

/// What the windows of a matrix gain that go to CUDA cores, and those that go to tensor cores: >= 0.
struct HcGains {
  std::int64_t cuda = 0, tensor = 0;

  constexpr void add(std::int64_t on_cuda) { (on_cuda > 0 ? cuda : tensor) += std::max(on_cuda, -on_cuda); }
};

/// Mixing must save one part in so many of what all entries take on CUDA cores.
inline constexpr std::int64_t kHcLeastPart = 8;

/// The parameter of the format: its three weights, 10 bits each, and a bit for one that settles.
constexpr int hc_parameter(const HcSelector& selector) {
  return (selector.constant - kHcLeastWeight) | (selector.sparsity - kHcLeastWeight) << kHcSelectorBits |
         (selector.columns - kHcLeastWeight) << 2 * kHcSelectorBits |
         int{selector.settles} << 3 * kHcSelectorBits;
}
constexpr HcSelector hc_selector(int parameter) {
  constexpr int kMask = (1 << kHcSelectorBits) - 1;
  return {(parameter & kMask) + kHcLeastWeight, (parameter >> kHcSelectorBits & kMask) + kHcLeastWeight,
          (parameter >> 2 * kHcSelectorBits & kMask) + kHcLeastWeight, parameter >> 3 * kHcSelectorBits != 0};
}
inline constexpr int kHcMostParameter = hc_parameter({kHcMostWeight, kHcMostWeight, kHcMostWeight, true});

/// The paper's, as its authors' program has it: -9.72727157 + 6.578043 s + 0.19854024 c, to within a
/// hundredth of a column. (The program also sends every window of more than 32 columns to CUDA cores.)
inline constexpr HcSelector kHcPaper = {-346, 234, 113};
inline constexpr HcSelector kHcAllTensor = {-1, 0, 0}, kHcAllCuda = {1, 0, 0};
/// What a conversion takes by itself: CUDA cores where columns have fewer than 1.8 entries on average.
inline constexpr HcSelector kHcFitted = {-454, 511, 0, true};

/// The selector for a matrix with these gains and entries: itself, or where it settles and mixing saves
/// little over the better kind alone, that kind.
constexpr HcSelector settled(const HcSelector& selector, const HcGains& gains, std::int64_t entries) {
  const std::int64_t saved = std::min(gains.cuda, gains.tensor);
  if (!selector.settles || kHcLeastPart * saved > std::max(selector.sparsity, -selector.sparsity) * entries)
    return selector;
  return gains.cuda > gains.tensor ? kHcAllCuda : kHcAllTensor;
}

/// Errc::usage for a parameter that the format does not have.
Status check_hc_parameter(int parameter);

/// Says how a matrix was made: with this selector, and with so many windows for each kind of core.
Parameters hc_parameters(int parameter, std::int64_t tensor_windows, std::int64_t cuda_windows);

}  // namespace sptile::formats
