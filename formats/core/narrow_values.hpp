// Conversion of a matrix's values to another type, with counts of the values that do not fit.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/value_loss.hpp"

namespace sptile::formats {

/// Rounds the values of a matrix in original row order to nearest and adds the losses to `loss`. `integers`:
/// the values are integers, and each one that changes counts as lost. `source` names the matrix in messages.
/// Absent values stay absent.
Array narrow_values(const CsrView& a, DType to, bool integers, const std::string& source, ValueLoss& loss);

/// Works like sort_and_sum_duplicates, for matrices from files or callers: adds in f64 and, if there are
/// duplicates, converts all values to type `sums`. For a pattern, the values become the multiplicities of
/// duplicates.
std::int64_t sum_entries(Csr& a, DType sums, bool integers, ValueLoss& loss);

/// Returns the type to pass as `sums` to sum_entries for values of type `stored`: at least f32; f64 for a
/// pattern.
DType sum_type(DType stored);

}  // namespace sptile::formats
