// Plans of a matrix handle.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/handle/matrix.hpp"
#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// Formats and side of the matrix for a plan.
struct MatrixChoice {
  /// comma-separated names; empty or "auto": all stored formats; "any": as in sptile_plan_options
  std::string_view formats = {};
  Side side = Side::matrix;  ///< A or, for operations without a number per entry, A^T
  void* stream = nullptr;    ///< stream for conversions
};

/// Multiplications of a product below which the launch takes most of the time: conversions do not pay.
inline constexpr double kMinMeasured = 1 << 22;

/// Plans an operation with one of several formats, which is shared with other plans of the matrix. A format
/// that is not stored is converted on a CUDA device. Its cost is unknown on the host, so it must be the only
/// candidate unless the choice is measured. A measured choice of such formats runs the predicted kernel of
/// each, except for products of fewer than kMinMeasured multiplications, which use the first format. `stream`
/// is for conversions. Errors as for choose_plan and Matrix::hold.
Result<std::shared_ptr<ProductPlan>> plan_matrix(Matrix& matrix, const Operation& op,
                                                 const MatrixChoice& choice, const PlanOptions& options);

/// Returns the candidates of plan_matrix. Errc::unsupported for formats that are not stored.
Result<std::vector<Candidate>> predict_matrix(const Matrix& matrix, const Operation& op,
                                              const MatrixChoice& choice, const PlanOptions& options);

}  // namespace sptile::runtime
