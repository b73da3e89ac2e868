// Reader and writer of Matrix Market files.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "formats/core/progress.hpp"
#include "formats/core/value_loss.hpp"
#include "formats/io/files/output_group.hpp"

namespace sptile::formats {

enum class MtxField { real, integer, pattern, complex };
enum class MtxSymmetry { general, symmetric, skew_symmetric, hermitian };

/// Contents of the banner and the size line.
struct MtxHeader {
  bool coordinate = true;  ///< false: array
  MtxField field = MtxField::real;
  MtxSymmetry symmetry = MtxSymmetry::general;
  std::int64_t rows = 0, cols = 0;
  std::int64_t entries = 0;  ///< promised lines: stored entries, before the symmetry is expanded
};

struct MtxReadOptions {
  DType dtype = DType::f32;  ///< value type of the result (f16, bf16, f32, f64)
  bool real_part = false;    ///< take the real part of a complex matrix instead of rejecting it
  bool hash_source = false;  ///< compute MtxMatrix::source_sha256 (of the stored bytes, before decompression)
  bool compress_rows = false;  ///< store only the nonempty rows of a matrix that is mostly_empty
  Progress* progress = nullptr;
};

/// A matrix and findings of its reader.
struct MtxMatrix {
  Csr csr;
  std::optional<NonemptyRows> nonempty;  ///< rows stored in `csr`, if not all are
  MtxHeader header;
  std::int64_t duplicates = 0;  ///< number of entries added to another entry
  std::int64_t nonfinite = 0;   ///< values that are NaN or infinite, in the file or after rounding to dtype
  ValueLoss loss;         ///< values not representable in dtype; the first one with line, position and value
  bool integers = false;  ///< values are integers or counts
  std::string source_sha256;  ///< lower-case hex; empty unless requested
};

/// Reads a Matrix Market file into CSR with sorted unique columns: symmetry is expanded, duplicates are
/// summed, explicit zeros are kept. `path` may be "-" (standard input). Data compressed with gzip, bzip2, xz
/// or zstd is recognized by its first bytes. Parallel over chunks; allocations are bounded by the text read
/// so far. Errc::bad_input with "file:line" and the remedy; Errc::unsupported for complex values without
/// real_part and for more than 2^31 - 1 rows or columns; Errc::io if the file cannot be read or memory is
/// short.
Result<MtxMatrix> read_matrix_market(const std::string& path, const MtxReadOptions& options = {});

/// Reads up to the size line; errors as in read_matrix_market.
Result<MtxHeader> read_matrix_market_header(const std::string& path, bool real_part = false);

struct MtxWriteOptions {
  bool force = false;            ///< replace an existing file
  OutputGroup* group = nullptr;  ///< see Placing
  std::string comment;           ///< written as %-lines after the banner; may be empty
  Progress* progress = nullptr;
};

/// Writes coordinate real (or pattern) general text, one entry per line in row order, with the shortest
/// values that read back exactly. `path` may be "-" (standard output); .gz, .xz and .zst at its end select
/// compression. The file appears completely or not at all.
Status write_matrix_market(const CsrView& a, const std::string& path, const MtxWriteOptions& options = {});

}  // namespace sptile::formats
