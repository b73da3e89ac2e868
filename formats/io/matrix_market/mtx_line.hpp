// Full grammar and error messages for one body line of a Matrix Market file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/io/matrix_market/matrix_market.hpp"

namespace sptile::formats {

enum class LineKind { entry, skipped, defect };

/// Contents of a line. `skipped` is a comment or a blank line.
struct LineContent {
  LineKind kind = LineKind::skipped;
  std::int32_t row = 0, col = 0;  ///< 0-based; unused for array files
  std::string defect;             ///< the error and the expected text
};

/// Parses one line without its end and writes the value, if any, to `value`, of type `dtype`. Handles
/// everything that the fast path of parse_block rejects.
LineContent parse_line(const MtxHeader& header, DType dtype, std::string_view line, void* value);

}  // namespace sptile::formats
