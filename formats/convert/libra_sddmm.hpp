// CSR to libra_sddmm with a given threshold.
#pragma once

#include "formats/convert/converters.hpp"

namespace sptile::formats {

/// Entries of 128 that a block of 8x16 needs for the tensor cores: 1 puts all entries in tiles, 129 none;
/// Libra takes 24 (section 5.3.3).
inline constexpr int kLibraSddmmMinThreshold = 1, kLibraSddmmMaxThreshold = 129, kLibraSddmmThreshold = 24;

/// As Converter::from_csr. Errc::usage when the threshold is out of range.
Result<FormatData> libra_sddmm_from_csr_at(const CsrView& a, int threshold, Progress* progress);

}  // namespace sptile::formats
