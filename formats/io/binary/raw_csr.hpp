// Raw CSR files: a header and the three arrays, for programs that need faster I/O than text.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/io/files/output_group.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// First four bytes of layout 1 (a pattern) and layout 2. All numbers are little-endian, columns ascend in
/// each row, and the file ends after the last array.
///
/// 1: i32 magic, rows, columns; i64 nonzeros; i32 row pointers (rows + 1); i32 columns.
/// 2: i32 magic, rows, columns, type of the values; i64 nonzeros; i64 row pointers (rows + 1); i32 columns,
/// padded with zeros to a multiple of 8 bytes; values. Types are DType's: 0 (a pattern), 6 (f16), 7 (bf16), 8
/// (f32) and 9 (f64).
inline constexpr std::string_view kRawCsrMagic = "1RSC", kRawCsrMagic2 = "2RSC";

/// Reads both layouts at disk speed. Errc::bad_input if the contents are invalid, Errc::unsupported for
/// pipes. Allocations are bounded by the file's size.
Result<Csr> read_raw_csr(InputBytes input);
Result<Csr> read_raw_csr(const std::string& path);

/// Writes layout 2. Errors as in AtomicFile.
Status write_raw_csr(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
