// CSR cut in the two parts of the formats of Libra: tiles of a window's dense columns, and rows of the rest.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"
#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// What distinguishes the formats.
struct LibraRule {
  const FormatLayout* layout;
  LibraSplit (*split)(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);
  bool whole_blocks;  ///< windows have whole blocks of tiles; otherwise only the tiles that hold columns
};

/// Converts: windows of 8 rows, the columns that the rule chooses in 8x8 tiles, the rest in rows. Errc::usage
/// when the threshold is not 1 to max_threshold or block_columns not 8 or 16; otherwise as
/// Converter::from_csr. Parallel; O(nnz).
Result<FormatData> libra_from_csr(const CsrView& a, const LibraRule& rule, LibraSetting setting,
                                  Progress* progress);

/// Converter::to_csr of both formats.
Result<Csr> libra_to_csr(const FormatView& view);

}  // namespace sptile::formats
