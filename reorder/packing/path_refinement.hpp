// Better neighbours for the rows of an order, looked for close to where they stand.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/csr_view.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/weighted_jaccard.hpp"

namespace sptile::reorder {

/// Cuts `order` into stretches of `stretch` rows (3 to 64) and, in each, reverses runs of rows as long as
/// that lowers the sum of 1 - similarity over adjacent rows (2-opt; Croes, "A method for solving
/// traveling-salesman problems", 1958). The first and the last row of a stretch stay, so that stretches are
/// independent. Similar rows of different windows come together this way, as long as a stretch holds several
/// windows. O(nnz * stretch) at most, usually a small multiple of nnz + rows * stretch; parallel over
/// stretches; the same result for any number of threads. Memory: 8 bytes a column and thread. Stops early
/// when cancelled.
void refine_path(const formats::CsrView& a, const JaccardWeights& weights, std::span<std::int32_t> order,
                 int stretch, Progress* progress);

}  // namespace sptile::reorder
