// Matrices in HDF5 files according to the binsparse specification 0.1.
#pragma once

#include <string>

#include "formats/io/files/output_group.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

class Hdf5Reader;

/// Name of the attribute that describes the arrays of its group in JSON, and its text for CSR in bundles and
/// files of write_binsparse.
inline constexpr const char* kBinsparseAttribute = "binsparse";
std::string binsparse_descriptor(const CsrView& a);

/// Reads a CSR, CSC, COO, COOR or COOC matrix from the root of a file: integers and real numbers of any
/// width, bint8, complex[] with `real_part`, iso[] (a pattern if the value is 1), complete or as one triangle
/// of a symmetric, skew-symmetric or Hermitian matrix. Errc::bad_input and Errc::unsupported with file and
/// array. Allocations are bounded by the file's size.
Result<ReadMatrix> read_binsparse(Hdf5Reader file, const std::string& name, bool real_part);
/// Returns whether the root has the attribute.
Result<bool> is_binsparse(const Hdf5Reader& file);

/// Writes CSR; patterns get iso values, and f16 and bf16 become f32. Errors as in AtomicFile.
Status write_binsparse(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
