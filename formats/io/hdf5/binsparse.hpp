// Matrices in HDF5 as the binsparse specification 0.1 stores them.
#pragma once

#include <string>

#include "formats/io/files/output_group.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

class Hdf5Reader;

/// The attribute that says what the arrays beside it are, as JSON; CSR as bundles and write_binsparse have
/// it.
inline constexpr const char* kBinsparseAttribute = "binsparse";
std::string binsparse_descriptor(const CsrView& a);

/// Reads a matrix in CSR, CSC, COO, COOR or COOC from the root of a file: integers and real numbers of any
/// width, bint8, complex[] with `real_part`, iso[] (of ones, or bint8 of ones: a pattern), whole or as one
/// triangle of a symmetric, skew-symmetric or Hermitian matrix. Errc::bad_input and Errc::unsupported with
/// file and array. Nothing is allocated from a number that the size of the file does not allow.
Result<ReadMatrix> read_binsparse(Hdf5Reader file, const std::string& name, bool real_part);
/// True where the root has the attribute.
Result<bool> is_binsparse(const Hdf5Reader& file);

/// Writes CSR; a pattern has iso values, f16 and bf16 become f32. As AtomicFile otherwise.
Status write_binsparse(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
