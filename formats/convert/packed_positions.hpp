// Maps between the nonzeros of a matrix and the stored values of a format.
#pragma once

#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Restores the matrix of a checked format with these numbers, one per nonzero, in place of its values;
/// several value arrays (rs_tile) are concatenated. Also works for a pattern. Errors as in Converter::to_csr.
Result<Csr> rebuild_with(const FormatView& view, std::span<const std::int64_t> values);

/// Returns the position of each nonzero, in CSR order, among the stored values of a checked format.
/// `row_order` is new_to_old of the format's rows (empty: original order); the CSR has the original rows.
/// O(nnz).
Result<Array> packed_positions(const FormatView& view, std::span<const std::int32_t> row_order);

/// Returns the inverse permutation, which maps stored values to nonzeros or back.
Array inverse_positions(std::span<const std::int64_t> positions);

/// Returns the CSR position of each stored value of a checked format: the inverse of packed_positions.
Result<Array> packed_entries(const FormatView& view, std::span<const std::int32_t> row_order);

}  // namespace sptile::formats
