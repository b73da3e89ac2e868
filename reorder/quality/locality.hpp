// Locality of row orders: similarity of adjacent rows, bandwidth, working set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

inline constexpr double kJaccardAlpha = 0.5;  ///< a column with d nonzeros has weight d^-alpha
inline constexpr int kWorkingSetRows = 1024;  ///< rows per stretch

/// Measures of a row order that do not depend on windows.
struct OrderLocality {
  /// Sum over adjacent rows of 1 - (weight of common columns) / (weight of the union of columns), the
  /// objective of RSH-SpMM, section 3.4. From 0 to rows - 1; two empty rows cost 0.
  double jaccard_cost = 0;
  /// Maximum distance of a nonzero from the diagonal if columns are renumbered like rows. Only for square
  /// matrices.
  std::optional<std::int64_t> bandwidth;
  /// Average number of distinct columns in a stretch of kWorkingSetRows rows: the rows of B that a cache must
  /// hold to load each of them once per stretch.
  double working_set_columns = 0;
};

/// Measures the locality of an order (empty: the original one). The same bits for any number of threads.
/// O(nnz), parallel; 4 bytes per column (see CompactColumns) and thread.
OrderLocality measure_locality(const formats::CsrView& matrix, std::span<const std::int32_t> new_to_old = {});

}  // namespace sptile::reorder
