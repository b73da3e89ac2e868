// Parsing a block of body lines, the part of reading that runs in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

/// Where the entries of a block go; each array has room for one entry per line.
struct EntryTarget {
  std::int32_t* rows = nullptr;  ///< from 0; not for array files
  std::int32_t* cols = nullptr;
  void* values = nullptr;  ///< of the dtype of the result; not for a pattern
};

struct LineDefect {
  std::int64_t line;  ///< from 0, within the block
  std::string message;
};

/// What became of a block.
struct BlockSummary {
  std::int64_t entries = 0;                ///< stored, in front of the defect if there is one
  std::int64_t nonfinite = 0;              ///< values that are NaN or infinite
  LossCounts lost;                         ///< values that the type of the result cannot hold
  bool sorted = true;                      ///< rows never decrease
  bool lower = false;                      ///< has an entry below the diagonal
  bool upper = false;                      ///< has an entry above it
  std::optional<LineDefect> loss, defect;  ///< the first of each; a defect breaks the format
};

/// Parses whole lines (the last one ends with '\n', kTextPadding more bytes are readable) into `target`.
BlockSummary parse_block(const MtxHeader& header, DType dtype, std::string_view text,
                         const EntryTarget& target);

/// Line, from 0, of entry number `entry` (from 0) of a block.
std::int64_t line_of_entry(std::string_view text, std::int64_t entry);

}  // namespace sptile::formats
