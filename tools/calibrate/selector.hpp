// Fit of hc_window's selector for a device to measurements (HyGNN, appendix A).
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
  std::int64_t columns = 0, entries = 0;  ///< columns: distinct ones, at least 1
  bool held_out = false;                  ///< excluded from the fit, used to evaluate it
};

/// Times of a matrix of such windows, with all of them on tensor cores and with all on CUDA cores.
struct SelectorSample {
  std::string kernel, precision;
  std::int64_t n = 0;
  WindowShape shape;
  double tensor_us = 0, cuda_us = 0;  ///< > 0
};

/// Accuracy of a selector over some windows.
struct SelectorScore {
  std::int64_t right = 0, windows = 0;
};

/// The selector for one kernel, precision and N.
struct SelectorFit {
  std::string kernel, precision;
  std::int64_t n = 0;
  formats::HcSelector selector = {};
  SelectorScore held_out;
  SelectorScore clear;  ///< over held-out windows whose times differ by more than kClearDifference
};
inline constexpr double kClearDifference = 0.03;

/// Fits a logistic regression of sparsity and columns to the faster cores. O(samples).
std::vector<SelectorFit> fit_selectors(std::span<const SelectorSample> samples);

/// Returns the weights as integers, scaled so that the largest uses all its bits. The selector assigns each
/// window individually.
formats::HcSelector whole_weights(const LogisticFit& fit);

/// Returns the numbers under the names of runtime::fitted_parameter, such as "selector_128".
std::vector<runtime::ProfileNumber> selector_numbers(std::span<const SelectorFit> fits);

}  // namespace sptile::tools
