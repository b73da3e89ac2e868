// What measuring one product gave: all that `run`, `bench` and `calibrate` report comes from here.
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

/// How a product used the memory of a device; known where operands stay there.
struct MemoryUse {
  std::int64_t compulsory = 0, gathered = 0;  ///< bytes, see roofline.hpp
  Roofline roofline = {};
  std::optional<double> frobenius = {};  ///< ||result - reference|| / ||reference||, of a checked result
  std::optional<double> pinned_us = {};  ///< to copy the format's bytes from pinned memory
};

/// One product that was run, and checked where that was asked for.
struct Measurement {
  const runtime::Operation* op = nullptr;
  std::string device, format, kernel, value_dtype, dtype, result, precision;
  std::int64_t n = 0;
  double plan_us = 0, median_us = 0, min_us = 0, spread = 0;  ///< spread: (90th - 10th percentile) / median
  double gflops = 0;                                          ///< 2 nnz n / median
  std::optional<double> predicted_us;  ///< by the cost model; nothing where it does not know the kernel
  int repeat = 0;                      ///< runs or launches
  bool checked = false;
  double rel_err = 0, tolerance = 0;  ///< meaningful when checked
  std::optional<MemoryUse> memory;
  std::shared_ptr<runtime::ProductPlan> plan;  ///< that was run; null for a kernel of others
};

/// A plan, and what making it took.
struct Planned {
  std::shared_ptr<runtime::ProductPlan> plan;
  double seconds = 0;
};

/// Starts the measurement of a plan made of `a`: everything but times, check and prediction.
Measurement describe(const Planned& planned, const formats::FormatView& a);

/// Fills in the times and the rate.
void set_times(Measurement& measurement, const TimeSummary& seconds, std::int64_t nnz);

/// Largest error of a sum that is let pass, relative to the sum of its absolute products (see
/// Operation::error). Small enough to see one lost entry in a long row. A kernel that is not in the table
/// stores its results once.
double rounding_bound(const runtime::DenseTypes& dense, runtime::Precision precision,
                      std::string_view kernel);

/// Types of the dense operands and the result, for people: "f16", "f16 to f32".
std::string dense_label(const Measurement& measurement);

/// Errc::check_failed when the result is wrong beyond rounding.
Status check_outcome(const Measurement& measurement);

/// The keys that the contract names, and a few more; rel_err is null when unchecked. Those of MemoryUse only
/// where it is known.
Json to_json(const Measurement& measurement);

}  // namespace sptile::tools
