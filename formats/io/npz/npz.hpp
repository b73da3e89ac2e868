// Sparse matrices in .npz archives as written by SciPy's save_npz, and graphs of data sets.
#pragma once

#include <string>
#include <string_view>

#include "formats/io/files/output_group.hpp"
#include "formats/io/npz/zip_file.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Returns whether an archive contains .npy arrays, of a matrix or others.
bool is_npz(const ZipReader& zip);

/// Reads a csr, csc, coo or bsr matrix with numbers of any type; bools that are all true give a pattern.
/// Without an array `format`, the names of the arrays decide: row and col; indices and indptr (csr); or the
/// edges of a graph (src_li and dst_li, src and dst, row and col, edge_index), which are stored in the row of
/// their source vertex. Errc::bad_input and Errc::unsupported with file and member: other formats, pickles,
/// complex values without `real_part`, sizes that exceed the archive. Allocations are bounded by the
/// archive's size.
Result<ReadMatrix> read_npz(ZipReader zip, bool real_part);

/// Writes deflated csr; a pattern gets bools, and bf16 becomes f32. Errors as in AtomicFile.
Status write_npz(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
