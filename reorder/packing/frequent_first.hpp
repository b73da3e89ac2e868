// Renumbers columns by frequency.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// Returns the column ids of all nonzeros, renumbered by descending number of nonzeros per column, then by
/// id. If few columns have most of the nonzeros, data indexed by column is then contiguous in cache. The
/// columns of a row no longer ascend. `count` has the nonzeros per column. O(nnz + cols), parallel.
formats::Buffer<std::int32_t> frequent_first(const formats::CsrView& a, std::span<const std::int32_t> count);

}  // namespace sptile::reorder
