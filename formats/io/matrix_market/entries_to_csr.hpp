// The last step of reading: parsed entries become a CSR matrix.
#pragma once

#include "formats/core/error.hpp"
#include "formats/io/entries/assembled_csr.hpp"
#include "formats/io/matrix_market/entry_store.hpp"

namespace sptile::formats {

/// Expands the symmetry, orders entries by row and column and sums duplicates; the sums, also the counts of a
/// pattern, have the type `dtype`. `sorted`: the rows of the entries never decrease; then nothing is moved.
/// Empties the store. Errc::io when the row pointers do not fit in memory. With `compress_rows`, a matrix
/// that is mostly_empty keeps only its rows with entries.
Result<AssembledCsr> entries_to_csr(const MtxHeader& header, EntryStore& store, bool sorted, DType dtype,
                                    std::int64_t memory_limit, bool compress_rows = false);

}  // namespace sptile::formats
