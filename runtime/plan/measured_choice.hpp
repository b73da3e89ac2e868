// Choice of a plan by running the candidates.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// The operation and options to measure, and the function that creates plans.
struct MeasuringRequest {
  const Operation& op;
  std::span<const PlanMatrix> matrices;
  const PlanOptions& options;
  const PlanOne& plan_one;
};

/// Runs plans on random operands and keeps the fastest. After PlanOptions::budget seconds it is over, but not
/// before one plan was run. The time between its calls counts.
class Contest {
 public:
  /// Operands of all runs, contiguous in one allocation.
  struct Scratch {
    std::shared_ptr<std::byte> memory;
    Operands operands;
  };

  /// Allocates the operands. `a` gives the size of the matrix. Errors as for choose_plan.
  static Result<Contest> open(const Operation& op, const formats::FormatView& a, const PlanOptions& options);

  [[nodiscard]] bool is_over() const { return fastest_ != nullptr && left() <= 0; }

  /// Returns the median time of several runs in seconds. Errors as for running a plan.
  Result<double> run(std::shared_ptr<ProductPlan> plan);

  /// Returns the fastest plan; null if none was run.
  [[nodiscard]] const std::shared_ptr<ProductPlan>& fastest() const { return fastest_; }

 private:
  Contest(Scratch&& scratch, double budget) : scratch_(std::move(scratch)), budget_(budget) {}
  [[nodiscard]] double left() const;  ///< seconds

  Scratch scratch_;
  double budget_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::shared_ptr<ProductPlan> fastest_;
  double seconds_ = 0;
};

/// Sets measured_us of the promising candidates, updates `chosen` to the fastest and keeps its plan. Does
/// nothing if there are fewer than two. See choose_plan.
Status measure_candidates(const MeasuringRequest& request, ChosenPlan& chosen);

/// Formats that are made one after another.
struct Alternatives {
  std::size_t count = 0;
  /// Makes format `i` and returns its candidates, at least one. The previous format may be freed.
  std::function<Result<std::vector<Candidate>>(std::size_t i)> candidates;
  PlanOne plan;  ///< plans the format that was made last
};

/// Measures the candidates of one format after another and returns the fastest plan. `a` gives the size of
/// the matrix. Candidates are skipped as in choose_plan, compared with those of all formats so far. Formats
/// and candidates that are refused, or exceed the device memory, are skipped; if all are, returns the error
/// of the first. Without memory for operands, returns a plan of the first format, because a framework may
/// hold the free memory of the device.
Result<std::shared_ptr<ProductPlan>> fastest_plan(const Operation& op, const formats::FormatView& a,
                                                  const PlanOptions& options,
                                                  const Alternatives& alternatives);

}  // namespace sptile::runtime
