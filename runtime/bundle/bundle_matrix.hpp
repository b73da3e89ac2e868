// From a bundle to something that can be planned.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "runtime/matrix.hpp"

namespace sptile::runtime {

/// Takes one format of a bundle, with its row order and value positions; the bundle stays alive as long as
/// the result. Errc::usage when the bundle does not hold the format, naming those it holds.
Result<PlanMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format);

/// Takes several formats, to choose from: names with commas; "auto" or nothing: all that the bundle holds.
/// Errc::usage as matrix_of.
Result<std::vector<PlanMatrix>> matrices_of(const std::shared_ptr<const Bundle>& bundle,
                                            std::string_view formats);

}  // namespace sptile::runtime
