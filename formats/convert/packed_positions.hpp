// Which entry of a matrix each stored value of a format belongs to.
#pragma once

#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Rebuilds the matrix of a checked format with these numbers, one per entry, in place of its stored values:
/// several value arrays (rs_tile) follow each other. Works for a pattern, too. As Converter::to_csr.
Result<Csr> rebuild_with(const FormatView& view, std::span<const std::int64_t> values);

/// For each entry of the matrix in CSR order, its position among the stored values of a checked format.
/// `row_order` is new_to_old over the format's rows (empty: as they stand); the CSR is that of the original
/// rows. O(nnz).
Result<Array> packed_positions(const FormatView& view, std::span<const std::int32_t> row_order);

/// Turns each of these into the other: the entry of each stored value, and the position of each entry.
Array inverse_positions(std::span<const std::int64_t> positions);

/// For each stored value of a checked format, its entry of the matrix in CSR order: the inverse of
/// packed_positions.
Result<Array> packed_entries(const FormatView& view, std::span<const std::int32_t> row_order);

}  // namespace sptile::formats
