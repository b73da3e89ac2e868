// Division of the rows of a square matrix among parts, with renumbering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::reorder {

/// Maximum number of parts of a partition.
inline constexpr std::int32_t kMaxParts = 16384;

/// Assigns a position to each row: part p has positions offset[p] .. offset[p + 1], in its own row order.
/// Columns are numbered like rows and belong to the same parts.
struct Division {
  std::vector<std::int64_t> offset;  ///< parts + 1, from 0 to rows
  /// Original row of each position, and position of each original row; both empty if no row moves.
  std::vector<std::int32_t> old_row = {}, place = {};

  [[nodiscard]] std::int32_t parts() const { return static_cast<std::int32_t>(offset.size()) - 1; }
  [[nodiscard]] std::int64_t rows() const { return offset.back(); }
  [[nodiscard]] std::int64_t first(std::int32_t part) const { return offset[static_cast<std::size_t>(part)]; }
  [[nodiscard]] std::int64_t last(std::int32_t part) const { return first(part + 1); }
  [[nodiscard]] std::int64_t rows_of(std::int32_t part) const { return last(part) - first(part); }
  [[nodiscard]] bool in_order() const { return old_row.empty(); }
  [[nodiscard]] std::int64_t row_at(std::int64_t at) const {
    return in_order() ? at : old_row[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] std::int64_t place_of(std::int64_t row) const {
    return in_order() ? row : place[static_cast<std::size_t>(row)];
  }
  /// Returns whether the part has the original rows of its positions, in any order.
  [[nodiscard]] bool is_block(std::int32_t part) const;
  /// Returns the part of a position.
  [[nodiscard]] std::int32_t owner(std::int64_t at) const;
};

/// Returns the weight of a row for load balance: its nonzeros, plus one for its output.
[[nodiscard]] inline std::int64_t row_weight(const formats::CsrView& a, std::int64_t row) {
  return a.row_nnz(row) + 1;
}

/// Cuts rows in the given order (empty: original order) into consecutive parts of similar weight, which may
/// be empty. O(rows).
Division divide_in_order(const formats::CsrView& a, std::vector<std::int32_t> new_to_old, std::int32_t parts);

/// Divides rows by the part of each, in 0 .. parts - 1 (asserted). The rows of a part follow `new_to_old`, or
/// ascend if it is empty. O(rows + parts).
Division divide_by_part(std::span<const std::int32_t> part, std::int32_t parts,
                        std::span<const std::int32_t> new_to_old = {});

/// Reorders the rows of a part: `order` is a permutation (asserted) of their positions 0 .. rows_of(part) - 1
/// in the part.
void reorder_part(Division& division, std::int32_t part, std::span<const std::int32_t> order);

}  // namespace sptile::reorder
