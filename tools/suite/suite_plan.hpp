// Resolution of a suite: the combinations that this build and device can measure, and what is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernels.hpp"
#include "tools/measure/benchmark.hpp"
#include "tools/suite/experiments.hpp"

namespace sptile::tools {

/// Request of the command line.
struct SuiteRequest {
  std::string suite;
  std::vector<std::string> experiments;  ///< names, "times" or "structures"; empty: all
  std::vector<std::string> inputs;       ///< empty: those of the paper's list in `matrices`
  std::string matrices;                  ///< folder
  std::string formats;                   ///< compared formats; empty: formats_to_compare
  std::vector<std::int64_t> columns;     ///< values of N; empty: those of the paper
  std::string csv;
  bool on_device = false;
  bool check = true, flush_l2 = false, graph = false, cusparse = true;
  InputOptions input;
  ProductAttributes attributes;
};

/// A part of a suite that cannot run here.
struct Missing {
  std::string what;  ///< "kernel", "device" or "matrix"
  std::string name, why;
  std::vector<std::string> experiments = {};  ///< empty: all
};

/// A variant whose names are resolved.
struct SuiteCase {
  std::string name;
  FormatChoice format;
  std::string kernel;  ///< empty: the default of `bench`
  Ordering ordering;
  PrecisionChoice precision;

  /// Returns whether a row of `bench`, or its identifying keys, measures the case.
  [[nodiscard]] bool matches(const Json& row) const;
};

/// An experiment that can run here.
struct SuiteExperiment {
  const Experiment* experiment;
  std::vector<SuiteCase> cases;
  std::vector<SuiteCase> compared;  ///< fastest known kernels of several formats, in the orders of the cases
  std::vector<std::int64_t> columns;
  bool needs_values = false;  ///< a kernel has no instance for patterns

  /// Returns whether a row measures a case for one of the columns, or cuSPARSE with the same types.
  [[nodiscard]] bool contains(const Json& row) const;
  /// Returns whether a row of one of the columns measures cuSPARSE with the types of the experiment.
  [[nodiscard]] bool is_vendor_row(const Json& row) const;
};

struct SuitePlan {
  const Suite* suite;
  std::vector<SuiteExperiment> experiments = {};
  std::vector<const Structure*> structures = {};
  bool core_rates = false;      ///< measure Suite::core_rates
  bool needs_matrices = false;  ///< an experiment was requested that measures matrices, here or elsewhere
  std::vector<Missing> missing = {};
};

/// Returns whether a kernel can run: runtime::available, or a replacement for tests.
using KernelFilter = std::function<bool(const runtime::Kernel& kernel)>;

/// Parses Variant::order for a window height.
Result<Ordering> parse_order(std::string_view text, int window_rows);

/// Resolves the experiments of a suite for a device. Errc::usage for unknown experiments and formats.
Result<SuitePlan> plan_suite(const SuiteRequest& request, const KernelFilter& available = runtime::available);

/// Returns the benchmarks that measure the plan: one per operation and origin of the values of patterns. They
/// refer to the plan.
std::vector<BenchTask> tasks_of(const SuitePlan& plan, const SuiteRequest& request);

/// Returns the columns of `bench`, then `suite`, which identifies rows, and `experiment`.
std::span<const CsvColumn> suite_columns();

}  // namespace sptile::tools
