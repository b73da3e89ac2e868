// How near to each other rows that share columns stand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

inline constexpr double kJaccardAlpha = 0.5;  ///< a column of d entries weighs d^-alpha
inline constexpr int kWorkingSetRows = 1024;  ///< rows of a stretch

/// Measures of a row order that do not know windows.
struct OrderLocality {
  /// Sum over neighbouring rows of 1 - (weight of the columns that both have) / (weight of the columns that
  /// either has): what RSH-SpMM, section 3.4, minimises. From 0 to rows - 1; two rows without entries are
  /// alike, cost 0.
  double jaccard_cost = 0;
  /// Largest distance of an entry from the diagonal when the columns are renumbered as the rows are. Square
  /// matrices only.
  std::optional<std::int64_t> bandwidth;
  /// Distinct columns in a stretch of kWorkingSetRows rows, in the mean over the stretches: rows of B that a
  /// cache has to hold for the stretch to read each of them once.
  double working_set_columns = 0;
};

/// Measures the locality of an order (empty: the given one). The same bits for any number of threads. O(nnz),
/// parallel; 4 bytes per column (see CompactColumns) and thread.
OrderLocality measure_locality(const formats::CsrView& matrix, std::span<const std::int32_t> new_to_old = {});

}  // namespace sptile::reorder
