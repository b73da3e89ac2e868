// Values of a matrix in another type, with a count of those that it cannot hold.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/value_loss.hpp"

namespace sptile::formats {

/// Rounds the values of a matrix in its original row order to nearest and adds what that loses to `loss`.
/// `integers`: the values are integers, and one that changes is lost. `source` names the matrix in messages.
/// A pattern stays a pattern.
Array narrow_values(const CsrView& a, DType to, bool integers, const std::string& source, ValueLoss& loss);

/// As sort_and_sum_duplicates, for the entries of a file or a caller: sums are formed in f64 and, where an
/// entry is repeated, all values get the type `sums`. The values of a pattern with repeated entries are their
/// counts.
std::int64_t sum_entries(Csr& a, DType sums, bool integers, ValueLoss& loss);

/// The type of sums of values of type `stored`, as `sums` of sum_entries: at least f32, and f64 for a
/// pattern.
DType sum_type(DType stored);

}  // namespace sptile::formats
