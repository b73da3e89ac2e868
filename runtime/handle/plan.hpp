// Plans of a matrix handle.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/handle/matrix.hpp"
#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// What of a matrix a plan takes.
struct MatrixChoice {
  std::string_view formats = {};  ///< names with commas; nothing or "auto": all that are stored
  Side side = Side::matrix;       ///< A or, of operations without a number per entry, A^T
  void* stream = nullptr;         ///< for conversions
};

/// Plans an operation with one of several formats. The format of the plan is that of the matrix, shared with
/// other plans. A format that is not stored is made on a CUDA device, and then must be the only one, since
/// what its columns cost is not known on the host. `stream` is for conversions. Errors as choose_plan and
/// Matrix::hold.
Result<std::shared_ptr<ProductPlan>> plan_matrix(Matrix& matrix, const Operation& op,
                                                 const MatrixChoice& choice, const PlanOptions& options);

/// Lists what plan_matrix chooses from. Errc::unsupported for formats that are not stored.
Result<std::vector<Candidate>> predict_matrix(const Matrix& matrix, const Operation& op,
                                              const MatrixChoice& choice, const PlanOptions& options);

}  // namespace sptile::runtime
