// Plans of a matrix handle.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/handle/matrix.hpp"
#include "runtime/plan/choice.hpp"

namespace sptile::runtime {

/// Plans an operation with one of several formats: names with commas; nothing or "auto": all that are stored.
/// The format of the plan is that of the matrix, shared with other plans. A format that is not stored is made
/// on a CUDA device, and then must be the only one, since what its columns cost is not known on the host.
/// `stream` is for conversions. Errors as choose_plan and Matrix::hold.
Result<std::shared_ptr<ProductPlan>> plan_matrix(Matrix& matrix, const Operation& op,
                                                 std::string_view formats, const PlanOptions& options,
                                                 void* stream);

/// Lists what plan_matrix chooses from. Errc::unsupported for formats that are not stored.
Result<std::vector<Candidate>> predict_matrix(const Matrix& matrix, const Operation& op,
                                              std::string_view formats, const PlanOptions& options);

}  // namespace sptile::runtime
