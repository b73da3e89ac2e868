// How alike two rows are: the overlap of their columns, where rare columns count more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// The weights of the columns and, summed, of the rows. With d(c) entries in column c,
///   weight(c) = d(c)^-alpha,   sim(r, u) = weight of the columns in both / weight of the columns in either,
/// so that columns which most rows have say little ("RSH-SpMM", section 3.4). alpha 0 is the plain Jaccard
/// index.
struct JaccardWeights {
  std::vector<std::int32_t> entries;  ///< d(c)
  std::vector<float> column;          ///< 0 for a column without entries
  std::vector<float> row;             ///< summed in the order of the columns

  /// The similarity of two rows whose common columns weigh `common`; 0 when both are empty.
  [[nodiscard]] float similarity(std::int64_t r, std::int64_t u, float common) const {
    const float either = row[static_cast<std::size_t>(r)] + row[static_cast<std::size_t>(u)] - common;
    return either > 0 ? common / either : 0;
  }
};

/// Counts and weighs; alpha >= 0. O(nnz + rows + cols), parallel over rows.
JaccardWeights jaccard_weights(const formats::CsrView& a, double alpha);

/// The columns of row r.
inline std::span<const std::int32_t> columns_of(const formats::CsrView& a, std::int64_t r) {
  return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(r)]),
                           static_cast<std::size_t>(a.row_nnz(r)));
}

/// sim(r, u). O(entries of both).
float similarity(const formats::CsrView& a, const JaccardWeights& weights, std::int64_t r, std::int64_t u);

}  // namespace sptile::reorder
