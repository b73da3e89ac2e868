// Parser of a block of body lines, the parallel part of reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

/// Destination of the entries of a block; each array has space for one entry per line.
struct EntryTarget {
  std::int32_t* rows = nullptr;  ///< 0-based; null for array files
  std::int32_t* cols = nullptr;
  void* values = nullptr;  ///< type: the result's dtype; null for a pattern
};

struct LineDefect {
  std::int64_t line;  ///< 0-based line within the block
  std::string message;
};

/// Result of parsing a block.
struct BlockSummary {
  std::int64_t entries = 0;                ///< stored entries, up to the first defect
  std::int64_t nonfinite = 0;              ///< values that are NaN or infinite
  LossCounts lost;                         ///< values that the result's type cannot represent
  bool sorted = true;                      ///< rows never decrease
  bool lower = false;                      ///< has an entry below the diagonal
  bool upper = false;                      ///< has an entry above it
  std::optional<LineDefect> loss, defect;  ///< the first of each; a defect violates the format
};

/// Parses complete lines into `target`. The text must end with '\n', and kTextPadding more bytes must be
/// readable.
BlockSummary parse_block(const MtxHeader& header, DType dtype, std::string_view text,
                         const EntryTarget& target);

/// Returns the 0-based line of entry number `entry` (0-based) of a block.
std::int64_t line_of_entry(std::string_view text, std::int64_t entry);

}  // namespace sptile::formats
