// Runs the experiments of a paper.
#pragma once

#include "tools/suite/suite_plan.hpp"

namespace sptile::tools {

/// Measures the experiments of a suite with the loop of `bench`, on the given matrices or on those of the
/// paper's list, and prints rows, missing parts and the geometric means of each experiment. Errors as for
/// `bench`; Errc::usage without matrices.
Status run_suite(Session& session, SuiteRequest request);

}  // namespace sptile::tools
