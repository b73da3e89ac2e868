// Measures sizes and densities of formats for the figures of the papers that need no device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/cli/input_options.hpp"
#include "tools/suite/suite_plan.hpp"

namespace sptile::tools {

/// Measures the structures of a plan on one matrix. Each row has `suite`, `experiment`, `matrix`, `rows`,
/// `cols`, `nnz`, `reorder`, `window_rows`, `format` (null for quantities of the row order) and the
/// quantities: keys of `formats[]` of `stats`, including those of `tensor_cores`; without formats, keys of
/// `row_nnz`, and of `quality[]` for the window height. Quantities of formats that cannot represent the
/// matrix are null.
Result<std::vector<Json>> measure_structures(Session& session, const SuitePlan& plan, const std::string& path,
                                             const InputOptions& input);

/// Summarizes rows: for each structure, row order and format the number of matrices, and for each quantity
/// the `mean` and `over_first`, the geometric mean of the ratio to the first row order and format.
Json summarize_structures(const SuitePlan& plan, std::span<const Json> rows);

/// Returns the tables of summarize_structures.
std::string structures_text(const Json& summary);

}  // namespace sptile::tools
