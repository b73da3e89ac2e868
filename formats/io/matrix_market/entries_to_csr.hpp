// Assembly of parsed entries into a CSR matrix.
#pragma once

#include "formats/core/error.hpp"
#include "formats/io/entries/assembled_csr.hpp"
#include "formats/io/matrix_market/entry_store.hpp"

namespace sptile::formats {

/// Expands the symmetry, sorts entries by row and column, and sums duplicates; sums, and counts for a
/// pattern, have type `dtype`. `sorted` promises that rows never decrease; no entry is then moved. Empties
/// the store. Errc::io if the row pointers do not fit in memory. With `compress_rows`, a matrix that is
/// mostly_empty stores only its nonempty rows.
Result<AssembledCsr> entries_to_csr(const MtxHeader& header, EntryStore& store, bool sorted, DType dtype,
                                    std::int64_t memory_limit, bool compress_rows = false);

}  // namespace sptile::formats
