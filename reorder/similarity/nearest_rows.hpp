// Finds the most similar rows of each row.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/similarity/weighted_jaccard.hpp"

namespace sptile::reorder {

struct NearestOptions {
  int neighbours = 10;  ///< rows kept per row
  int list_rows = 64;   ///< maximum rows visited per column, nearest in position
  int visits = 2048;    ///< rows visited per row, with repeats, through its rarest columns first
  Progress* progress = nullptr;
};

struct Neighbour {
  std::int32_t row;
  float similarity;  ///< positive
};

/// Nearest rows of each row, most similar first, lower rows first on ties; never the row itself.
struct NearestRows {
  std::int64_t neighbours = 0;           ///< capacity per row
  formats::Buffer<Neighbour> all;        ///< rows x neighbours
  formats::Buffer<std::int32_t> counts;  ///< number of neighbors of each row

  [[nodiscard]] std::span<const Neighbour> of(std::int64_t r) const {
    return {all.data() + r * neighbours, static_cast<std::size_t>(counts[r])};
  }
};

/// Finds the nearest rows by weighted Jaccard similarity among the rows that share a representative column,
/// through the column lists. The result is exact unless a limit applies (columns longer than list_rows, more
/// than `visits` visits). Otherwise a row visits others through its rarest columns, in a long column only the
/// part of the list around itself, and the best candidates are then compared in full. O(nnz + rows * visits)
/// for any degrees, parallel over rows; the same result for any number of threads. Memory: the transposed
/// structure, `neighbours` pairs per row, 8 bytes per row and thread, and 4 per column and thread. Errc::io
/// "cancelled" soon after options.progress is cancelled.
Result<NearestRows> nearest_rows(const formats::CsrView& a, const JaccardWeights& weights,
                                 const NearestOptions& options);

}  // namespace sptile::reorder
