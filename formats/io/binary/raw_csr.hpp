// Raw CSR files: the three arrays behind a header, for programs to which text would be too slow.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/io/files/output_group.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// The first four bytes: of layout 1, a pattern, and of layout 2. All numbers are little-endian, and nothing
/// follows the last array. Columns ascend in each row.
///
/// 1: i32 magic, rows, columns; i64 entries; i32 row pointers (rows + 1); i32 columns.
/// 2: i32 magic, rows, columns, type of the values; i64 entries; i64 row pointers (rows + 1); i32 columns,
/// and zeros up to a multiple of 8 bytes; values. Types are DType's: 0 (a pattern), 6 (f16), 7 (bf16), 8
/// (f32) and 9 (f64).
inline constexpr std::string_view kRawCsrMagic = "1RSC", kRawCsrMagic2 = "2RSC";

/// Reads both layouts at the speed of the disk. Errc::bad_input when the file is anything else,
/// Errc::unsupported for pipes. Nothing is allocated from a number that the size of the file does not prove.
Result<Csr> read_raw_csr(InputBytes input);
Result<Csr> read_raw_csr(const std::string& path);

/// Writes layout 2. As AtomicFile otherwise.
Status write_raw_csr(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
