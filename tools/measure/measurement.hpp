// Result of measuring one product, the source of all numbers that `run`, `bench` and `calibrate` report.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/plan/plan.hpp"
#include "tools/cli/result.hpp"
#include "tools/measure/roofline.hpp"
#include "tools/measure/time_summary.hpp"

namespace sptile::tools {

/// Memory traffic of a product; known if operands stay on a device.
struct MemoryUse {
  std::int64_t compulsory = 0, gathered = 0;  ///< bytes, see roofline.hpp
  Roofline roofline = {};
  std::optional<double> frobenius = {};  ///< ||result - reference|| / ||reference|| of a checked result
  std::optional<double> pinned_us = {};  ///< time to copy the format's bytes from pinned memory
};

/// A measured and optionally checked product.
struct Measurement {
  const runtime::Operation* op = nullptr;
  std::string device, format, kernel, value_dtype, dtype, result, precision;
  std::int64_t n = 0;
  double plan_us = 0, median_us = 0, min_us = 0, spread = 0;  ///< spread: (90th - 10th percentile) / median
  double gflops = 0;                                          ///< 2 nnz n / median
  std::optional<double> predicted_us;  ///< by the cost model; nullopt if it has no constants of the kernel
  int repeat = 0;                      ///< number of runs or launches
  bool checked = false;
  double rel_err = 0, tolerance = 0;  ///< valid if checked
  std::optional<MemoryUse> memory;
  /// the plan that was run; null for a kernel of another library
  std::shared_ptr<runtime::ProductPlan> plan;
};

/// A plan, and the time of planning.
struct Planned {
  std::shared_ptr<runtime::ProductPlan> plan;
  double seconds = 0;
};

/// Returns the measurement of a plan of `a` without times, check and prediction.
Measurement describe(const Planned& planned, const formats::FormatView& a);

/// Sets the times and the rate.
void set_times(Measurement& measurement, const TimeSummary& seconds, std::int64_t nnz);

/// Returns the maximum accepted error of a sum, relative to the sum of its absolute products (see
/// Operation::error). Small enough to detect one missing entry in a long row. A kernel that is not in the
/// table is assumed to store its results once.
double rounding_bound(const runtime::DenseTypes& dense, runtime::Precision precision,
                      std::string_view kernel);

/// Returns the types of the dense operands and the result for output, such as "f16" or "f16 to f32".
std::string dense_label(const Measurement& measurement);

/// Errc::check_failed if the error exceeds the rounding bound.
Status check_outcome(const Measurement& measurement);

/// Returns the documented keys of a measurement. rel_err is null if unchecked; keys of MemoryUse are present
/// only if it is known.
Json to_json(const Measurement& measurement);

}  // namespace sptile::tools
