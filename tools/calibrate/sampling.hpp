// Measures the kernels of a device on the matrices of the suite.
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

/// Reads them from the schedule of a plan; zeros of one that has none.
runtime::cuda::LibraRatios ratios_of_plan(const Measurement& measurement);

/// What to measure.
struct SamplingPlan {
  ProductBench* bench = nullptr;
  std::vector<const runtime::Operation*> operations;
  std::vector<std::string> kernels;   ///< empty: all that plans choose from
  std::vector<std::int64_t> columns;  ///< N
  std::vector<DType> more = {};       ///< types of operands beside f32
  std::int64_t most_multiplications =
      std::numeric_limits<std::int64_t>::max();  ///< larger products are left out
  bool thresholds = false;                       ///< also the formats of Libra with each of some thresholds
  /// Asks a measurement of a kernel with Libra's balance for its occupancy ratios.
  runtime::cuda::LibraRatios (*libra_ratios)(const Measurement&) = ratios_of_plan;

  [[nodiscard]] bool has(const runtime::Operation& op) const {
    return std::find(operations.begin(), operations.end(), &op) != operations.end();
  }
  /// True for the kernels of --only.
  [[nodiscard]] bool names(std::string_view kernel) const {
    return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
  }
};

/// What was measured.
struct Measurements {
  std::vector<Sample> samples;
  std::vector<ThresholdSample> thresholds;
  std::vector<OccupancySample> occupancy;
  std::vector<SelectorSample> selectors;
};

/// Measures every format and kernel of the bench's device for one matrix with f32 values, in every precision
/// that the kernel has, and appends what it found. Combinations that no kernel serves, and operands too large
/// to be worth it, are left out. Errc::check_failed when a result is wrong, Errc::device when the device
/// fails.
Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, Measurements& found);

}  // namespace sptile::tools
