// Weighted Jaccard similarity of rows, in which rare columns count more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// Weights of columns and, summed, of rows. For a column c with d(c) nonzeros,
///   weight(c) = d(c)^-alpha, sim(r, u) = weight of the common columns / weight of the union of columns,
/// so that columns in most rows have little influence (RSH-SpMM, section 3.4). alpha = 0 gives the plain
/// Jaccard index.
struct JaccardWeights {
  std::vector<std::int32_t> entries;  ///< d(c)
  std::vector<float> column;          ///< 0 for an empty column
  std::vector<float> row;             ///< sum in the order of the columns

  /// Returns the similarity of two rows whose common columns weigh `common`; 0 if both are empty.
  [[nodiscard]] float similarity(std::int64_t r, std::int64_t u, float common) const {
    const float either = row[static_cast<std::size_t>(r)] + row[static_cast<std::size_t>(u)] - common;
    return either > 0 ? common / either : 0;
  }
};

/// Computes counts and weights; alpha >= 0. O(nnz + rows + cols), parallel over rows.
JaccardWeights jaccard_weights(const formats::CsrView& a, double alpha);

/// Returns the columns of row r.
inline std::span<const std::int32_t> columns_of(const formats::CsrView& a, std::int64_t r) {
  return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)]),
                           static_cast<std::size_t>(a.row_nnz(r)));
}

/// Returns sim(r, u). O(nnz of both rows).
float similarity(const formats::CsrView& a, const JaccardWeights& weights, std::int64_t r, std::int64_t u);

}  // namespace sptile::reorder
