// Dot products of rows of X and Y, sampled where a planned A has entries: alpha * (X Y^T) at A + beta * out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "formats/error.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// As plan_spmm; PlanOptions::n is the number of features, the columns of X and Y, and PlanOptions::dense the
/// type of X, Y and the result.
Result<std::shared_ptr<ProductPlan>> plan_sddmm(const PlanMatrix& a, const PlanOptions& options);

/// Operands: X and Y row-major.
struct SddmmOperands {
  const void* x = nullptr;  ///< rows x n, in the original row order
  std::int64_t ldx = 0;     ///< elements between rows of X, >= n
  const void* y = nullptr;  ///< cols x n
  std::int64_t ldy = 0;
  /// One number per entry of A, in the order in which the planned format stores its values (its value arrays
  /// one after the other), so that they are the values of a matrix of the same format: refresh_packed gives
  /// them to an SpMM plan. Must not overlap X or Y.
  void* out = nullptr;
  double alpha = 1;
  double beta = 0;      ///< 0: out is only written
  bool scaled = false;  ///< each dot product is multiplied by the value of its entry, too
};

/// Runs the plan, as for SpMM: allocates nothing; the same bits on every run; with a CUDA plan operands are
/// device memory and `stream` may be captured in a graph. It has no scratch, so any number of runs may be in
/// flight. Errc::usage for null pointers, leading dimensions below n and a plan of another operation.
Status run(const ProductPlan& plan, const SddmmOperands& operands, void* stream = nullptr) noexcept;

/// As timed_run of SpMM: operands in host memory, seconds of each of the last `repeat` runs.
Result<std::vector<double>> timed_run(const ProductPlan& plan, const SddmmOperands& host, int warmup,
                                      int repeat);

}  // namespace sptile::runtime
