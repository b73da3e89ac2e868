// Statistics of a matrix of which only the rows with entries are kept. They equal those of the entire matrix,
// but time and memory depend on the entries alone.
#pragma once

#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "tools/pipeline/order_quality.hpp"
#include "tools/pipeline/work.hpp"
#include "tools/stats/format_sizes.hpp"

namespace sptile::tools {

/// As runtime::is_symmetric. `a` has the rows that `nonempty` names. O(nnz log nnz).
bool is_symmetric(const formats::CsrView& a, const formats::NonemptyRows& nonempty);

/// As measure_order of the given order, except that the Jaccard cost is summed in another order.
OrderQuality measure_order(const formats::CsrView& a, const formats::NonemptyRows& nonempty);

/// As measure_formats: blocks of rows without entries are left out, and their index bytes are added. At most
/// 256 rows of 8 bytes per row with entries.
Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const formats::NonemptyRows& nonempty);

}  // namespace sptile::tools
