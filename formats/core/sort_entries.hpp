// CSR arrays of entries in any order, written to the caller's memory, and where each entry went.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// Borrows the ids of entries. Id is std::int32_t or std::int64_t.
template <class Id>
struct EntryIds {
  std::int64_t rows = 0, cols = 0;
  std::span<const Id> row, col;  ///< one id per entry each
};

/// Returns Errc::bad_input for the first id that is out of range.
template <class Id>
Status check_ids(const EntryIds<Id>& ids);

extern template Status check_ids(const EntryIds<std::int32_t>&);
extern template Status check_ids(const EntryIds<std::int64_t>&);

/// Memory for the results. Spans of n elements have at least n.
struct SortedEntries {
  std::span<std::int64_t> row_ptr;   ///< rows + 1
  std::span<std::int32_t> col_idx;   ///< one per entry
  std::span<std::int32_t> position;  ///< one per entry: the CSR entry of each given entry
  std::span<std::int32_t> source;    ///< one per entry: the given entries in CSR order
};

struct SortResult {
  std::int64_t nnz = 0;     ///< number of entries without repetitions
  bool is_ordered = false;  ///< the entries ascend strictly; `position` and `source` are not written
};

/// Sorts entries by row and column, stably, and merges repeated ones: then nnz < entries, and `source` is not
/// written. Errc::bad_input for the first id that is out of range; Errc::unsupported for 2^31 entries or
/// more. O(entries + rows + cols), with at most `threads` threads.
template <class Id>
Result<SortResult> sort_entries(const EntryIds<Id>& ids, const SortedEntries& out, int threads);

extern template Result<SortResult> sort_entries(const EntryIds<std::int32_t>&, const SortedEntries&, int);
extern template Result<SortResult> sort_entries(const EntryIds<std::int64_t>&, const SortedEntries&, int);

/// Writes the pattern of the transpose: row_ptr with cols + 1 elements, col_idx, and in `source` the entry of
/// `a` for each entry of the transpose. `a` must have fewer than 2^31 entries. O(nnz + rows + cols), with at
/// most `threads` threads.
void transpose_entries(const CsrView& a, const SortedEntries& out, int threads);

}  // namespace sptile::formats
