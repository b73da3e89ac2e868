// The rows most similar to each row.
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
  int neighbours = 10;  ///< kept for each row
  int list_rows = 64;   ///< of a longer column only so many rows are met, those next to the asking one
  int visits = 2048;    ///< rows met for each row, repeats counted: its rarest columns come first
  Progress* progress = nullptr;
};

struct Neighbour {
  std::int32_t row;
  float similarity;  ///< above 0
};

/// For each row its nearest ones, most similar first, the lower row first among equals. Never the row itself.
struct NearestRows {
  std::int64_t neighbours = 0;        ///< room for each row
  formats::Buffer<Neighbour> all;     ///< rows x neighbours
  formats::Buffer<std::int32_t> met;  ///< how many each row has

  [[nodiscard]] std::span<const Neighbour> of(std::int64_t r) const {
    return {all.data() + r * neighbours, static_cast<std::size_t>(met[r])};
  }
};

/// Finds the nearest rows by weighted Jaccard similarity among the rows that share a representative column,
/// met through the column lists. Without caps at work (columns up to list_rows, rows that meet up to
/// `visits`) the result is exact. Else a row meets the others through its rarest columns and, in a long
/// column, through the part of the list around itself; the best of those met are then compared in full.
/// O(nnz + rows * visits) time whatever the degrees, parallel over rows; the same result for any number of
/// threads. Memory: the transposed structure, `neighbours` pairs a row, 8 bytes a row and thread and 4 a
/// column and thread. Errc::io "cancelled" soon after options.progress says so.
Result<NearestRows> nearest_rows(const formats::CsrView& a, const JaccardWeights& weights,
                                 const NearestOptions& options);

}  // namespace sptile::reorder
