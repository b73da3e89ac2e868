// Predicts what each format and kernel would take, and chooses.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/choice/cost_features.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/spmm.hpp"

namespace sptile::runtime {

/// One way to do a product: a format and a kernel for it.
struct Candidate {
  std::size_t matrix = 0;          ///< position in the list that was given
  std::string_view format;         ///< of that matrix
  const Kernel* kernel = nullptr;  ///< null: the device has none for the format
  Precision precision = Precision::fp32;
  std::optional<double> predicted_us;  ///< not there without a model of the kernel
  std::optional<double> measured_us;   ///< where it was run, see choose_product
  std::string refused;                 ///< why it cannot run; empty when it can
  CostFeatures features = {};
  bool chosen = false;
};

/// Lists the candidates of several formats of one matrix for an operation of kernels(): every kernel of the
/// device for each format, those that cannot run with the reason. The chosen one is the fastest predicted;
/// without any prediction, csr, and the first that can run where that is not there. options.kernel leaves
/// only kernels of that name; options.precision only those that satisfy it. Features are counted when there
/// is a model for them, or `always_count`. Reads what miss_share reads of the column lists and checks
/// lengths, not contents. Errc::usage for bad options or an empty list, Errc::device as plan_spmm,
/// Errc::bad_input for lengths that disagree or a profile that is none.
Result<std::vector<Candidate>> predict_product(std::string_view op, std::span<const PlanMatrix> matrices,
                                               const PlanOptions& options, bool always_count = false);

inline Result<std::vector<Candidate>> predict_spmm(std::span<const PlanMatrix> matrices,
                                                   const PlanOptions& options, bool always_count = false) {
  return predict_product("spmm", matrices, options, always_count);
}

/// The chosen one of a list; null when none can run.
const Candidate* chosen_of(std::span<const Candidate> list);

/// The same list with the candidate that a plan takes: that predicted fastest, or, with options.choice
/// measured and several that can run, that which is fastest. Each of those is planned and run some times on
/// random operands of its own (on CUDA in device memory, on the default stream), but those predicted to take
/// more than kHopeless times the best one only when some have no prediction. What has no room on the device
/// is refused. Errors as predict_product and plan_product; Errc::device or Errc::io naming the bytes when
/// there is no room for the operands.
Result<std::vector<Candidate>> choose_product(std::string_view op, std::span<const PlanMatrix> matrices,
                                              const PlanOptions& options);

inline constexpr double kHopeless = 3;

/// Plans with the candidate that choose_product takes; when none can run, gives the error of planning the
/// first matrix.
Result<std::shared_ptr<ProductPlan>> plan_product(std::string_view op, std::span<const PlanMatrix> matrices,
                                                  const PlanOptions& options);

inline Result<std::shared_ptr<ProductPlan>> plan_spmm(std::span<const PlanMatrix> matrices,
                                                      const PlanOptions& options) {
  return plan_product("spmm", matrices, options);
}

/// Predicts the microseconds of a plan made of `a` with these options; nothing without a model of its kernel.
/// `a` is the matrix that was planned. Errors as predict_product.
Result<std::optional<double>> predict_plan(const ProductPlan& plan, const PlanMatrix& a,
                                           const PlanOptions& options);

}  // namespace sptile::runtime
