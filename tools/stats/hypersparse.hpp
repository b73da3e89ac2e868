// Statistics of a matrix of which only the nonempty rows are stored. They equal those of the entire matrix,
// but time and memory depend only on the entries.
#pragma once

#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "tools/pipeline/order_quality.hpp"
#include "tools/pipeline/work.hpp"
#include "tools/stats/format_sizes.hpp"

namespace sptile::tools {

/// Equals runtime::is_symmetric of the entire matrix. `a` contains the rows in `nonempty`. O(nnz log nnz).
bool is_symmetric(const formats::CsrView& a, const formats::NonemptyRows& nonempty);

/// Equals measure_order of the given order, except that the Jaccard cost is summed in another order.
OrderQuality measure_order(const formats::CsrView& a, const formats::NonemptyRows& nonempty);

/// Equals measure_formats: empty blocks of rows are omitted, and their index bytes are added. At most 256
/// rows of 8 bytes per nonempty row.
Result<std::vector<FormatRow>> measure_formats(Work& work, const formats::CsrView& a,
                                               const formats::NonemptyRows& nonempty);

}  // namespace sptile::tools
