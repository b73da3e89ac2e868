// Matrices of cells by genes in HDF5: AnnData (.h5ad) and the feature-barcode matrices of 10x Genomics.
#pragma once

#include <string>

#include "formats/io/hdf5/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Tells AnnData, by X.
Result<bool> is_anndata(const Hdf5Reader& file);
/// Reads X, in csr or csc. Errc::unsupported for a dense X. Other errors as Hdf5Reader; nothing is allocated
/// from a number that the size of the file does not allow.
Result<ReadMatrix> read_anndata(Hdf5Reader file, const std::string& name, bool real_part);

/// Tells 10x Genomics, by the group `matrix`, or the only group of older files, which has the name of a
/// genome.
Result<bool> is_10x(const Hdf5Reader& file);
/// Reads features x barcodes as they are stored; errors as read_anndata.
Result<ReadMatrix> read_10x(Hdf5Reader file, const std::string& name, bool real_part);

}  // namespace sptile::formats
