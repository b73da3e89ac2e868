// Cell-by-gene matrices in HDF5: AnnData (.h5ad) and feature-barcode matrices of 10x Genomics.
#pragma once

#include <string>

#include "formats/io/hdf5/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Returns whether the file is AnnData, recognized by X.
Result<bool> is_anndata(const Hdf5Reader& file);
/// Reads X in csr or csc. Errc::unsupported for a dense X; other errors as in Hdf5Reader. Allocations are
/// bounded by the file's size.
Result<ReadMatrix> read_anndata(Hdf5Reader file, const std::string& name, bool real_part);

/// Returns whether the file is from 10x Genomics, recognized by the group `matrix` or, in older files, by a
/// single group named after a genome.
Result<bool> is_10x(const Hdf5Reader& file);
/// Reads features x barcodes as stored; errors as in read_anndata.
Result<ReadMatrix> read_10x(Hdf5Reader file, const std::string& name, bool real_part);

}  // namespace sptile::formats
