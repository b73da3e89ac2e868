// Columns numbered by how many entries they have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// The entries of each column. O(nnz + cols).
std::vector<std::int32_t> count_columns(const formats::CsrView& a);

/// The columns of all entries, renumbered so that columns with more entries come first, equal ones by id.
/// Where few columns have most of the entries, what is kept for them then stands together in cache. Columns
/// of a row no longer ascend. `count` is that of the columns. O(nnz + cols), parallel.
formats::Buffer<std::int32_t> frequent_first(const formats::CsrView& a, std::span<const std::int32_t> count);

}  // namespace sptile::reorder
