// Splits CSR into the two parts of the Libra formats: tiles of a window's dense columns, and residual rows.
#pragma once

#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"
#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Differences between the two formats.
struct LibraRule {
  const FormatLayout* layout;
  LibraSplit (*split)(std::span<const std::uint8_t> counts, LibraSetting setting, std::int32_t* slots);
  bool whole_blocks;  ///< windows consist of whole blocks; otherwise tiles without columns are dropped
};

/// Converts a matrix: in windows of 8 rows, the columns chosen by the rule form 8x8 tiles, and the rest is
/// stored by row. Errc::usage if the threshold is not in 1 to max_threshold or block_columns is not 8 or 16;
/// other errors as in Converter::from_csr. Parallel; O(nnz).
Result<FormatData> libra_from_csr(const CsrView& a, const LibraRule& rule, LibraSetting setting,
                                  Progress* progress);

/// Converter::to_csr of both formats.
Result<Csr> libra_to_csr(const FormatView& view);

}  // namespace sptile::formats
