// Takes work off the part that sends most: the step of a product waits for it.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// Rows that parts send: what a product with a matrix divided like this exchanges.
struct SentRows {
  std::int64_t total = 0;    ///< over all parts: the communication volume, in rows
  std::int64_t largest = 0;  ///< of one part
  bool too_heavy = false;    ///< a part weighs more than may be: it had before, and stays so
};

/// Moves rows from the part that sends most to parts that need them, as long as no part then sends as many,
/// no part weighs (row_weight) over 5 % more than the mean, and the volume grows by 2 % at most. A part sends
/// its row v once to each other part with an entry in column v. Greedy, after Acer, Selvitopi and Aykanat,
/// "Improving performance of sparse matrix dense matrix multiplication on large-scale parallel systems"
/// (Parallel Computing 2016), who bound it inside recursive bisection. `part` gives the part of each row of a
/// square matrix, and is changed. Deterministic, serial; O(nnz) steps times a constant, 8 bytes for each
/// entry at most.
SentRows bound_largest_send(const formats::CsrView& a, std::int32_t parts, std::span<std::int32_t> part);

}  // namespace sptile::reorder
