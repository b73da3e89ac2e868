// Parameters of the Libra formats, for all converters.
#pragma once

#include <cstdint>

#include "formats/core/parameters.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {

/// Minimum nonzeros, of 8, for a column of a libra_spmm window to use tensor cores. 1 puts all nonzeros in
/// tiles, 9 none; Libra uses 3 (section 5.3.3).
inline constexpr int kLibraMinThreshold = 1, kLibraMaxThreshold = 9, kLibraThreshold = 3;

/// Minimum nonzeros, of 128, for an 8x16 block of libra_sddmm to use tensor cores. 1 puts all nonzeros in
/// tiles, 129 none; Libra uses 24 (section 5.3.3).
inline constexpr int kLibraSddmmMinThreshold = 1, kLibraSddmmMaxThreshold = 129, kLibraSddmmThreshold = 24;
inline constexpr int kLibraSddmmBlockColumns = 16;

/// Returns the width of Libra's SpMM blocks for values of this type (section 4.2): 16 columns for f16 and
/// bf16, else 8.
constexpr int libra_block_columns(DType values) {
  return values == DType::f16 || values == DType::bf16 ? 16 : 8;
}

/// Parameters of the split into TC and residual part.
struct LibraSetting {
  int threshold;      ///< minimum nonzeros of a column or a block
  int block_columns;  ///< 8 or 16
};

/// Errc::usage if the format does not support the setting.
Status check_libra_setting(const FormatLayout& layout, LibraSetting setting);

/// Describes a conversion: the numbers of columns in tiles because they are dense, and to fill up partial
/// tiles.
Parameters libra_parameters(LibraSetting setting, std::int64_t dense, std::int64_t filled);

}  // namespace sptile::formats
