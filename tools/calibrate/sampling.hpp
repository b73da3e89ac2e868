// Measurement of a device's kernels on the matrices of the suite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/selector.hpp"
#include "tools/calibrate/threshold.hpp"
#include "tools/cli/verb.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

/// Returns the ratios from the schedule of a plan; zeros if it has none.
runtime::cuda::LibraRatios ratios_of_plan(const Measurement& measurement);

/// Kernels, sizes and types to measure.
struct SamplingPlan {
  ProductBench* bench = nullptr;
  std::vector<const runtime::Operation*> operations;
  std::vector<std::string> kernels;   ///< empty: all kernels that plans choose from
  std::vector<std::int64_t> columns;  ///< values of N
  std::vector<DType> more = {};       ///< operand types in addition to f32
  std::int64_t max_multiplications =
      std::numeric_limits<std::int64_t>::max();  ///< larger products are skipped
  bool thresholds = false;                       ///< also measure Libra's formats with several thresholds
  /// Returns the occupancy ratios of a measured kernel with Libra's balance.
  runtime::cuda::LibraRatios (*libra_ratios)(const Measurement&) = ratios_of_plan;

  [[nodiscard]] bool has(const runtime::Operation& op) const {
    return std::find(operations.begin(), operations.end(), &op) != operations.end();
  }
  /// Returns whether --only names the kernel.
  [[nodiscard]] bool names(std::string_view kernel) const {
    return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
  }
};

/// Samples of all kinds.
struct Measurements {
  std::vector<Sample> samples;
  std::vector<ThresholdSample> thresholds;
  std::vector<OccupancySample> occupancy;
  std::vector<SelectorSample> selectors;
};

/// Measures every format and kernel of the bench's device for one matrix with f32 values, in every precision
/// of the kernel, and appends the samples. Skips combinations that no kernel supports, and operands that are
/// too large. Errc::check_failed if a result is wrong, Errc::device if the device fails.
Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, Measurements& found);

}  // namespace sptile::tools
