// CSR to libra_spmm with given parameters.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"

namespace sptile::formats {

/// Entries of 8 that a column of a window needs for the tensor cores: 1 puts all entries in tiles, 9 none;
/// Libra takes 3 (section 5.3.3).
inline constexpr int kLibraMinThreshold = 1, kLibraMaxThreshold = 9, kLibraThreshold = 3;

/// Columns of the blocks that Libra cuts for values of this type (section 4.2): 16 for f16 and bf16, else 8.
constexpr int libra_block_columns(DType values) {
  return values == DType::f16 || values == DType::bf16 ? 16 : 8;
}

/// As Converter::from_csr. Errc::usage when a parameter is out of range.
Result<FormatData> libra_spmm_from_csr_with(const CsrView& a, LibraSetting setting, Progress* progress);

/// The same with the block columns of the type of the values.
Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
