// How the rows of a square matrix are divided among parts, and numbered anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::reorder {

/// Most parts of a partition.
inline constexpr std::int32_t kMostParts = 16384;

/// Gives each row a place: those of part p are offset[p] .. offset[p + 1], in the order in which the part has
/// its rows. Columns are numbered alike: a column belongs to the part of the row of its number.
struct Division {
  std::vector<std::int64_t> offset;  ///< parts + 1, from 0 to rows
  /// Old row of each place, and place of each old row; both empty where each row keeps its place.
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
  /// Of a place.
  [[nodiscard]] std::int32_t owner(std::int64_t at) const;
};

/// What a row weighs when parts are balanced: its entries, which are multiplied, and one for itself, which is
/// written.
[[nodiscard]] inline std::int64_t row_weight(const formats::CsrView& a, std::int64_t row) {
  return a.row_nnz(row) + 1;
}

/// Cuts rows in the order given (empty: as they stand) into consecutive shares of like weight. A share may be
/// empty. O(rows).
Division divide_in_order(const formats::CsrView& a, std::vector<std::int32_t> new_to_old, std::int32_t parts);

/// Takes the part of each row, in 0 .. parts - 1 (asserted); rows of a part in the order given, ascending
/// without one. O(rows + parts).
Division divide_by_part(std::span<const std::int32_t> part, std::int32_t parts,
                        std::span<const std::int32_t> new_to_old = {});

/// Puts the rows of one part into another order: `order` has numbers 0 .. rows_of(part) - 1 of rows as they
/// stand in the part (a permutation, asserted).
void reorder_part(Division& division, std::int32_t part, std::span<const std::int32_t> order);

}  // namespace sptile::reorder
