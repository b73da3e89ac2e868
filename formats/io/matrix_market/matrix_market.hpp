// Matrix Market text: reader and writer.
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

/// What the banner and the size line say.
struct MtxHeader {
  bool coordinate = true;  ///< false: array
  MtxField field = MtxField::real;
  MtxSymmetry symmetry = MtxSymmetry::general;
  std::int64_t rows = 0, cols = 0;
  std::int64_t entries = 0;  ///< lines promised: stored entries, before a symmetry is expanded
};

struct MtxReadOptions {
  DType dtype = DType::f32;  ///< value type of the result (f16, bf16, f32, f64)
  bool real_part = false;    ///< take the real part of a complex matrix instead of refusing it
  bool hash_source = false;  ///< fill MtxMatrix::source_sha256 (of the bytes as stored, before decompression)
  bool compress_rows = false;  ///< keep only the rows with entries of a matrix that is mostly_empty
  Progress* progress = nullptr;
};

/// A matrix and what was noticed while reading it.
struct MtxMatrix {
  Csr csr;
  std::optional<NonemptyRows> nonempty;  ///< which rows `csr` has, where it does not have all
  MtxHeader header;
  std::int64_t duplicates = 0;  ///< entries that were summed into another one
  std::int64_t nonfinite = 0;   ///< values that are NaN or infinite (in the file, or after rounding to dtype)
  ValueLoss loss;             ///< values that dtype cannot hold; the first one has its line, place and value
  bool integers = false;      ///< the values are integers, or counts
  std::string source_sha256;  ///< lower-case hex; empty unless asked for
};

/// Reads a Matrix Market file into CSR: sorted unique columns, symmetry expanded, duplicates summed, explicit
/// zeros kept. `path` may be "-" (standard input) and may hold gzip, bzip2, xz or zstd data, recognised by
/// its first bytes. Parallel over chunks; nothing is allocated from the numbers of the header before the text
/// proves them. Errc::bad_input with "file:line" and the remedy; Errc::unsupported for complex without
/// real_part and for matrices with more than 2^31 - 1 rows or columns; Errc::io when the file cannot be read
/// or memory is short.
Result<MtxMatrix> read_matrix_market(const std::string& path, const MtxReadOptions& options = {});

/// Reads no further than the size line; errors as read_matrix_market.
Result<MtxHeader> read_matrix_market_header(const std::string& path, bool real_part = false);

struct MtxWriteOptions {
  bool force = false;            ///< replace an existing file
  OutputGroup* group = nullptr;  ///< see Placing
  std::string comment;           ///< written as %-lines after the banner; may be empty
  Progress* progress = nullptr;
};

/// Writes coordinate real (or pattern) general text, one entry per line in row order, values in the shortest
/// form that reads back exactly. `path` may be "-" (standard output); .gz, .xz and .zst at its end
/// compress. The file appears whole or not at all.
Status write_matrix_market(const CsrView& a, const std::string& path, const MtxWriteOptions& options = {});

}  // namespace sptile::formats
