// From a bundle to something that can be planned.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "runtime/core/matrix.hpp"

namespace sptile::runtime {

/// Verifies that a bundle holds A, which each does, or A^T: Errc::usage says how to make one that does.
Status check_side(const Bundle& bundle, Side side);

/// Takes one format of a bundle, of A or of A^T (which is A where that is symmetric), with its row order and
/// value positions; the bundle stays alive as long as the result. Errc::usage when the bundle does not hold
/// the format, naming those it holds, or no A^T.
Result<PlanMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format,
                             Side side = Side::matrix);

/// Takes several formats, to choose from: names with commas; "auto" or nothing: all that the bundle holds.
/// Errc::usage as matrix_of.
Result<std::vector<PlanMatrix>> matrices_of(const std::shared_ptr<const Bundle>& bundle,
                                            std::string_view formats, Side side = Side::matrix);

}  // namespace sptile::runtime
