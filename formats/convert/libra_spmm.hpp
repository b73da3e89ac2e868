// CSR to libra_spmm with a given threshold.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

/// Entries of 8 that a column of a window needs for the tensor cores: 1 puts all entries in tiles, 9 none;
/// Libra takes 3 (section 5.3.3).
inline constexpr int kLibraMinThreshold = 1, kLibraMaxThreshold = 9, kLibraThreshold = 3;

/// As Converter::from_csr. Errc::usage when the threshold is out of range.
Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
