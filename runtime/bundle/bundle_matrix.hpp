// Matrices of a bundle for planning.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "runtime/core/matrix.hpp"

namespace sptile::runtime {

/// Checks that a bundle contains A (always true) or A^T. Errc::usage with the command that adds it.
Status check_side(const Bundle& bundle, Side side);

/// Returns one format of A or A^T (which is A if it is symmetric), with its row order and value positions.
/// The result keeps the bundle alive. Errc::usage if the bundle does not contain the format (the message
/// lists those that it contains) or A^T.
Result<PlanMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format,
                             Side side = Side::matrix);

/// Returns several candidate formats: comma-separated names; "auto" or empty: all stored formats. Errc::usage
/// as for matrix_of.
Result<std::vector<PlanMatrix>> matrices_of(const std::shared_ptr<const Bundle>& bundle,
                                            std::string_view formats, Side side = Side::matrix);

}  // namespace sptile::runtime
