// CSR cut in the two parts of the formats of Libra: tiles of a window's dense columns, and rows of the rest.
#pragma once

#include "formats/buffer.hpp"
#include "formats/convert/converters.hpp"
#include "formats/convert/libra_split.hpp"
#include "formats/csr_view.hpp"

namespace sptile::formats {

/// What distinguishes the formats.
struct LibraRule {
  const FormatLayout* layout;
  int tile_cols;  ///< 8, or 16: two masks of 8 columns each
  LibraSplit (*split)(std::span<const std::uint8_t> counts, int threshold, std::int32_t* slots);
  int max_threshold;
  const char* unit;  ///< of the threshold, for messages: "entries of 8"
};

/// Converts: windows of 8 rows, tiles as the rule says, the rest in rows. The arrays are, in this order:
/// offsets of the windows and of the tiles, masks, columns, values; residual rows, their offsets, columns,
/// values. Errc::usage when the threshold is not 1 to max_threshold. Parallel; O(nnz).
Result<FormatData> libra_from_csr(const CsrView& a, const LibraRule& rule, int threshold, Progress* progress);

}  // namespace sptile::formats
