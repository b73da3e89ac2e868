// What the formats of Libra may be asked for, and what they say of themselves, wherever they are made.
#pragma once

#include <cstdint>

#include "formats/core/parameters.hpp"
#include "formats/layout/libra.hpp"

namespace sptile::formats {

/// Entries of 8 that a column of a window of libra_spmm needs for the tensor cores: 1 puts all entries in
/// tiles, 9 none; Libra takes 3 (section 5.3.3).
inline constexpr int kLibraMinThreshold = 1, kLibraMaxThreshold = 9, kLibraThreshold = 3;

/// Entries of 128 that a block of 8x16 of libra_sddmm needs for the tensor cores: 1 puts all entries in
/// tiles, 129 none; Libra takes 24 (section 5.3.3).
inline constexpr int kLibraSddmmMinThreshold = 1, kLibraSddmmMaxThreshold = 129, kLibraSddmmThreshold = 24;
inline constexpr int kLibraSddmmBlockColumns = 16;

/// Columns of the blocks that Libra cuts for SpMM with values of this type (section 4.2): 16 for f16 and
/// bf16, else 8.
constexpr int libra_block_columns(DType values) {
  return values == DType::f16 || values == DType::bf16 ? 16 : 8;
}

/// What a split heeds.
struct LibraSetting {
  int threshold;      ///< entries that a column or a block needs
  int block_columns;  ///< 8 or 16
};

/// Errc::usage for a setting that one of the formats does not have.
Status check_libra_setting(const FormatLayout& layout, LibraSetting setting);

/// Says how a matrix was made: with so many columns in tiles because they are dense, and because there was
/// room.
Parameters libra_parameters(LibraSetting setting, std::int64_t dense, std::int64_t filled);

}  // namespace sptile::formats
