// Which selector hc_window should have on a device, by measurement (HyGNN, appendix A).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/layout/hc_rules.hpp"
#include "runtime/choice/device_profile.hpp"
#include "tools/calibrate/logistic.hpp"

namespace sptile::tools {

/// A window of 16 rows.
struct WindowShape {
  std::int64_t columns = 0, entries = 0;  ///< distinct columns, at least 1
  bool held_out = false;                  ///< says how good a fit is, and is not fitted
};

/// Products of a matrix of such windows alone: with all of them on tensor cores, and with none.
struct SelectorSample {
  std::string kernel, precision;
  std::int64_t n = 0;
  WindowShape shape;
  double tensor_us = 0, cuda_us = 0;  ///< > 0
};

/// How many of some windows a selector sends where they are faster.
struct SelectorScore {
  std::int64_t right = 0, windows = 0;
};

/// The selector for one kernel, precision and N.
struct SelectorFit {
  std::string kernel, precision;
  std::int64_t n = 0;
  formats::HcSelector selector = {};
  SelectorScore held_out;
  SelectorScore clear;  ///< those held out whose two times differ by more than kClearDifference
};
inline constexpr double kClearDifference = 0.03;

/// Fits a logistic regression of sparsity and columns to what was faster. O(samples).
std::vector<SelectorFit> fit_selectors(std::span<const SelectorSample> samples);

/// The weights as whole numbers, multiplied so that the largest takes all its bits: a selector that settles.
formats::HcSelector whole_weights(const LogisticFit& fit);

/// As runtime::fitted_parameter finds them: "selector_128".
std::vector<runtime::ProfileNumber> selector_numbers(std::span<const SelectorFit> fits);

}  // namespace sptile::tools
