// Local refinement of an order as a path through similar rows.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/csr_view.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/weighted_jaccard.hpp"

namespace sptile::reorder {

/// Cuts `order` into stretches of `stretch` rows (3 to 64). In each stretch, reverses subpaths while that
/// lowers the sum of 1 - similarity over adjacent rows (2-opt; Croes, "A method for solving
/// traveling-salesman problems", 1958). The first and last row of a stretch are fixed, so that stretches are
/// independent. If a stretch has several windows, similar rows of different windows become adjacent. At most
/// O(nnz * stretch), usually a small multiple of nnz + rows * stretch; parallel over stretches; the same
/// result for any number of threads. Memory: 8 bytes per column and thread. Stops early when cancelled.
void refine_path(const formats::CsrView& a, const JaccardWeights& weights, std::span<std::int32_t> order,
                 int stretch, Progress* progress);

}  // namespace sptile::reorder
