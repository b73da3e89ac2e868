// Sparse matrices in .npz archives, as SciPy's save_npz writes them, and graphs as data sets keep them.
#pragma once

#include <string>
#include <string_view>

#include "formats/io/files/output_group.hpp"
#include "formats/io/npz/zip_file.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// True where an archive holds a matrix, or anything else of NumPy's.
bool is_npz(const ZipReader& zip);

/// Reads a matrix in csr, csc, coo or bsr, of numbers of any type; a matrix of bools that are all true is a
/// pattern. Without an array `format` the names of the others tell: row and col, indices and indptr (csr), or
/// the edges of a graph (src_li and dst_li, src and dst, row and col, edge_index), whose entries stand in the
/// row of the vertex that they come from. Errc::bad_input and Errc::unsupported with file and member: for
/// other formats, pickles, complex values without `real_part`, sizes that the archive cannot hold. Nothing is
/// allocated from a number that the archive's size does not allow.
Result<ReadMatrix> read_npz(ZipReader zip, bool real_part);

/// Writes csr, deflated; a pattern has bools, bf16 becomes f32. As AtomicFile otherwise.
Status write_npz(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
