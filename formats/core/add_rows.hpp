// Products with entries in any order, for matrices that are multiplied too seldom to be sorted.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/error.hpp"
#include "formats/core/sort_entries.hpp"

namespace sptile::formats {

/// Writes to row i of `out` [rows, n] the sum of the rows j of `x` [cols, n] over the entries (i, j), in
/// their order. Both are packed; T is float or double. Errc::bad_input for an id that is out of range.
/// O(entries n), with at most `threads` threads, which divide the columns: the sums have the same bits for
/// any number.
template <class T, class Id>
Status add_rows(const EntryIds<Id>& ids, std::int64_t n, std::span<const T> x, std::span<T> out, int threads);

}  // namespace sptile::formats
