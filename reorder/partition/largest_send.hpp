// Reduces the load of the part that sends the most rows, which limits the speed of a distributed SpMM.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// Rows sent between parts in a distributed SpMM.
struct SentRows {
  std::int64_t total = 0;    ///< sum over all parts: the communication volume in rows
  std::int64_t largest = 0;  ///< maximum of a part
  bool too_heavy = false;    ///< a part exceeds the allowed weight and did so initially
};

/// Moves rows from the part that sends the most rows to parts that need them, while no part then sends as
/// much, no part weighs (row_weight) over 5 % more than the mean, and the volume grows by at most 2 %. A part
/// sends its row v once to each other part with a nonzero in column v. Greedy, after Acer, Selvitopi and
/// Aykanat, "Improving performance of sparse matrix dense matrix multiplication on large-scale parallel
/// systems" (Parallel Computing 2016), which bounds the send volume inside recursive bisection. `part`, the
/// part of each row of a square matrix, is updated. Deterministic, serial; O(nnz) times a constant; at most 8
/// bytes per nonzero.
SentRows bound_largest_send(const formats::CsrView& a, std::int32_t parts, std::span<std::int32_t> part);

}  // namespace sptile::reorder
